import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS, type ModelServer, startModel } from '../../kit/models/index.ts'

const LIMIT = { status: 429, code: 'rate_limit_exceeded', message: 'Slow down.', headers: { 'retry-after': '30' } }

describe.each(Object.entries(MODELS))('a server of %s that asks to wait', (_name, protocol) => {
  let gateway: TestGateway
  let limited: ModelServer
  let other: ModelServer

  beforeAll(async () => {
    limited = await startModel(protocol, () => ({ error: LIMIT }))
    other = await startModel(protocol, () => ({ pieces: [{ text: 'From the other one.' }] }))
    gateway = await startGateway(`
default: limited
agents:
  limited: { ${protocol.agent(limited.url)} }
  alone: { ${protocol.agent(limited.url)} }
  other: { ${protocol.agent(other.url)} }
routes: [{ when: { session: "falls" }, agent: limited, fallback: [other] }]
`)
  })
  afterAll(async () => {
    await gateway.close()
    await limited.close()
    await other.close()
  })

  const ask = (model: string, session = ''): Promise<Response> =>
    fetch(gateway.url + protocol.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...protocol.headers,
        ...(session && { 'turnpike-session': session }),
      },
      body: JSON.stringify(protocol.write({ model, messages: [{ role: 'user', text: 'hi' }] })),
    })

  test('is heard by the client, with the time', async () => {
    const answer = await ask('alone')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '30'])
    const { error } = protocol.read(await answer.text())
    expect(error?.code).toBe(protocol.refusal('provider-rate-limit').code)
    expect(error?.message).toContain('Slow down.')
  })

  test('is passed by for that time where another agent can take the turn', async () => {
    const before = limited.requests.length
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await ask('', 'falls')
      expect(answer.headers.get('turnpike-agent')).toBe('other')
      expect(protocol.read(await answer.text()).text).toBe('From the other one.')
    }
    expect(limited.requests.length - before).toBe(1)
  })
})

import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../../src/model/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS, type ModelProtocol, WRONGS } from '../../kit/models/index.ts'

/**
 * Requests that are wrong, of every protocol of models, over a real socket: each has the protocol's own error with the
 * member at fault, no agent runs for it, and the next request is answered.
 */
describe.each(Object.entries(MODELS))('%s', (_name, protocol) => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  const send = (body: unknown, headers: Record<string, string> = {}, path = protocol.path): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...protocol.headers, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const sound = (model = 'helper') => protocol.write({ model, messages: [{ role: 'user', text: 'hi' }] })

  /** The error of an answer that refuses the request, as clients read it. */
  async function refused(answer: Response, code: ErrorCode): Promise<{ message: string; param: unknown }> {
    const raw = await answer.text()
    const { error } = protocol.read(raw)
    expect({ status: answer.status, code: error?.code }).toEqual(protocol.refusal(code))
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    return { message: error!.message, param: protocol.paramOf(raw) }
  }
  /** No turn has begun but the last one, which is answered. */
  async function servesOnly(prompt: string): Promise<void> {
    const answer = await send(protocol.write({ model: 'helper', messages: [{ role: 'user', text: prompt }] }))
    expect(protocol.read(await answer.text()).text).toContain(prompt)
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: unknown[] }
    served += 1
    expect(turns.length).toBe(served)
  }
  let served = 0

  const wrongs = WRONGS.filter((wrong) => protocol.wrong[wrong])
  test.each(wrongs)('%s is refused', async (wrong) => {
    const { body, param } = protocol.wrong[wrong]!
    const found = await refused(await send(body), 'invalid-request')
    expect(found.message).not.toBe('')
    expect(found.param).toEqual(param ?? null)
    await servesOnly(wrong)
  })

  test('an unknown model is refused with the names of those there are', async () => {
    const { message } = await refused(await send(sound('gpt-4o')), 'agent-not-found')
    for (const agent of ['helper', 'coder', 'writer', 'planner']) expect(message).toContain(agent)
    await refused(await send(sound(), {}, `${protocol.path}/nobody`), 'agent-not-found')
    await servesOnly('after an unknown model')
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body called %s is refused',
    async (type) => {
      const answer = await send(sound(), { 'content-type': type })
      expect(answer.status).toBe(415)
      expect(protocol.read(await answer.text()).error?.code).toBe(protocol.refusal('invalid-request').code)
      await servesOnly(type)
    },
  )

  // Only the Messages API has versions and betas; clients of the others may send any header.
  const versions = protocol === MODELS['messages'] ? 'unsupported-version' : undefined
  test.each<[string, Record<string, string>, ErrorCode | undefined]>([
    ['a version of the API that there is not', { 'anthropic-version': '1999-01-01' }, versions],
    [
      'a beta that nobody knows',
      { 'anthropic-beta': 'time-travel-2099-01-01,interleaved-thinking-2025-05-14' },
      undefined,
    ],
    ['a count of attempts that is none', { 'x-stainless-retry-count': 'many' }, undefined],
  ])('%s in the headers is refused, or means nothing', async (what, headers, code) => {
    const answer = await send(sound(), headers)
    if (code) await refused(answer, code)
    else {
      expect(protocol.read(await answer.text()).error).toBeUndefined()
      served += 1
    }
    await servesOnly(what)
  })

  test('lists that are a hundred thousand deep are refused or read, and harm nobody', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const member of ['messages', 'tools', 'metadata', 'input']) {
      const body = JSON.stringify({ ...sound(), [member]: 0 }).replace(`"${member}":0`, `"${member}":${deep}`)
      const answer = await send(body)
      await answer.text()
      expect(answer.status).toBeLessThan(500)
      if (answer.status === 200) served += 1
    }
    await servesOnly('after deep lists')
  })

  test('100 MiB are refused before they are read', async () => {
    const before = process.memoryUsage().rss
    const { status, raw, written } = await flood(protocol, gateway.url, 100)
    expect(status).toBe(413)
    expect(protocol.read(raw).error?.code).toBe(protocol.refusal('payload-too-large').code)
    // What the sockets hold was written, and not much of it was kept.
    expect(written).toBeLessThan(50 * MIB)
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB)
    await servesOnly('after 100 MiB')
  })
})

const MIB = 1024 * 1024

/** Sends so many MiB as one request, for as long as they are taken. */
function flood(
  { path, headers }: ModelProtocol,
  url: string,
  size: number,
): Promise<{ status: number; raw: string; written: number }> {
  return new Promise((resolve, reject) => {
    const piece = Buffer.alloc(MIB, ' ')
    let written = 0
    let answered = false
    const call = request(
      url + path,
      { method: 'POST', headers: { ...headers, 'content-type': 'application/json', 'content-length': size * MIB } },
      (response) => {
        answered = true
        let raw = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          raw += text
        })
        response.on('end', () => {
          call.destroy()
          resolve({ status: response.statusCode!, raw, written })
        })
      },
    )
    call.on('error', (error) => {
      if (!answered) reject(error)
    })
    const more = (): void => {
      if (answered || call.destroyed || written >= size * MIB) return
      written += MIB
      if (call.write(piece)) setImmediate(more)
      else call.once('drain', more)
    }
    more()
  })
}

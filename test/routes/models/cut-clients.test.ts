import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS, type ModelServer, type Piece, type Script, startModel } from '../../kit/models/index.ts'
import { pidsOf, until } from '../../kit/processes.ts'

const PIECES: Piece[] = [
  { reasoning: 'Hm.' },
  { text: 'Let me ' },
  { text: 'see.' },
  { call: { id: 'call_1', name: 'add', args: '{"a":1}' } },
]
const SCRIPT: Script = { pieces: PIECES, stop: 'tools', usage: { input: 3, output: 2 } }
const STREAMS = `${process.cwd()}/test/kit/agents/streams.mjs`

/**
 * A client that leaves at any moment of its answer: its turn is cancelled, the request to the server is ended, nothing is
 * left in the gateway, and the next client is served.
 */
describe.each(Object.entries(MODELS))('%s', (name, protocol) => {
  let gateway: TestGateway
  let model: ModelServer
  let script: Script = SCRIPT
  const mark = `cut-${name}-${process.pid}`

  beforeAll(async () => {
    model = await startModel(protocol, () => script)
    gateway = await startGateway(`
default: model
limits: { grace: 200ms }
agents:
  model: { ${protocol.agent(model.url)} }
  streams: { protocol: native, command: ${process.execPath}, args: [${STREAMS}, ${mark}], pool: { idle: 100ms } }
`)
  })
  afterAll(async () => {
    await gateway.close()
    await model.close()
    expect(pidsOf(mark)).toEqual([])
  })

  /** A client that has sent its request, and goes away when told to. */
  function client(agent: string, stream: boolean): { read(): string; leave(): void } {
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    const body = protocol.write({ model: agent, messages: [{ role: 'user', text: 'hi' }], tools, stream })
    const call = request(gateway.url + protocol.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...protocol.headers },
    })
    let raw = ''
    call.on('response', (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        raw += text
      })
      response.on('error', () => {})
    })
    call.on('error', () => {})
    call.end(JSON.stringify(body))
    return { read: () => raw, leave: () => call.destroy() }
  }

  const lastTurn = async (): Promise<{ state: string }> => {
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { state: string }[] }
    return turns[0]!
  }
  /** The client has gone: its turn has ended as cancelled, and nobody works for it. */
  async function isCancelled(): Promise<void> {
    await until(() => [...gateway.engine.turns].length === 0 && model.open() === 0)
    expect(await lastTurn()).toMatchObject({ state: 'cancelled' })
  }

  const moments = Array.from({ length: protocol.frames(SCRIPT).length }, (_, count) => count)
  describe.each([true, false])('with a stream: %s', (stream) => {
    test.each(moments)('leaves when the server has sent %i events', async (count) => {
      script = { ...SCRIPT, only: { frames: count, end: 'stall' } }
      const before = model.requests.length
      const { leave, read } = client('model', stream)
      await until(() => model.requests.length > before && (!stream || count === 0 || read() !== ''))
      leave()
      await isCancelled()
    })

    test('leaves while an agent talks without an end', async () => {
      const { leave, read } = client('streams', stream)
      await until(() =>
        stream ? read().includes('10 ') : pidsOf(mark).length > 0 && [...gateway.engine.turns].length > 0,
      )
      leave()
      await isCancelled()
    })
  })

  test('the next one is answered', async () => {
    script = { pieces: [{ text: 'Hello.' }] }
    const answer = await fetch(gateway.url + protocol.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...protocol.headers },
      body: JSON.stringify(protocol.write({ model: 'model', messages: [{ role: 'user', text: 'hi' }] })),
    })
    expect(protocol.read(await answer.text())).toMatchObject({ text: 'Hello.', stop: 'end' })
  })
})

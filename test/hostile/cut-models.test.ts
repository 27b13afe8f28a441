import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import { driveBack } from '../kit/drive.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type Answered, MODELS, type Script } from '../kit/models/index.ts'
import { inLanes } from './kit.ts'
import { reply, replyAndClose } from './odd-engine-wire.ts'
import { type OddModel, startOddModel } from './odd-model.ts'

/**
 * The answer of a server of a model, cut behind each of its bytes: the connection is closed as at the end of an answer, or
 * breaks before the length that was said. A client is told of a failure, or has all of the answer; never a part as a
 * success.
 */
const SCRIPT: Script = {
  pieces: [{ text: '€.' }, { call: { id: 'c1', name: 'add', args: '{"a":1}' } }],
  stop: 'tools',
}
const client = MODELS['chat']!
/** How the connection ends, and after how many bytes each. */
const WAYS = [
  ['closed', 29],
  ['broken', 41],
] as const

describe.each(Object.entries(MODELS))('an answer of %s', { timeout: 120_000 }, (_name, protocol) => {
  let gateway: TestGateway
  let server: OddModel
  const bytes = Buffer.from(protocol.frames(SCRIPT).join(''))

  beforeAll(async () => {
    server = await startOddModel(
      protocol,
      (asked, way, said) => {
        const body = bytes.subarray(0, Number(said))
        if (way === 'closed') replyAndClose(asked, { body, length: null })
        else {
          reply(asked, { body, length: bytes.length + 1 })
          asked.socket.end()
        }
      },
      SCRIPT,
    )
    const agents = WAYS.map(
      ([way]) => `  ${way}: { ${protocol.agent(server.url(way))}, pool: { max: 99 }, breaker: { failures: 1000 } }\n`,
    )
    gateway = await startGateway(`agents:\n${agents.join('')}`)
  })
  afterAll(async () => {
    await gateway.close()
    server.close()
  })

  async function ask(way: string, kept: number, stream: boolean): Promise<Answered> {
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    const answer = await fetch(gateway.url + client.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(
        client.write({ model: way, messages: [{ role: 'user', text: String(kept) }], tools, stream }),
      ),
    })
    return client.read(await answer.text())
  }

  test('that is cut after any byte is a failure, or whole', async () => {
    const codec = (await loadCodec(protocol.codec))!
    const [, dialect] = /protocol: \w+@(\w+)/.exec(protocol.agent('')) ?? []
    const outcomes = Array.from({ length: bytes.length + 1 }, (_, at) => {
      const drive = driveBack(codec, { options: {}, ...(dialect !== undefined && { dialect }) })
      drive.start('hi', { clientTools: [{ name: 'add' }] })
      const decoder = frameDecoder('sse', 10_000, { frame: (frame) => drive.feed(frame), fault() {} })
      decoder.push(new TextDecoder().decode(bytes.subarray(0, at)))
      decoder.end()
      drive.link.decodeEnd({ call: '1', why: 'closed' })
      const ends = drive.events.filter(({ type }) => type === 'turn-end')
      if (ends.length > 0) expect(ends).toMatchObject([{ outcome: 'failed', fault: { code: 'provider-down' } }])
      // A whole answer asks for the result of its call, and has no end until then.
      else expect(drive.events.at(-1)).toMatchObject({ type: 'ask', question: { kind: 'tool', tool: 'c1' } })
      return ends.length === 0
    })
    expect([outcomes.at(-1), outcomes.indexOf(true)]).toEqual([true, outcomes.lastIndexOf(false) + 1])
  })

  test.each(WAYS)('that is %s, after every %i bytes, is a failure, or whole', async (way, step) => {
    const places = Array.from({ length: bytes.length + 1 }, (_, at) => at).filter(
      (at) => at % step === 0 || at === bytes.length,
    )
    const answers = await Promise.all(
      inLanes(
        16,
        places.map((at) => () => ask(way, at, at % 2 === 0)),
      ),
    )
    const whole = answers.map(({ error }) => error === undefined)
    for (const [index, { text, calls, stop, error }] of answers.entries()) {
      const at = places[index]!
      if (error === undefined) {
        expect({ at, text, stop, args: calls.map(({ args }) => args) }).toEqual({
          at,
          text: '€.',
          stop: 'tools',
          args: ['{"a":1}'],
        })
      } else expect({ at, code: error.code, stop }).toEqual({ at, code: 'provider_down', stop: undefined })
    }
    // Once the answer is whole, nothing that is missing after that makes a failure of it.
    expect(whole.at(-1)).toBe(true)
    expect(whole.indexOf(true)).toBe(whole.lastIndexOf(false) + 1)
  })
})

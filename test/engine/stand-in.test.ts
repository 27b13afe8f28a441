import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codec } from '../../codecs/agentproc/index.ts'
import type { AnyCodec, ClientSink } from '../../src/contract/index.ts'
import { StandIn } from '../../src/engine/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

/** AgentProc, whose wire 0.1 gives stdin this long to say that it is 0.4. */
function patient(peekMs: number): AnyCodec {
  const v01 = codec.dialects['0.1']!
  return { ...codec, dialects: { ...codec.dialects, '0.1': { ...v01, front: { ...v01.front!, peekMs } } } }
}

const AN_HOUR = 3_600_000
const STALE = { AGENT_MESSAGE: 'stale', AGENT_PROTOCOL_VERSION: '0.1' }
const TURN = '{"type":"turn","message":"fresh","protocol_version":"0.4"}\n'

describe('a stand-in whose environment may be stale', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(`default: writer\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  /** Opens one; what it wrote when its wire closes. */
  function open(peekMs: number, more: { interactive?: boolean; env?: Record<string, string> } = {}) {
    let written = ''
    const { promise, resolve } = Promise.withResolvers<string>()
    const sink: ClientSink = {
      whenRead: (callback) => callback(),
      head() {},
      warn() {},
      abort() {},
      write(text) {
        written += text
        return true
      },
      end: () => resolve(written),
    }
    const { env = STALE, ...rest } = more
    const options = {
      codec: patient(peekMs),
      started: { argv: [], env },
      carrier: {},
      access: { tenant: 't', role: 'user' } as const,
    }
    return { standIn: new StandIn(gateway.engine, sink, { ...options, ...rest }), written: promise }
  }

  test('takes a turn object on stdin for what it is, in however many pieces it comes', async () => {
    const { standIn, written } = open(AN_HOUR)
    for (const piece of TURN.match(/.{1,7}|\n/g)!) standIn.push(piece)
    expect(await written).toMatch(/"type":"result","text":"You said: fresh \(turn 1 of this session\)"/)
  })

  test('takes a turn object that the end of stdin ends', async () => {
    const { standIn, written } = open(AN_HOUR)
    standIn.push(TURN.trimEnd())
    standIn.end('eof')
    expect(await written).toContain('You said: fresh')
  })

  const answered = /^AGENT_SESSION:\S+\nYou said: stale \(turn 1 of this session\)\n$/

  test('serves the environment when stdin ends', async () => {
    const { standIn, written } = open(AN_HOUR)
    standIn.end('eof')
    expect(await written).toMatch(answered)
  })

  test('serves the environment when stdin says something else', async () => {
    const { standIn, written } = open(AN_HOUR)
    standIn.push('stale\n')
    expect(await written).toMatch(answered)
  })

  test('serves the environment when stdin stays open and silent', async () => {
    expect(await open(1).written).toMatch(answered)
  })

  test('serves the environment when a line stays open', async () => {
    const { standIn, written } = open(1)
    standIn.push('half a li')
    expect(await written).toMatch(answered)
  })

  test('serves the environment at once when a person is at stdin', async () => {
    expect(await open(AN_HOUR, { interactive: true }).written).toMatch(answered)
  })

  test('tells what is missing when neither says anything', async () => {
    const { standIn, written } = open(AN_HOUR, { env: {} })
    standIn.push('hello\n')
    expect(await written).toBe(
      '{"type":"error","message":"The first line is no turn; write one {\\"type\\":\\"turn\\",\\u2026} line."}\n',
    )
  })
})

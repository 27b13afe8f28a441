import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/agentproc/index.ts'
import { otherWire, type Version, wireOfTurn } from '../../../codecs/agentproc/versions.ts'
import { driveFront } from '../../kit/drive.ts'

const SUPPORTED = 'supported are 0.1 and 0.2 in AGENT_ variables, 0.3 and 0.4 as a turn on stdin'

describe('the wire of a turn object', () => {
  test.each([
    ['{"type":"turn","message":"x"}', '0.4'],
    [' {"type":"turn"}\n', '0.4'],
    ['{"type":"turn","protocol_version":"0.4"}', '0.4'],
    ['{"type":"turn","protocol_version":0.4}', '0.4'],
    ['{"type":"turn","protocol_version":"0.3"}', '0.3'],
    ['{"type":"turn","protocol_version":"0.3.1"}', '0.3'],
    ['{"type":"turn","protocol_version":0.3}', '0.3'],
    ['{"type":"turn","protocol_version":null}', '0.4'],
    ['{"type":"turn","protocol_version":"0.5"}', '0.4'],
    ['{"type":"run"}', undefined],
    ['{"AGENT_MESSAGE":"x"}', undefined],
    ['', undefined],
  ])('%j: %s', (line, version) => {
    expect(wireOfTurn(line)).toBe(version)
  })

  test('one dialect takes each', () => {
    const context = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} } as const
    const takers = (first: string): string[] =>
      Object.keys(codec.dialects).filter((name) => codec.dialects[name]!.front!.accepts?.(first, context))
    expect(takers('{"type":"turn","protocol_version":"0.3"}')).toEqual(['0.3'])
    expect(takers('{"type":"turn","protocol_version":"9"}')).toEqual(['0.4'])
    expect(takers('{"type":"turn"}')).toEqual(['0.4'])
    expect(takers('words')).toEqual([])
  })
})

describe('a version that is not ours is refused', () => {
  const asked = (version: unknown): string =>
    JSON.stringify({ type: 'turn', message: 'hi', protocol_version: version, session_id: '' })

  test.each(['0.2', '0.40', '0.5', '1.0', 'v0.4', 'latest', '0.3-rc', 7])('a turn of %j', (version) => {
    const said = `protocol_version ${JSON.stringify(String(version))} is not supported; ${SUPPORTED}. Use a runner of one of them.`
    for (const transport of ['stdio', 'http'] as const) {
      const front = driveFront(codec, { dialect: '0.4', transport })
      front.feed(asked(version))
      expect(front.commands).toEqual([])
      expect(front.faults).toMatchObject([{ fault: { code: 'unsupported-version' } }])
      expect(front.sent.map((frame) => JSON.parse(String(frame)))).toEqual([{ type: 'error', message: said }])
      expect(front.exitCode).toBe(1)
    }
  })

  test.each(['0.3', '0.4', '0.10', '1', 'x'])('AGENT_ variables of %j', (version) => {
    const said = `AGENT_PROTOCOL_VERSION ${JSON.stringify(version)} is not supported; ${SUPPORTED}. Use a runner of one of them.`
    const variables = { AGENT_MESSAGE: 'hi', AGENT_PROTOCOL_VERSION: version }
    const stdio = driveFront(codec, { env: variables })
    const http = driveFront(codec, { transport: 'http' })
    http.feed(JSON.stringify(variables))
    for (const front of [stdio, http]) {
      expect(front.commands).toEqual([])
      expect(front.faults).toMatchObject([{ fault: { code: 'unsupported-version' } }])
      expect(front.sent).toEqual([`AGENT_ERROR:${JSON.stringify(said)}`])
      expect(front.exitCode).toBe(1)
    }
  })

  test.each(['0.1', '0.1.7', '0.2', ''])('AGENT_ variables of %j are served', (version) => {
    const front = driveFront(codec, { env: { AGENT_MESSAGE: 'hi', AGENT_PROTOCOL_VERSION: version } })
    expect(front.commands).toMatchObject([{ type: 'turn-start' }])
    expect(front.faults).toEqual([])
  })
})

describe('a first line of another wire names the pin', () => {
  const speaks = (configured: Version, line: string): string | undefined =>
    /`protocol: (.*)`/.exec(otherWire(configured, line)?.message ?? '')?.[1]

  test.each([
    ['AGENT_PARTIAL:"x"', undefined, 'agentproc', 'agentproc'],
    ['{"type":"partial","text":"x"}', 'agentproc@0.4', undefined, undefined],
    ['{"type":"error","message":"x"}', 'agentproc@0.4', undefined, undefined],
    ['{"type":"permission_request","request_id":"1"}', 'agentproc@0.4', undefined, undefined],
    ['{"type":"result","text":""}', 'agentproc@0.4', 'agentproc@0.4', undefined],
    ['{"type":"text","text":"x"}', 'agentproc@0.3', undefined, 'agentproc@0.3'],
    ['{"type":"session","id":"x"}', 'agentproc@0.3', undefined, 'agentproc@0.3'],
    ['{"type":"result"}', undefined, undefined, undefined],
    ['{"type":"toString","text":"x"}', undefined, undefined, undefined],
    ['{"type":1,"text":"x"}', undefined, undefined, undefined],
    ['{"type":{"toString":1},"text":"x"}', undefined, undefined, undefined],
    ['{"type":"result","text":"x"', undefined, undefined, undefined],
    ['"partial"', undefined, undefined, undefined],
    ['words', undefined, undefined, undefined],
  ])('%s', (line, in01, in03, in04) => {
    expect([speaks('0.1', line), speaks('0.3', line), speaks('0.4', line)]).toEqual([in01, in03, in04])
  })
})

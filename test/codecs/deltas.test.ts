/** Pieces of text are read by the shape of their line; another spelling of the same line is parsed and says the same. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec as acp } from '../../codecs/acp/index.ts'
import { codec as agentproc } from '../../codecs/agentproc/index.ts'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as native } from '../../codecs/native/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import { codec as openharness } from '../../codecs/openharness/index.ts'
import { codec as zene } from '../../codecs/zene/index.ts'
import { codec as zot } from '../../codecs/zot/index.ts'
import type { AnyCodec, Frame, Framing } from '../../src/contract/index.ts'
import { appendLine, newLines } from '../../src/engine/events/index.ts'
import { encodeFrame, frameDecoder } from '../../src/framing/index.ts'
import { type AgentEvent, messagePattern, type TurnEvent } from '../../src/model/index.ts'
import { type BackDrive, driveBack } from '../kit/drive.ts'

/** Text as JSON in any spelling: escaped or not, also what JSON forbids. */
const string = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u007f', '\u2028', '\ud800', '}', 'a', ' ') }),
    ),
    fc.boolean(),
  )
  .map(([text, raw]) => (raw ? `"${text}"` : JSON.stringify(text)))

/** A piece of text or thought of a message, and nothing else. */
function isPlainDelta(event: AgentEvent): event is TurnEvent {
  return (event.type === 'text-delta' || event.type === 'reasoning-delta') && !event.ext && event.lane === undefined
}

/** True when the record has the next event like this one as its text alone. */
function isShort(event: TurnEvent): boolean {
  const lines = newLines(event.turn)
  appendLine(lines, 1, event)
  return lines.text.startsWith('[')
}

interface Case {
  /** A back whose turn `t1` runs and knows the message `m`. */
  open(): BackDrive
  /** The line of a delta, and the frame that holds it. */
  line: fc.Arbitrary<string>
  frame(line: string): Frame
}

const itself = (line: string): Frame => line
const number = fc.constantFrom('0', '7', '1700000000400', '01', '-1', '1.5')

const CASES: Readonly<Record<string, Case>> = {
  acp: {
    open() {
      const drive = driveBack(acp)
      const answer = (result: object) =>
        drive.feed(JSON.stringify({ id: JSON.parse(String(drive.sent.at(-1))).id, result }))
      drive.link.open!()
      answer({ protocolVersion: 1 })
      drive.start('hi')
      answer({ sessionId: 's' })
      const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text: 'x' } }
      drive.feed(JSON.stringify({ method: 'session/update', params: { sessionId: 's', update } }))
      return drive
    },
    line: fc
      .tuple(fc.constantFrom('"s"', '"other"', '1'), fc.constantFrom('before', 'after', 'none'), string, string)
      .map(([session, where, message, text]) => {
        const id = `"messageId":${message}`
        const members = `${where === 'before' ? `${id},` : ''}"content":{"type":"text","text":${text}}${where === 'after' ? `,${id}` : ''}`
        return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":{"sessionUpdate":"agent_message_chunk",${members}}}}`
      }),
    frame: itself,
  },
  native: {
    open() {
      const drive = driveBack(native)
      drive.link.open!()
      drive.feed('{"type":"agent-ready"}')
      drive.start('hi')
      return drive
    },
    line: fc
      .tuple(
        fc.constantFrom('text-delta', 'reasoning-delta', 'turn-started', 'plan'),
        fc.option(number, { nil: undefined }),
        string,
        string,
      )
      .map(([type, seq, message, text]) => {
        return `{"type":"${type}","turn":"t1",${seq === undefined ? '' : `"seq":${seq},`}"message":${message},"text":${text}}`
      }),
    frame: itself,
  },
  openharness: {
    open() {
      const drive = driveBack(openharness, { options: {} })
      drive.start('hi')
      drive.link.decodeHead!({ status: 200, headers: {} })
      drive.feed({ event: 'message_start', data: '{"message":"m","role":"assistant"}' })
      return drive
    },
    line: fc
      .tuple(fc.oneof(fc.constant('"m"'), string), string)
      .map(([message, text]) => `{"message":${message},"text":${text}}`),
    frame: (data) => ({ event: 'text_delta', data }),
  },
  zene: {
    open() {
      const drive = driveBack(zene, { options: { mode: 'stream' } })
      drive.link.open!()
      drive.start('hi', { request: 'r1' })
      return drive
    },
    line: fc
      .tuple(fc.constantFrom('"r1"', '"unknown"', '"r2"', '"turnpike-hello"'), number, string)
      .map(([request, seq, delta]) => {
        return `{"protocol_version":1,"type":"event","request_id":${request},"session_id":"s1","ts_ms":1,"event_type":"TEXT_DELTA","seq":${seq},"payload":{"delta":${delta}}}`
      }),
    frame: itself,
  },
  zot: {
    open() {
      const drive = driveBack(zot, { recorded: 'agent' })
      drive.start('hi')
      drive.feed('{"type":"turn_start","step":1}')
      return drive
    },
    line: string.map((delta) => `{"type":"text_delta","delta":${delta}}`),
    frame: itself,
  },
  'agentproc@0.3': {
    open() {
      const process = { command: 'x', env: {}, cwd: '/' }
      const drive = driveBack(agentproc, { dialect: '0.3', options: { streaming: true }, process })
      drive.start('hi')
      return drive
    },
    line: string.map((text) => `{"type":"partial","text":${text}}`),
    frame: itself,
  },
  'agentproc@0.4': {
    open() {
      const process = { command: 'x', env: {}, cwd: '/' }
      const drive = driveBack(agentproc, { dialect: '0.4', options: { streaming: true }, process })
      drive.start('hi')
      return drive
    },
    line: string.map((text) => `{"type":"partial","text":${text}}`),
    frame: itself,
  },
}

describe.each(Object.entries(CASES))('%s', (_name, { open, line, frame }) => {
  const said = (text: string, times = 1) => {
    const drive = open()
    for (let time = 0; time < times; time += 1) drive.feed(frame(text))
    const { events, losses, faults } = drive
    return { events, losses, faults }
  }

  test('a delta says the same however its line is spelled', () => {
    fc.assert(
      fc.property(line, (text) => {
        const spelled = text.replace('{', '{ ')
        expect(said(text)).toEqual(said(spelled))
      }),
    )
  })

  test('a delta says the same when others like it came before', () => {
    fc.assert(
      fc.property(line, (text) => {
        const spelled = text.replace('{', '{ ')
        const repeated = said(text, 3)
        expect(repeated).toEqual(said(spelled, 3))
        for (const event of repeated.events) if (isPlainDelta(event)) expect(isShort(event)).toBe(true)
      }),
    )
  })

  test('a space behind commas and colons changes nothing', () => {
    fc.assert(
      fc.property(line, (text) => {
        const loose = text.replaceAll('":', '": ').replaceAll(',"', ', "')
        expect(said(loose)).toEqual(said(loose.replace('{', '{ ')))
      }),
    )
  })
})

describe('pieces of text in a row', () => {
  /** The kinds of answers that have such pieces: how one begins, a piece, and how it ends. */
  const answers: Readonly<
    Record<string, { open(): BackDrive; framing: Framing; frames(pieces: readonly unknown[]): Frame[] }>
  > = {
    zot: {
      open() {
        const drive = driveBack(zot, { recorded: 'agent' })
        drive.start('hi')
        return drive
      },
      framing: 'ndjson',
      frames: (pieces) => [
        '{"type":"turn_start","step":1}',
        ...pieces.map((delta) => JSON.stringify({ type: 'text_delta', delta })),
        '{"type":"turn_end","stop":"end"}',
        '{"type":"done"}',
      ],
    },
    zene: {
      open: CASES['zene']!.open,
      framing: 'ndjson',
      frames: (pieces) => [
        '{"protocol_version":1,"type":"ack","request_id":"r1","session_id":"s1","status":"ACCEPTED"}',
        ...pieces.map((delta, seq) =>
          JSON.stringify({
            protocol_version: 1,
            type: 'event',
            request_id: 'r1',
            session_id: 's1',
            ts_ms: 1_700_000_000_000 + 7 * seq,
            event_type: 'TEXT_DELTA',
            seq,
            payload: { delta },
          }),
        ),
        '{"protocol_version":1,"type":"final","request_id":"r1","session_id":"s1","status":"OK","text":"x"}',
      ],
    },
    'agentproc@0.4': {
      open: CASES['agentproc@0.4']!.open,
      framing: 'ndjson',
      frames: (pieces) => [
        ...pieces.map((text) => JSON.stringify({ type: 'partial', text })),
        '{"type":"partial","role":"thinking","text":"x"}',
        ...pieces.map((text) => JSON.stringify({ type: 'partial', text })),
        '{"type":"result","text":"x"}',
      ],
    },
    native: {
      open: CASES['native']!.open,
      framing: 'ndjson',
      frames: (pieces) =>
        [
          { type: 'message-start', turn: 't1', message: 'm', role: 'assistant' },
          ...pieces.map((text, seq) => ({ type: 'text-delta', turn: 't1', seq, message: 'm', text })),
          { type: 'reasoning-delta', turn: 't1', seq: 100, message: 'm', text: 'a' },
          { type: 'reasoning-delta', turn: 't1', seq: 101, message: 'm', text: 'b' },
          { type: 'reasoning-delta', turn: 't1', seq: 102, message: 'm', text: 'c' },
          { type: 'turn-end', turn: 't1', outcome: 'completed' },
        ].map((event) => JSON.stringify(event)),
    },
    openharness: {
      open: CASES['openharness']!.open,
      framing: 'sse',
      frames: (pieces) => [
        ...pieces.map((text) => ({ event: 'text_delta', data: JSON.stringify({ message: 'm', text }) })),
        ...['a', 'b', 'c'].map((text) => ({
          event: 'reasoning_delta',
          data: JSON.stringify({ message: 'm', text }),
        })),
        { event: 'response', data: '{"response":{"content":"x"}}' },
      ],
    },
    chat: {
      open: () => asked(openai, 'chat'),
      framing: 'sse',
      frames: (pieces) =>
        [
          ...pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        ].map((chunk) => ({ data: JSON.stringify(chunk) })),
    },
    responses: {
      open: () => asked(openai, 'responses'),
      framing: 'sse',
      frames: (pieces) =>
        [
          { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
          ...pieces.map((delta, at) => {
            const event = { type: 'response.output_text.delta', sequence_number: at, output_index: 0, delta }
            return { ...event, obfuscation: 'x'.repeat(at) }
          }),
          { type: 'response.completed', response: { status: 'completed' } },
        ].map((event) => ({ event: event.type, data: JSON.stringify(event) })),
    },
    messages: {
      open: () => asked(anthropic),
      framing: 'sse',
      frames: (pieces) =>
        [
          { type: 'message_start', message: {} },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ].map((event) => ({ event: event.type, data: JSON.stringify(event) })),
    },
  }

  function asked(codec: AnyCodec, dialect?: string): BackDrive {
    const drive = driveBack(codec, dialect === undefined ? {} : { dialect })
    drive.start('hi')
    return drive
  }

  const piece = fc.oneof(
    fc.constantFrom('', 'a', 'two words', 'a"b', '\\', '\n', '\u2028', '\ud800', '","delta":"', '}}\n\n', null, 7),
    fc.string({ unit: 'binary' }),
  )

  test.each(Object.entries(answers))('of %s are read together, and say what they say one by one', (_, answer) => {
    const { open, framing, frames } = answer
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const [one, together] = [open(), open()]
        one.feed(...frames(pieces))
        together.read(
          framing,
          frames(pieces)
            .map((frame) => encodeFrame(framing, frame))
            .join(''),
        )
        const { events, losses, faults } = together
        expect({ events, losses, faults }).toEqual({ events: one.events, losses: one.losses, faults: one.faults })
      }),
    )
    const plain = frames([...'abcdefgh']).map((frame) => encodeFrame(framing, frame))
    expect(open().read(framing, plain.join(''))).toBeGreaterThanOrEqual(6)
  })

  test.each(Object.entries(answers))('of %s are none when they are broken', (_, { open, framing, frames }) => {
    const written = frames([...'abcdefgh'])
      .map((frame) => encodeFrame(framing, frame))
      .join('')
    const [one, together] = [open(), open()]
    const broken = written.replace('"f"', '"\\x"')
    frameDecoder(framing, 1000, { frame: (frame) => one.feed(frame), fault() {} }).push(broken)
    together.read(framing, broken)
    expect([together.events, together.losses]).toEqual([one.events, one.losses])
  })
})

test('what a shape takes is JSON, with the strings that it gives', () => {
  const shape = messagePattern('{"a":*[,"n":#],"b":{"c":*}}')
  const members = fc.tuple(string, fc.option(number, { nil: undefined }), string, fc.constantFrom('', ' ', '  '))
  fc.assert(
    fc.property(members, ([a, n, c, space]) => {
      const text = `{"a":${space}${a},${n === undefined ? '' : `"n":${n},`}"b":{"c":${c}}}`
      const found = shape.exec(text)
      if (!found) return
      expect(JSON.parse(text)).toEqual({
        a: found[1],
        ...(n !== undefined && { n: Number(n) }),
        b: { c: found[2] },
      })
    }),
  )
  expect(shape.exec('{"a":"x y", "n": 12,"b":{"c": ""}}')?.slice(1)).toEqual(['x y', ''])
  expect(shape.exec('{"a":"\\u0041","b":{"c":""}}')).toBeNull()
})

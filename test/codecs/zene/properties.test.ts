import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { driveBack, driveFront, plainTurn } from '../../kit/drive.ts'

/** Any text, any JSON, and JSON that is nearly of the protocol. */
const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('OK', 'ACCEPTED', 'TEXT_DELTA', true, false, null, 1, { delta: 'x' }),
)
const nearly = (types: readonly string[], keys: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...types), fc.dictionary(fc.constantFrom(...keys), anyValue))
    .map(([type, rest]) => JSON.stringify({ ...rest, ...(type !== '' && { type }) }))
const answers = nearly(
  ['ack', 'event', 'final', 'error', ''],
  ['ok', 'text', 'status', 'error', 'usage', 'event_type', 'payload', 'request_id', 'error_code', 'error_message'],
)
const requests = nearly(
  ['run', 'ping', 'cancel', 'session_close', ''],
  ['request_id', 'session_id', 'prompt', 'agent', 'timeout_ms', 'idempotency_key', 'stream', 'target_request_id', 'x'],
)
const lines = (frames: fc.Arbitrary<string>) => fc.array(fc.oneof(frames, fc.json(), fc.string()), { maxLength: 12 })

describe('whatever the agent writes', () => {
  test.each(['oneshot', 'stream'] as const)('%s: one end, also when the process just goes', (mode) => {
    fc.assert(
      fc.property(lines(answers), fc.boolean(), (frames, cancel) => {
        const drive = driveBack(codec, { options: { mode } })
        drive.link.open?.()
        drive.start('hi')
        if (cancel) drive.link.encode({ exchange: 'x', type: 'turn-cancel', target: { turn: 't1' } })
        drive.feed(...frames)
        drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
        const ends = drive.events.filter(({ type }) => type === 'turn-end')
        expect(ends).toHaveLength(1)
        expect(drive.events.at(-1)).toBe(ends[0])
        if (cancel) expect(ends[0]).toMatchObject({ outcome: 'cancelled' })
      }),
    )
  })
})

describe('whatever the client writes', () => {
  test('a one-shot answers exactly once, with one line of JSON', () => {
    fc.assert(
      fc.property(lines(requests), fc.constantFrom([], ['host'], ['host', '--protocol', 'v1']), (frames, argv) => {
        const drive = driveFront(codec, { argv })
        drive.feed(...frames)
        drive.link.decodeEnd?.('eof')
        if (drive.commands[0]?.type === 'turn-start') drive.play(plainTurn('x'))
        else if (drive.commands[0]) {
          drive.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: drive.commands[0].exchange })
        }
        expect(drive.sent).toHaveLength(1)
        expect(drive.sent[0]).not.toContain('\n')
        expect(typeof JSON.parse(String(drive.sent[0]))).toBe('object')
        expect(drive.exitCode === 0 || drive.exitCode === 2).toBe(true)
      }),
    )
  })

  test('stream mode answers every line and every run once', () => {
    fc.assert(
      fc.property(lines(requests), (frames) => {
        const drive = driveFront(codec, { argv: ['host', '--protocol', 'v1', '--single-request', 'false'] })
        drive.feed(...frames)
        for (const command of [...drive.commands]) {
          if (command.type === 'turn-start') drive.play(plainTurn('x'), command.exchange)
          else drive.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: command.exchange })
        }
        drive.link.decodeEnd?.('eof')
        const types = drive.sent.map((frame) => {
          const { type, status } = JSON.parse(String(frame)) as { type: string; status?: string }
          return type === 'event' || status === 'ACCEPTED' ? 'progress' : 'answer'
        })
        expect(types.filter((type) => type === 'answer')).toHaveLength(Math.max(1, frames.length))
        expect(drive.exitCode === 0 || drive.exitCode === 2).toBe(true)
      }),
    )
  })

  test('clawrun gets one JSON object', () => {
    fc.assert(
      fc.property(fc.oneof(requests, fc.json(), fc.string()), (body) => {
        const drive = driveFront(codec, { dialect: 'clawrun', transport: 'http' })
        drive.feed(body)
        if (drive.commands.length > 0) drive.play(plainTurn('x'))
        expect(drive.sent).toHaveLength(1)
        expect(Object.keys(JSON.parse(String(drive.sent[0])) as object)).toHaveLength(1)
      }),
    )
  })
})

describe('laws of the pair', () => {
  test('a request passes through both halves with its unknown fields', () => {
    const extra = fc.dictionary(
      fc.string({ minLength: 1 }).map((key) => `x-${key}`),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(
        extra,
        fc.string().filter((text) => /\S/.test(text)),
        (more, prompt) => {
          const sent = JSON.stringify({
            protocol_version: 1,
            type: 'run',
            request_id: 'r',
            session_id: 's',
            channel_id: 'c',
            agent: 'a',
            prompt,
            timeout_ms: 5,
            idempotency_key: 'k',
            ...more,
          })
          const front = driveFront(codec)
          front.feed(sent)
          const back = driveBack(codec)
          back.link.encode(front.commands[0]!)
          const want = { ...JSON.parse(sent), prompt: prompt.toWellFormed(), idempotency_key: 'turnpike-f2' }
          expect(JSON.parse(String(back.sent[0]))).toEqual(want)
          expect([front.losses, back.losses]).toEqual([[], []])
        },
      ),
    )
  })

  test('an answer passes through both halves unchanged', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((candidate) => /[^\s\u0085]/.test(candidate))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 1e6 }), (answer, total) => {
        const line = JSON.stringify({
          ok: true,
          request_id: 'r',
          session_id: 's',
          text: answer,
          error_code: null,
          error_message: null,
          usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: total },
        })
        const front = driveFront(codec)
        front.feed('{"request_id":"r","session_id":"s","prompt":"p"}')
        const back = driveBack(codec)
        back.start('p', { request: 'r' })
        back.feed(line)
        front.play(back.events.filter((event) => event.turn !== null))
        expect(JSON.parse(String(front.sent[0]))).toEqual(JSON.parse(line))
      }),
    )
  })
})

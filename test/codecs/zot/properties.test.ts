import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import { oneLine, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'
import { answer, ended, endsOf, type Line, readyBack, runningBack, sentLines, serve } from './kit.ts'

const TYPES = [
  'text_delta',
  'turn_start',
  'turn_end',
  'user_message',
  'assistant_start',
  'assistant_message',
  'tool_use_start',
  'tool_use_args',
  'tool_use_end',
  'tool_call',
  'tool_progress',
  'tool_result',
  'usage',
  'error',
  'done',
  'compact_done',
  'ext_notify',
  'ext_display',
  'response',
  'later',
]
const block = fc.record(
  {
    type: fc.constantFrom('text', 'image', 'tool_call', 'tool_result', 'video'),
    text: fc.string(),
    id: fc.constantFrom('a', 'b'),
    name: fc.string(),
    args: fc.jsonValue(),
    call_id: fc.constantFrom('a', 'b'),
    content: fc.jsonValue(),
  },
  { requiredKeys: ['type'] },
)
const event = fc.record(
  {
    type: fc.constantFrom(...TYPES),
    id: fc.oneof(fc.constantFrom('a', 'b', 'b1', 'b2', 'b3'), fc.jsonValue()),
    name: fc.string(),
    delta: fc.oneof(fc.string(), fc.integer()),
    text: fc.string(),
    step: fc.integer({ min: 1, max: 9 }),
    stop: fc.constantFrom('end', 'tool_use', 'error', 'aborted', 'length', 'other'),
    message: fc.string(),
    summary: fc.string(),
    success: fc.boolean(),
    content: fc.oneof(fc.array(block), fc.jsonValue()),
    args: fc.jsonValue(),
    input: fc.integer({ min: 0, max: 5 }),
    output: fc.integer({ min: 0, max: 5 }),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ['type'] },
)
const line = fc.oneof(
  { weight: 6, arbitrary: event.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
)
const command = fc.record(
  {
    type: fc.constantFrom(
      'prompt',
      'compact',
      'abort',
      'clear',
      'set_model',
      'get_state',
      'get_messages',
      'get_models',
      'ping',
      'hello',
      'nope',
    ),
    id: fc.oneof(fc.string(), fc.jsonValue()),
    message: fc.oneof(fc.string(), fc.jsonValue()),
    model: fc.jsonValue(),
    images: fc.oneof(fc.array(fc.record({ mime_type: fc.string(), data: fc.base64String() })), fc.jsonValue()),
    token: fc.string(),
  },
  { requiredKeys: ['type'] },
)

test('whatever an agent writes, every turn gets exactly one end, last', () => {
  fc.assert(
    fc.property(
      fc.array(line),
      fc.nat(),
      fc.constantFrom('prompt', 'compact'),
      fc.boolean(),
      (lines, cancelAt, task, answered) => {
        const drive = readyBack()
        drive.start('hi', { task })
        if (answered) answer(drive, task)
        for (const [at, text] of lines.entries()) {
          if (at === cancelAt) drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
          drive.feed(text)
        }
        drive.link.decodeEnd(ended)
        const events = drive.events.filter((made) => made.turn === 't1')
        expect(endsOf(events)).toHaveLength(1)
        expect(events.at(-1)!.type).toBe('turn-end')
      },
    ),
  )
})

test('tool ids are unique, whatever the agent calls them', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('x', 'x#2', 'x#3', 'y'), { maxLength: 12 }), (ids) => {
      const drive = runningBack()
      for (const id of ids) drive.feed(JSON.stringify({ type: 'tool_use_start', id, name: 'n' }))
      const tools = drive.events.flatMap((made) => (made.type === 'tool-start' ? [made.tool] : []))
      expect(new Set(tools).size).toBe(ids.length)
    }),
  )
})

test('whatever a client writes, each prompt that starts has one response before one done', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof({ weight: 4, arbitrary: command.map((value) => JSON.stringify(value)) }, fc.json(), fc.string()),
      ),
      (lines) => {
        const drive = driveFront(codec)
        drive.feed(...lines)
        drive.link.decodeEnd!('eof')
        serve(drive)
        const written = sentLines(drive)
        const started = written.filter((made) => (made['data'] as Line | undefined)?.['started'] === true)
        const starts = drive.commands.filter((made) => made.type === 'turn-start')
        expect([started.length, written.filter((made) => made['type'] === 'done').length]).toEqual([
          starts.length,
          starts.length,
        ])
        expect(written.filter((made) => made['type'] === 'response')).toHaveLength(lines.length)
        expect(drive.exitCode).toBeUndefined()
      },
    ),
  )
})

test('whatever an agent of this protocol says comes out as whole lines of JSON objects', () => {
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const back = runningBack()
      back.feed(...lines)
      back.link.decodeEnd(ended)
      const front = driveFront(codec)
      front.feed('{"type":"prompt","message":"hi"}')
      front.play(back.events.filter((made): made is TurnEvent => made.turn !== null))
      for (const frame of front.sent) expect(frame).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
      const written = sentLines(front)
      expect(written.every((made) => typeof made === 'object' && made !== null)).toBe(true)
      expect(written.at(-1)!['type']).toBe('done')
      for (const made of written) if (made['type'] === 'text_delta') expect(made['delta']).not.toBe('')
    }),
  )
})

test('a line keeps its value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const json = JSON.stringify([value, `${text}\u2028\u2029\u0085`], null, 1)
      expect(JSON.parse(oneLine(json))).toEqual(JSON.parse(json))
    }),
  )
})

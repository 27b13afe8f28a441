import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FrontDrive } from '../../kit/drive.ts'
import { bare, CHUNK_ARGS, chat, completed, front, JSON_ARGS, type Line, play, sentLines } from './kit.ts'

type Step = 'prompt' | 'body' | 'clear' | 'compress' | 'beat' | 'hint' | 'cancel' | 'broken' | 'reply' | 'serve'

const STEPS: readonly Step[] = [
  'prompt',
  'body',
  'clear',
  'compress',
  'beat',
  'hint',
  'cancel',
  'broken',
  'reply',
  'serve',
]

/** The line of a step; every request has a `prompt_id` of its own, so that its end can be told. */
function lineOf(step: Exclude<Step, 'serve'>, at: number): string {
  const place = { session_id: 's', prompt_id: `p${at}` }
  switch (step) {
    case 'prompt':
      return chat('hi', place)
    case 'body':
      return JSON.stringify({ ...place, messages: [{ role: 'user', content: 'hi' }] })
    case 'clear':
    case 'compress':
      return chat(`/${step}`, place)
    case 'beat':
      return JSON.stringify({ type: 'heartbeat_request', ...place })
    case 'hint':
      return JSON.stringify({ type: 'command_hint_request', ...place, text: '/c' })
    case 'cancel':
      return JSON.stringify({ type: 'control/cancel', session_id: 's' })
    case 'broken':
      return '{"broken'
    case 'reply':
      return JSON.stringify({ type: 'control_response', request_id: 'r', response: {} })
  }
}

/** Ends everything that was started since `from`, also what starts while it does. Returns how many commands there are. */
function serve(drive: FrontDrive, from: number): number {
  for (let at = from; at < drive.commands.length; at += 1) {
    const { type, exchange } = drive.commands[at]!
    if (type === 'turn-start') play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }, completed], exchange)
    else if (type !== 'turn-cancel') drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange })
  }
  return drive.commands.length
}

/** The `prompt_id` of every line that ends a request. */
function endedPrompts(lines: readonly Line[], chunked: boolean): unknown[] {
  const ends = chunked
    ? lines.filter(({ choices }) => JSON.stringify(choices) === '[{"index":0,"delta":{},"finish_reason":"stop"}]')
    : lines.filter(({ event }) => event === 'Finished')
  return ends.map(({ prompt_id }) => prompt_id)
}

/** The `prompt_id` of every line of this type. */
function promptsOf(lines: readonly Line[], type: string): unknown[] {
  return lines.filter((line) => line['type'] === type).map(({ prompt_id }) => prompt_id)
}

describe('whatever a client asks for', () => {
  const wire = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 20 })

  test.each([
    ['stream-json', JSON_ARGS, false],
    ['stream-chunk-json', CHUNK_ARGS, true],
  ] as const)('%s: every request is answered once, in the order of the requests', (_name, argv, chunked) => {
    fc.assert(
      fc.property(wire, (steps) => {
        const drive = front(argv)
        let served = 0
        for (const [at, step] of steps.entries()) {
          if (step === 'serve') served = serve(drive, served)
          else drive.feed(lineOf(step, at))
        }
        drive.link.decodeEnd!('eof')
        serve(drive, served)
        const asked = (...kinds: Step[]): string[] =>
          steps.flatMap((step, at) => (kinds.includes(step) ? [`p${at}`] : []))
        const lines = sentLines(drive)
        expect(endedPrompts(lines, chunked)).toEqual(asked('prompt', 'body', 'clear', 'compress'))
        expect(promptsOf(lines, 'result/heartbeat')).toEqual(asked('beat'))
        expect(promptsOf(lines, 'result/command_hint')).toEqual(asked('hint'))
        expect(promptsOf(lines, 'result/cancel')).toHaveLength(asked('cancel').length)
        expect(drive.faults).toHaveLength(asked('broken', 'reply').length)
        expect(drive.exitCode).toBe(0)
      }),
      { numRuns: 300 },
    )
  })
})

test('what the usage of a call says beyond the wire is reported, behind a round of calls too', () => {
  const drive = front(CHUNK_ARGS)
  drive.feed(chat('hi'))
  play(drive, [
    { type: 'turn-accepted', how: 'new', session: 's' },
    { type: 'tool-call', tool: 'c1', name: 'read', args: '{}', executor: 'agent' },
    { type: 'usage', scope: 'call', usage: { input: 5, output: 2, cacheWrite: 3 } },
    { type: 'tool-end', tool: 'c1', status: 'ok', parts: [] },
    completed,
  ])
  expect(bare(sentLines(drive)).filter(({ usage }) => usage)).toEqual([
    {
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    },
  ])
  expect(drive.dropped).toEqual([{ kind: 'dropped', item: 'usage.cacheWrite', why: 'no-place', count: 1 }])
})

test('who cancels is answered behind the partial answer', () => {
  const drive = front()
  drive.feed(chat('hi'))
  play(drive, [
    { type: 'turn-accepted', how: 'new', session: 's' },
    { type: 'message-start', message: 'm1', role: 'assistant' },
    { type: 'text-delta', message: 'm1', text: 'One, two' },
    { type: 'message-end', message: 'm1' },
  ])
  drive.feed(JSON.stringify({ type: 'control/cancel', request_id: 'r1' }))
  drive.sent.length = 0
  play(drive, [{ type: 'turn-end', outcome: 'cancelled' }], 'f1')
  expect(bare(sentLines(drive))).toEqual([
    {
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'One, two', tool_calls: null },
          finish_reason: null,
        },
      ],
    },
    { type: 'result/cancel', status: 'ok', reason: 'escape' },
    {
      type: 'control_response',
      request_id: 'r1',
      response: { subtype: 'success', result: { status: 'ok' } },
    },
    { type: 'x-qwen-session-event', event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
  ])
})

test.each([
  ['a version that is not there', { protocol_version: '2.0', input: { parts: 'x' } }],
  ['a request without a prompt', { input: {} }],
  ['an unknown line', { type: 'what' }],
  ['an answer that nothing waits for', { type: 'control_response', request_id: 'r', response: {} }],
])('%s: the refusal names the session of the line', (_name, line) => {
  const placed = (place: Line): Line => {
    const drive = front()
    drive.feed(JSON.stringify({ ...line, ...place }))
    const [{ id, session_id, prompt_id }] = sentLines(drive) as [Line]
    return { id, session_id, prompt_id }
  }
  expect(placed({ session_id: 'lake' })).toEqual({ id: 'chatcmpl-lake', session_id: 'lake', prompt_id: undefined })
  expect(placed({ session_id: 'lake', prompt_id: 'p' })).toMatchObject({ session_id: 'lake', prompt_id: 'p' })
  expect(placed({ session_id: '_new', prompt_id: 'p' })).toEqual({
    id: 'chatcmpl-f1',
    session_id: 'f1',
    prompt_id: undefined,
  })
  expect(placed({ session_id: '' })).toMatchObject({ session_id: 'f1' })
  expect(placed({ session_id: 'lake', prompt_id: '' })).toEqual({
    id: 'chatcmpl-lake',
    session_id: 'lake',
    prompt_id: undefined,
  })
})

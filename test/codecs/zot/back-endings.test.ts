import { describe, expect, test } from 'vitest'
import type { CallEnd } from '../../../src/contract/index.ts'
import { fault } from '../../../src/model/index.ts'
import { answer, ended, endsOf, readyBack, runningBack, sentLines } from './kit.ts'

const ZEROS = { type: 'usage', input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: 0, cumulative: {} }
const CANCEL = { exchange: 'x9', type: 'turn-cancel', target: 'running' } as const
const cancelled = { turn: 't1', type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }

/** The end of a running prompt (or compact) after these lines, with a cancel before the one at `cancelAt`. */
function endOf(
  lines: readonly object[],
  { cancelAt, task = 'prompt' }: { cancelAt?: number; task?: 'prompt' | 'compact' } = {},
): object {
  const drive = runningBack({ task })
  for (const [at, line] of lines.entries()) {
    if (at === cancelAt) {
      drive.link.encode(CANCEL)
      answer(drive, 'abort')
    }
    drive.feed(JSON.stringify(line))
  }
  expect(endsOf(drive.events)).toHaveLength(1)
  return { ...drive.events.at(-1)! }
}

const start = { type: 'turn_start', step: 1 }
const speak = [{ type: 'assistant_start' }, { type: 'text_delta', delta: 'w0' }]
const call = [
  { type: 'tool_call', id: 'c', name: 'bash', args: {} },
  { type: 'turn_end', stop: 'tool_use' },
]
const aborted = { type: 'turn_end', stop: 'aborted', error: 'context canceled' }
const done = { type: 'done' }

describe('every shape of an abort is cancelled', () => {
  test('while it speaks', () => {
    const message = { type: 'assistant_message', content: [{ type: 'text', text: 'w0' }] }
    expect(endOf([start, ...speak, ZEROS, message, aborted, done], { cancelAt: 3 })).toEqual(cancelled)
  })
  test('after the headers', () => {
    expect(endOf([start, { type: 'assistant_start' }, ZEROS, aborted, done], { cancelAt: 2 })).toEqual(cancelled)
  })
  test('before the headers: the model call is told to be aborted, not failed', () => {
    const drive = runningBack()
    drive.feed(JSON.stringify(start))
    drive.link.encode(CANCEL)
    answer(drive, 'abort')
    drive.feed('{"type":"turn_end","stop":"error","error":"Post: context canceled"}', '{"type":"done"}')
    expect(drive.events).toEqual([
      { turn: 't1', type: 'step-start', step: 1 },
      {
        turn: 't1',
        type: 'step-end',
        step: 1,
        stop: 'aborted',
        ext: { protocol: 'zot', json: '{"error":"Post: context canceled"}' },
      },
      cancelled,
    ])
  })
  test('during a tool', () => {
    const result = { type: 'tool_result', id: 'c', is_error: true, content: [] }
    expect(endOf([start, ...call, result, done], { cancelAt: 3 })).toEqual(cancelled)
  })
  test('during the arguments of a tool', () => {
    const draft = { type: 'tool_use_start', id: 'c', name: 'bash' }
    expect(endOf([start, draft, ZEROS, aborted, done], { cancelAt: 2 })).toEqual(cancelled)
  })
  test('during a compact: the response of the abort is all that comes', () => {
    const drive = runningBack({ task: 'compact' })
    drive.link.encode(CANCEL)
    answer(drive, 'abort')
    expect(drive.events).toEqual([cancelled])
    drive.feed('{"type":"error","message":"late"}')
    expect(endsOf(drive.events)).toHaveLength(1)
  })
  test('and so is an answer or an error that came just before the abort', () => {
    expect(endOf([start, ...speak, { type: 'turn_end', stop: 'end' }, done], { cancelAt: 3 })).toEqual(cancelled)
    expect(endOf([start, { type: 'error', message: 'x' }, done], { cancelAt: 1 })).toEqual(cancelled)
    const drive = runningBack({ task: 'compact' })
    drive.link.encode(CANCEL)
    drive.feed('{"type":"compact_done","summary":"s"}')
    expect(drive.events).toEqual([cancelled])
    answer(drive, 'abort')
    expect(drive.events).toEqual([cancelled])
  })
  test('an abort from elsewhere is cancelled too', () => {
    expect(endOf([start, ...speak, aborted, done])).toEqual(cancelled)
    expect(endOf([start, ...call, done])).toEqual(cancelled)
  })
})

describe('when the abort is sent', () => {
  test('only after the response of the prompt, and once', () => {
    const drive = readyBack()
    drive.start('hi')
    drive.link.encode(CANCEL)
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['hello', 'prompt'])
    answer(drive, 'prompt')
    drive.link.encode(CANCEL)
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['hello', 'prompt', 'abort'])
  })
  test('a prompt that was not sent yet is only forgotten', () => {
    const drive = readyBack()
    drive.start('hi', { options: { model: 'other' } })
    drive.link.encode(CANCEL)
    drive.link.encode(CANCEL)
    answer(drive, 'set_model')
    expect(drive.events.slice(1)).toEqual([cancelled])
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['hello', 'set_model'])
  })
})

describe('failures', () => {
  const failed = (code: Parameters<typeof fault>[0], message: string, stop = 'error'): object => ({
    turn: 't1',
    type: 'turn-end',
    outcome: 'failed',
    stop,
    fault: fault(code, message),
  })

  test.each([
    ['openai: http 401: {"error":"key"}', 'provider-auth'],
    ['openai: http 403: no', 'provider-auth'],
    ['openai: http 429: slow down', 'provider-rate-limit'],
    ['my-provider 2: http 503: down', 'provider-down'],
    ['openai: http 408: late', 'provider-down'],
    ['openai: http 400: bad', 'provider-error'],
    ['openai: Post "http://127.0.0.1/v1": connection refused', 'provider-down'],
    ['openai: error inside the stream', 'provider-error'],
  ] as const)('%s', (message, code) => {
    const end = endOf([start, { type: 'turn_end', stop: 'error', error: message }, { type: 'error', message }, done])
    expect(end).toEqual(failed(code, message))
  })

  test.each([{}, { message: null }, { message: 7 }])('an error without words: %j', (more) => {
    expect(endOf([start, { type: 'turn_end', stop: 'end' }, { type: 'error', ...more }, done])).toEqual(
      failed('internal', 'The agent did not say what went wrong.'),
    )
  })

  test('turn_end with stop error and no error event', () => {
    expect(endOf([start, { type: 'turn_end', stop: 'error', error: 'turn refused by probe' }, done])).toEqual(
      failed('internal', 'turn refused by probe'),
    )
    expect(endOf([start, { type: 'turn_end', stop: 'error', error: null }, done])).toEqual(
      failed('internal', 'The agent ended the turn with an error.'),
    )
  })

  test('the limit of steps: an error after a tool', () => {
    const result = { type: 'tool_result', id: 'c', content: [] }
    expect(endOf([start, ...call, result, { type: 'error', message: 'max steps (1) exceeded' }, done])).toEqual(
      failed('internal', 'max steps (1) exceeded', 'max-turns'),
    )
  })

  test('the first error is the failure, later ones are notices, unknown fields stay', () => {
    const drive = runningBack()
    drive.feed('{"type":"error","message":"one","code":7}', '{"type":"error","message":"two"}', '{"type":"done"}')
    expect(drive.events).toEqual([
      { turn: 't1', type: 'notice', severity: 'error', code: 'agent-error', text: 'two' },
      {
        turn: 't1',
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: fault('internal', 'one', { ext: { protocol: 'zot', json: '{"code":7}' } }),
      },
    ])
  })

  test('a compact ends without words for it, too', () => {
    expect(endOf([{ type: 'compact_done' }], { task: 'compact' })).toEqual({
      turn: 't1',
      type: 'turn-end',
      outcome: 'completed',
      stop: 'end',
      summary: '',
    })
  })

  test('a compact fails with its error, or when it ends without a summary', () => {
    expect(endOf([{ type: 'error', message: 'nothing to compact' }], { task: 'compact' })).toEqual(
      failed('internal', 'nothing to compact'),
    )
    expect(endOf([done], { task: 'compact' })).toEqual(
      failed('internal', 'The agent ended the compaction without a summary.'),
    )
  })

  test('the agent refuses the prompt', () => {
    for (const [more, message] of [
      [{ error: 'illegal base64' }, 'illegal base64'],
      [{}, 'The agent refused the prompt.'],
    ] as const) {
      const drive = readyBack()
      drive.start('hi')
      answer(drive, 'prompt', { success: false, ...more })
      expect(drive.events.slice(1)).toEqual([failed('invalid-request', message)])
    }
  })

  test.each<[string, CallEnd, object]>([
    [
      'exit',
      ended,
      failed(
        'agent-crashed',
        'The agent exited with code 0 before it had answered; see its stderr in the gateway log.',
      ),
    ],
    [
      'signal',
      { why: 'closed', signal: 'SIGKILL' },
      failed(
        'agent-crashed',
        'The agent was ended by SIGKILL before it had answered; see its stderr in the gateway log.',
      ),
    ],
    ['time', { why: 'timeout' }, failed('timeout', 'The agent did not answer within its time limit.')],
    ['cancel', { why: 'cancelled' }, cancelled],
  ])('the process is gone: %s', (_name, end, expected) => {
    const drive = runningBack()
    drive.feed('{"type":"text_delta","delta":"half"}')
    drive.link.decodeEnd(end)
    drive.link.decodeEnd(end)
    expect(drive.events.slice(-1)).toEqual([expected])
    expect(endsOf(drive.events)).toHaveLength(1)
    drive.feed('{"type":"text_delta","delta":"late"}')
    expect(drive.events.slice(-1)).toEqual([expected])
  })

  test('what the agent said of its failure is better than its exit', () => {
    const drive = runningBack()
    drive.feed('{"type":"error","message":"out of memory"}')
    drive.link.decodeEnd({ why: 'closed', exitCode: 2 })
    expect(drive.events).toEqual([failed('internal', 'out of memory')])
  })

  test('gone after the cancel is cancelled', () => {
    const drive = runningBack()
    drive.link.encode(CANCEL)
    drive.link.decodeEnd(ended)
    expect(drive.events).toEqual([cancelled])
  })
})

describe('what is no failure', () => {
  const notices = (lines: readonly object[], cancel = false): unknown[] => {
    const drive = runningBack()
    for (const line of lines) drive.feed(JSON.stringify(line))
    if (cancel) drive.link.encode(CANCEL)
    return drive.events.filter(
      (event) => event.type === 'notice' || event.type === 'usage' || event.type === 'turn-end',
    )
  }
  const completed = (stop: string): object => ({ turn: 't1', type: 'turn-end', outcome: 'completed', stop })
  const doubt = {
    turn: 't1',
    type: 'notice',
    severity: 'warning',
    code: 'partial-answer',
    text: 'The agent reported no usage for this answer: the connection to its provider may have broken, and the answer may be incomplete.',
  }

  test('an empty answer completes with a notice', () => {
    const empty = {
      type: 'notice',
      severity: 'info',
      code: 'empty-answer',
      text: 'The agent ended the turn without any text.',
    }
    expect(notices([start, { type: 'assistant_start' }, { type: 'turn_end', stop: 'end' }, done])).toEqual([
      { turn: 't1', ...empty },
      completed('end'),
    ])
    const silent = { type: 'assistant_message', content: [] }
    expect(notices([start, silent, { type: 'turn_end', stop: 'end' }, done])).toEqual([
      { turn: 't1', ...empty },
      completed('end'),
    ])
    expect(notices([done])).toEqual([{ turn: 't1', ...empty }, completed('end')])
  })

  test('text with an all-zero usage: a notice, and no usage', () => {
    const lines = [start, ...speak, ZEROS, { type: 'turn_end', stop: 'end' }, done]
    expect(notices(lines)).toEqual([doubt, completed('end')])
    const whole = { type: 'assistant_message', content: [{ type: 'text', text: 'w0' }] }
    expect(notices([start, ZEROS, whole, { type: 'turn_end', stop: 'length' }, done])).toEqual([
      doubt,
      completed('max-tokens'),
    ])
  })

  test('one call that was not counted makes the total an estimate', () => {
    const known = { type: 'usage', input: 5, output: 1 }
    expect(
      notices([
        start,
        known,
        { type: 'turn_end', stop: 'tool_use' },
        { ...start, step: 2 },
        ...speak,
        ZEROS,
        { type: 'turn_end', stop: 'end' },
        done,
      ]),
    ).toEqual([
      { turn: 't1', type: 'usage', scope: 'call', usage: { input: 5, output: 1 } },
      doubt,
      { turn: 't1', type: 'usage', scope: 'turn', usage: { input: 5, output: 1 }, estimated: true },
      completed('end'),
    ])
  })

  test('a compact ends with its summary and without done', () => {
    const drive = runningBack({ task: 'compact' })
    drive.feed('{"type":"compact_done","summary":"short","x":1}', '{"type":"done"}')
    expect(drive.events).toEqual([{ ...completed('end'), summary: 'short', ext: { protocol: 'zot', json: '{"x":1}' } }])
  })
})

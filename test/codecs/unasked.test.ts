/**
 * What an agent says while no turn runs, of its own accord: every back whose process stays between turns tells it as a
 * notice without a turn, none takes it for an answer, and what comes late of a turn that is over is none of it.
 */
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { type AgentEvent, UNASKED_OUTPUT } from '../../src/model/index.ts'
import { type BackDrive, driveBack } from '../kit/drive.ts'

const json = (value: object): string => JSON.stringify(value)

interface Back {
  codec: string
  options?: object
  greeting?(sent: readonly string[]): string[]
  /** The agent takes the turn of this id up. */
  taken?(sent: readonly string[], turn: string): string[]
  /** The first and the last lines of an answer; `turn` is undefined for one that nobody asked for. */
  answer(text: string, turn: string | undefined): [string[], string[]]
}

/** The id of the newest line that was sent and holds this word. */
function idOf(sent: readonly string[], word: string): unknown {
  const line = JSON.parse(sent.findLast((one) => one.includes(`"${word}"`))!) as Record<string, unknown>
  return line['id'] ?? line['request_id']
}

const response = (id: unknown, command: string, data = {}) =>
  json({ type: 'response', id, command, success: true, data: { protocol_version: 1, ...data } })
const chunk = (prompt: string, delta: object, finish: string | null) =>
  json({
    object: 'chat.completion.chunk',
    prompt_id: prompt,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

/** What Qwen Code begins every turn with. */
const INIT = json({ type: 'system', subtype: 'init', session_id: 's', model: 'm', qwen_code_version: '0.24.4' })

const BACKS: Readonly<Record<string, Back>> = {
  zot: {
    codec: 'zot',
    greeting: (sent) => [response(idOf(sent, 'hello'), 'hello')],
    taken: (sent) => [response(idOf(sent, 'prompt'), 'prompt', { started: true })],
    answer: (text) => [
      [json({ type: 'turn_start', step: 1 }), json({ type: 'text_delta', delta: text })],
      [
        json({ type: 'assistant_message', content: [{ type: 'text', text }], time: '2026-01-01T00:00:00Z' }),
        json({ type: 'turn_end', stop: 'end' }),
        json({ type: 'done' }),
      ],
    ],
  },
  'qwen-code': {
    codec: 'qwen-code',
    greeting: (sent) => [
      json({
        type: 'control_response',
        response: { subtype: 'success', request_id: idOf(sent, 'initialize'), response: {} },
      }),
    ],
    answer: (text) => [
      [INIT, json({ type: 'assistant', message: { id: 'a', role: 'assistant', content: [{ type: 'text', text }] } })],
      [json({ type: 'result', subtype: 'success', is_error: false, result: text })],
    ],
  },
  qwen: {
    codec: 'qwen',
    answer: (text, turn) => [
      [chunk(turn ?? 'own', { role: 'assistant', content: text }, null)],
      [
        chunk(turn ?? 'own', {}, 'stop'),
        json({ type: 'x-qwen-session-event', prompt_id: turn ?? 'own', event: 'Finished' }),
      ],
    ],
  },
  'zene stream': {
    codec: 'zene',
    options: { mode: 'stream' },
    greeting: (sent) => [json({ type: 'ack', request_id: idOf(sent, 'ping'), status: 'PONG' })],
    answer: (text, turn = 'own') => [
      [json({ type: 'event', request_id: turn, event_type: 'TEXT_DELTA', seq: 1, payload: { delta: text } })],
      [
        json({
          type: 'final',
          request_id: turn,
          status: 'OK',
          text,
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      ],
    ],
  },
  native: {
    codec: 'native',
    greeting: () => [json({ type: 'agent-ready' })],
    answer: (text, turn = 'own') => [
      [
        json({ type: 'message-start', turn, message: 'm', role: 'assistant' }),
        json({ type: 'text-delta', turn, message: 'm', text }),
      ],
      [json({ type: 'message-end', turn, message: 'm' }), json({ type: 'turn-end', turn, outcome: 'completed' })],
    ],
  },
}

async function opened({ codec, options, greeting }: Back): Promise<BackDrive> {
  const drive = driveBack((await loadCodec(codec))!, {
    options: options ?? {},
    process: { command: 'agent', args: [], env: {}, cwd: '/agents' },
  })
  drive.link.open?.()
  drive.feed(...(greeting?.(drive.sent as string[]) ?? []))
  return drive
}

/** Starts a turn whose id is also that of its request. */
function start(drive: BackDrive, turn: string): void {
  drive.start('hi', { turn, request: turn })
}

/** A turn that is answered. */
function serve(drive: BackDrive, back: Back, turn: string): void {
  start(drive, turn)
  const [first, last] = back.answer(`answer ${turn}`, turn)
  drive.feed(...(back.taken?.(drive.sent as string[], turn) ?? []), ...first, ...last)
}

const unasked = (drive: BackDrive) =>
  drive.events.flatMap((event) =>
    event.type === 'notice' && event.code === UNASKED_OUTPUT ? [[event.turn, event.text]] : [],
  )

/** The text of a turn, and how it ended. */
function answered({ events }: BackDrive, turn: string): unknown[] {
  const own = events.filter((event): event is AgentEvent & { turn: string } => event.turn === turn)
  const texts = own.flatMap((event) => {
    if (event.type === 'text-delta') return [event.text]
    if (event.type === 'message-end') return (event.parts ?? []).map((part) => (part.type === 'text' ? part.text : ''))
    return []
  })
  return [[...new Set(texts)], own.flatMap((event) => (event.type === 'turn-end' ? [event.outcome] : []))]
}

describe.each(Object.entries(BACKS))('%s', (_name, back) => {
  test('between two turns', async () => {
    const drive = await opened(back)
    serve(drive, back, 't1')
    drive.feed(...back.answer('JOB DONE', undefined).flat())
    expect(unasked(drive)).toEqual([[null, 'JOB DONE']])
    serve(drive, back, 't2')
    expect([answered(drive, 't1'), answered(drive, 't2')]).toEqual([
      [['answer t1'], ['completed']],
      [['answer t2'], ['completed']],
    ])
    expect(unasked(drive)).toHaveLength(1)
  })

  test('before the first turn', async () => {
    const drive = await opened(back)
    drive.feed(...back.answer('JOB DONE', undefined).flat())
    expect(unasked(drive)).toEqual([[null, 'JOB DONE']])
  })

  test('at length, up to a limit', async () => {
    const drive = await opened(back)
    drive.feed(...back.answer('x'.repeat(100_000), undefined).flat())
    expect(unasked(drive)).toEqual([[null, expect.stringMatching(/^x{16128}…?$/)]])
  })

  test('while a turn begins: the turn has its own answer', async () => {
    const drive = await opened(back)
    serve(drive, back, 't1')
    const [first, last] = back.answer('JOB DONE', undefined)
    drive.feed(...first)
    start(drive, 't2')
    drive.feed(...last)
    const [own, end] = back.answer('answer t2', 't2')
    drive.feed(...(back.taken?.(drive.sent as string[], 't2') ?? []), ...own, ...end)
    expect(answered(drive, 't2')).toEqual([['answer t2'], ['completed']])
  })

  test('the end of the process tells what was said by then', async () => {
    const drive = await opened(back)
    drive.feed(...back.answer('JOB HALF', undefined)[0])
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    // An event of a run of Zene is no answer: only its end has the text.
    expect(unasked(drive)).toEqual(back.codec === 'zene' ? [] : [[null, 'JOB HALF']])
  })
})

// These two tell turns apart by their ids alone.
test.each(['native', 'zene stream'])(
  '%s: what comes late of a turn is none of it, while the turn is remembered',
  async (name) => {
    const back = BACKS[name]!
    const drive = await opened(back)
    serve(drive, back, 't0')
    drive.feed(...back.answer('late', 't0').flat())
    expect(unasked(drive)).toEqual([])
    for (let turn = 1; turn <= 100; turn += 1) serve(drive, back, `t${turn}`)
    drive.feed(...back.answer('late', 't1').flat())
    expect(unasked(drive)).toEqual([])
    drive.feed(...back.answer('forgotten', 't0').flat())
    expect(unasked(drive)).toEqual([[null, 'forgotten']])
  },
)

test('zene: a run that nobody asked for and that failed says nothing', async () => {
  const drive = await opened(BACKS['zene stream']!)
  drive.feed(json({ type: 'final', request_id: 'own', status: 'ERROR', error: { code: 'INTERNAL', message: 'M' } }))
  drive.feed(json({ type: 'final', request_id: 'unknown', status: 'OK', text: 'x' }))
  drive.feed(json({ type: 'final', request_id: 'own', status: 'OK', text: 'x', usage: { total_tokens: -1 } }))
  expect(unasked(drive)).toEqual([[null, 'x']])
})

// Only a line that begins a turn promises a result: a stray one must not hold up what comes next.
test('qwen-code: a stray line between turns does not hold up the next turn', async () => {
  const back = BACKS['qwen-code']!
  const drive = await opened(back)
  serve(drive, back, 't1')
  drive.feed(back.answer('STRAY', undefined)[0].at(-1)!)
  serve(drive, back, 't2')
  expect(unasked(drive)).toEqual([[null, 'STRAY']])
  expect(answered(drive, 't2')).toEqual([['answer t2'], ['completed']])
})

// A process that says something before its greeting would else keep the first turn waiting for the end of it.
test.each(['zot', 'qwen-code'])('%s: what comes before the greeting is none of it', async (name) => {
  const { greeting, ...back } = BACKS[name]!
  const drive = await opened(back)
  drive.feed(...back.answer('noise', undefined)[0], ...greeting!(drive.sent as string[]))
  serve(drive, back, 't1')
  expect(unasked(drive)).toEqual([])
  expect(answered(drive, 't1')).toEqual([['answer t1'], ['completed']])
})

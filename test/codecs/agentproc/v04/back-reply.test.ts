import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readLine } from '../../../../codecs/agentproc/v04/schema.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'
import { codes, error, OK, open, outcome, partial, result, run } from './runs.ts'

describe('the answer', () => {
  test('partials and a result that repeats them', () => {
    expect(run([partial('Hel'), partial('lo'), result('Hello')]).events).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'Hel' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'lo' },
      { type: 'message-end', turn: 't1', message: 'b1', parts: [{ type: 'text', text: 'Hello' }] },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test.each<[string, string[], string | undefined, number, true?]>([
    ['a result alone', [result('all')], 'all', 0],
    ['partials alone', [partial('a')], undefined, 0],
    ['an empty result', [partial('a'), result('')], undefined, 0],
    ['the last partial as the result', [partial('a '), partial('b'), result('b')], 'a b', 0],
    ['a longer result', [partial('b'), result('a b')], 'a b', 0, true],
    ['another result', [partial('a'), result('z')], 'z', 0, true],
    ['thinking does not count as shown', [partial('z', { role: 'thinking' }), result('a')], 'a', 0],
    ['a late partial', [result('whole'), partial('late')], 'whole', 0],
    ['a second result', [result('one'), result('two')], 'one', 0],
    ['a result that is no text', [result(7)], undefined, 0],
  ])('%s', (_, lines, said, losses, revised) => {
    const back = run(lines)
    expect(outcome(back.events)).toMatchObject({ said, outcome: 'completed' })
    expect(back.losses).toHaveLength(losses)
    const end = back.events.find((event) => event.type === 'message-end')
    expect(end?.revised).toBe(revised)
  })

  test('roles: thinking is reasoning, an unknown one is output and travels along', () => {
    const { events } = run([
      partial('hm', { role: 'thinking' }),
      partial('a', { role: 'output' }),
      partial('b', { role: 'banana', extra: 1.0 }),
      partial('c', { role: 3 }),
      partial(''),
      partial(5),
    ])
    expect(events.slice(2, -2)).toEqual([
      { type: 'reasoning-delta', turn: 't1', message: 'b1', text: 'hm' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'a' },
      {
        type: 'text-delta',
        turn: 't1',
        message: 'b1',
        text: 'b',
        ext: { protocol: 'agentproc@0.4', json: '{"role":"banana","extra":1}' },
      },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'c' },
    ])
  })

  test('streaming: false ignores partials', () => {
    const back = run([partial('a'), result('final')], OK, { streaming: false })
    expect(outcome(back.events)).toMatchObject({ deltas: [], said: 'final' })
    expect(back.losses).toEqual([{ kind: 'dropped', item: 'text-delta', field: 'partial', why: 'policy', count: 1 }])
  })

  test('an empty answer is a success and says so', () => {
    expect(codes(run([]).events)).toEqual(['empty-answer'])
    expect(codes(run([result(' ')]).events)).toEqual(['empty-answer'])
    expect(run([]).events.map(({ type }) => type)).toEqual(['turn-started', 'notice', 'turn-end'])
  })

  test('lines that are no events are ignored with one warning of each kind', () => {
    const back = run([
      'words',
      '',
      '42',
      '{"type":"session","id":"x"}',
      '{"type":"partial","text":"a"}{}',
      result('ok'),
    ])
    // One of them is of 0.3: the client is told of that as well.
    expect(codes(back.events)).toEqual(['malformed-line', 'other-wire'])
    expect(back.losses).toHaveLength(5)
    expect(back.losses[0]).toEqual({ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 })
    expect(outcome(back.events).said).toBe('ok')
  })

  test('white space and byte order marks around a line', () => {
    expect(outcome(run([`  ${partial('a')}\t\r`, `\ufeff${partial('b')}`]).events).deltas).toEqual(['a', 'b'])
  })

  test('unknown members of the result come out at the end', () => {
    expect(outcome(run([result('x', { foo: 'bar' })]).events).ext).toEqual({
      protocol: 'agentproc@0.4',
      json: '{"foo":"bar"}',
    })
  })
})

describe('sessions', () => {
  test.each([
    [[partial('a'), partial('b', { session_id: 's-1' }), result('', { session_id: 's-3' })], 's-1'],
    [[partial('a', { session_id: '..' }), result('', { session_id: 'My id: ü+1' })], 'My id: ü+1'],
    [[partial('a', { session_id: 'a/b' }), partial('b', { session_id: 'a\tb' })], ''],
    [[partial('a', { session_id: '' }), partial('b', { session_id: 7 }), partial('c', { session_id: null })], ''],
    [[error('x', { session_id: 'kept' })], 'kept'],
    [[partial('a', { session_id: 's' }), error('x', { session_id: 's' })], 's'],
  ])('%j binds %j', (lines, session) => {
    expect(outcome(run(lines).events).session).toBe(session)
  })

  test('an invalid one is named, a second one is a loss', () => {
    expect(codes(run([partial('a', { session_id: 'a\\b' })]).events)).toEqual(['invalid-session-id'])
    expect(run([partial('a', { session_id: 'x' }), partial('b', { session_id: 'y' })]).losses).toEqual([
      { kind: 'dropped', item: 'session-bound', field: 'session_id', why: 'policy', count: 1 },
    ])
  })
})

describe('usage', () => {
  test('of the result, with what has no place', () => {
    const usage = {
      input_tokens: 12,
      output_tokens: 3,
      total_tokens: 15,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 2,
      reasoning_tokens: 4,
      cost_usd: 0.001,
      duration_ms: 50,
    }
    expect(run([result('x', { usage })]).events[1]).toEqual({
      type: 'usage',
      turn: 't1',
      scope: 'turn',
      usage: { input: 12, output: 3, total: 15, cacheRead: 1, cacheWrite: 2, reasoning: 4, costUsd: 0.001 },
      ext: { protocol: 'agentproc@0.4', json: '{"duration_ms":50}' },
    })
  })

  test.each<[string, string[], unknown[]]>([
    [
      'the first one counts',
      [result('x', { usage: { input_tokens: 1 } }), error('y', { usage: { input_tokens: 2 } })],
      [{ input: 1 }],
    ],
    ['of an error', [error('', { usage: { output_tokens: 2 } })], [{ output: 2 }]],
    ['not of a partial', [partial('a', { usage: { input_tokens: 3 } })], []],
    ['an array is none', [result('x', { usage: [1, 2] })], []],
    ['zeros are unknown', [result('x', { usage: { input_tokens: 0, output_tokens: 0 } })], []],
    [
      'counts are numbers from zero',
      [result('x', { usage: { input_tokens: -1, output_tokens: '2', total_tokens: 3 } })],
      [{ total: 3 }],
    ],
    ['infinity is none', ['{"type":"result","text":"x","usage":{"input_tokens":1e999}}'], []],
  ])('%s', (_, lines, usage) => {
    expect(outcome(run(lines).events).usage).toEqual(usage)
  })
})

const DATA = join(PUBLISHED, 'agentproc-0.4')

test('the published cases', () => {
  const { cases } = JSON.parse(readFileSync(join(DATA, 'cases.json'), 'utf8')) as {
    cases: { line: string; expect: Record<string, unknown> }[]
  }
  expect(cases.length).toBeGreaterThan(30)
  for (const { line, expect: wanted } of cases) {
    const event = readLine(line)?.event as Record<string, unknown> | undefined
    const { type: kind, text, message, role, session_id } = event ?? { type: 'malformed' }
    const value = kind === 'permission_request' ? JSON.parse(line) : (text ?? message ?? line)
    expect(
      { kind, value, ...(role !== undefined && { role }), ...(session_id !== undefined && { session_id }) },
      line,
    ).toEqual(wanted)
  }
})

interface Scenario {
  name: string
  lines: string[]
  streaming: boolean
  expect: { reply: string; session_id: string; error: string; exit_code: number; partials: string[] }
}

test('the published scenarios', () => {
  const { scenarios } = JSON.parse(readFileSync(join(DATA, 'scenarios.json'), 'utf8')) as { scenarios: Scenario[] }
  expect(scenarios.length).toBeGreaterThan(15)
  for (const { name, lines, streaming, expect: wanted } of scenarios) {
    const found = outcome(run(lines, OK, { streaming }).events)
    expect(found.deltas, name).toEqual(wanted.partials)
    // A runner's reply is what its partials have not shown.
    if (wanted.partials.length === 0) expect(found.said ?? '', name).toBe(wanted.reply)
    expect(found.session, name).toBe(wanted.session_id)
    expect(found.fault?.message ?? '', name).toBe(wanted.error)
    expect(found.outcome, name).toBe(wanted.exit_code === 0 ? 'completed' : 'failed')
  }
})

describe('partials in a row', () => {
  const read = (options: Record<string, unknown>, ...lines: readonly string[]) => {
    const back = open(options)
    back.start('hello')
    const together = back.read('ndjson', lines.map((line) => `${line}\n`).join(''))
    back.link.decodeEnd(OK)
    return { ...outcome(back.events), together, losses: back.losses.length }
  }

  test('are read together, and the result that repeats them is their message', () => {
    const { deltas, said, together } = read(
      { streaming: true },
      ...['a', ' b', ' c'].map((text) => partial(text)),
      result('a b c'),
    )
    expect([deltas, said, together]).toEqual([['a', ' b', ' c'], 'a b c', 2])
  })

  test('are no text where only results are, after an error, and after the result', () => {
    const partials = ['a', 'b', 'c'].map((text) => partial(text))
    expect(read({ streaming: false }, ...partials, result('x'))).toMatchObject({ deltas: [], together: 0, losses: 3 })
    expect(read({ streaming: true }, error('no'), ...partials)).toMatchObject({ deltas: [], together: 0, losses: 3 })
    expect(read({ streaming: true }, result('x'), ...partials)).toMatchObject({ deltas: [], together: 0, losses: 0 })
  })

  test('show that an agent goes on after a line that was cut off', () => {
    const back = read({ streaming: true }, '{"type":"part', partial('a'), partial('b'))
    expect(back).toMatchObject({ deltas: ['a', 'b'], together: 2, outcome: 'completed' })
  })
})

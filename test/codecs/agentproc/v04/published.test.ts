/** The published conformance data of wire 0.4: what bridges and agents print. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TurnEvent } from '../../../../src/model/index.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'
import { given } from './fronts.ts'
import { outcome, run } from './runs.ts'

const DATA = join(PUBLISHED, 'agentproc-0.4')

interface Scenario {
  name: string
  turn: object
  /** Answers of the runner to what the agent asks. */
  stdin_after_turn?: string[]
  expect: { exit: number; exit_code: number; stdout_lines?: string[]; stdout_lines_any_of?: string[][] }
}

interface Line {
  type: string
  text?: string
  message?: string
  session_id?: string
}

const scenariosOf = (file: string): Scenario[] =>
  (JSON.parse(readFileSync(join(DATA, file), 'utf8')) as { scenarios: Scenario[] }).scenarios

/** Scenarios of which whole lines are published, with the lines. */
const bridges = scenariosOf('hub_bridge.json').flatMap(({ name, expect: { exit_code, ...told } }) => {
  const lines = told.stdout_lines ?? told.stdout_lines_any_of?.[0]
  return lines ? [{ name, exitCode: exit_code, lines }] : []
})

test('there are bridges and agents to read', () => {
  expect([bridges.length, agents.length]).toEqual([7, 9])
})

test.each(bridges)('a bridge: $name', ({ lines, exitCode }) => {
  const told = lines.map((line) => JSON.parse(line) as Line)
  const back = run(lines, { why: 'closed', exitCode })
  const found = outcome(back.events)
  const partials = told.flatMap(({ type, text }) => (type === 'partial' ? [text] : []))
  const result = told.find(({ type }) => type === 'result')?.text
  const error = told.find(({ type }) => type === 'error')?.message
  expect(found.deltas).toEqual(partials)
  // The text of the message is what was shown when that ends with the result.
  const shown = partials.join('')
  expect(found.said).toBe(result !== undefined && shown.endsWith(result) ? shown : result)
  expect(found.session).toBe(told.find(({ session_id }) => session_id)?.session_id ?? '')
  expect([found.outcome, found.fault?.message]).toEqual([error === undefined ? 'completed' : 'failed', error])
  expect(back.losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
})

/** What ours prints where it is not what the agent printed: a result always has the whole reply, an error is the end. */
const OURS: Record<string, { exit: number; lines: string[] }> = {
  'async-returns-none-after-partial': {
    exit: 0,
    lines: ['{"type":"partial","text":"streaming chunk"}', '{"type":"result","text":"streaming chunk"}'],
  },
  'async-send-error-then-return': { exit: 1, lines: ['{"type":"error","message":"warn"}'] },
}

const agents = scenariosOf('sdk.json').map(({ expect: { exit, stdout_lines }, stdin_after_turn, ...rest }) => {
  return { ...rest, answers: stdin_after_turn ?? [], exit, lines: stdout_lines! }
})

test.each(agents)('an agent behind a runner: $name', ({ name, turn, answers, exit, lines }) => {
  const back = run(lines, { why: 'closed', exitCode: exit }, { permission: 'permission' in turn })
  const session = lines.flatMap((line) => (JSON.parse(line) as Line).session_id ?? []).at(0)
  const front = given({ ...turn })
  const accepted = { type: 'turn-accepted', turn: 't1', how: 'new', session } as TurnEvent
  const events = back.events.filter((event): event is TurnEvent => event.turn !== null)
  const play = (more: readonly TurnEvent[]): void => front.play(more, front.commands[0]!.exchange)
  if (session !== undefined) play([accepted])
  const asked = events.findIndex(({ type }) => type === 'ask')
  play(events.slice(0, asked + 1))
  front.feed(...answers)
  play(events.slice(asked + 1).filter(({ type }) => type !== 'ask-settled'))
  // The request has an id of ours, by which the answer finds its question.
  const printed = front.sent.map((line) => String(line).replace(/"request_id":"[^"]+"/, '"request_id":"r1"'))
  expect({ exit: front.exitCode, lines: printed }).toEqual(OURS[name] ?? { exit, lines })
})

test('an error is the end of its turn, whatever is said after it', () => {
  const { lines } = agents.find(({ name }) => name === 'async-send-error-then-return')!
  const back = run(lines)
  const found = outcome(back.events)
  expect([found.outcome, found.fault?.message, found.said]).toEqual(['failed', 'warn', undefined])
  // What came after it is a diagnostic.
  expect(back.losses).toEqual([{ kind: 'dropped', item: 'message-end', field: 'result', why: 'policy', count: 1 }])
})

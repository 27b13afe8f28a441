import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/model/index.ts'
import { askHttp, type ClientName, clientNames, type Shown } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { engineBehaviours, type HostileEngine, startEngine } from './engine.ts'
import {
  ANSWER,
  agentLine,
  agentName,
  endsTold,
  inLanes,
  ownProcesses,
  type Program,
  programs,
  turnsOf,
} from './kit.ts'

/** What a turn has to come to: its answer, or the error that it failed with. */
type Ending = { text: string } | { code: ErrorCode }

const good: Ending = { text: ANSWER }
const empty: Ending = { text: '' }
const crashed: Ending = { code: 'agent-crashed' }
const violated: Ending = { code: 'protocol-violation' }
const late: Ending = { code: 'timeout' }

/** Agents for which the end of the process may be the end of the answer. */
const BY_EXIT: readonly Program[] = ['agentproc', 'agentproc@0.4']

function table(usual: Ending, others: Partial<Record<Program, Ending>> = {}): Record<Program, Ending> {
  return Object.fromEntries(programs.map((program) => [program, others[program] ?? usual])) as Record<Program, Ending>
}

const byExit = (ending: Ending): Partial<Record<Program, Ending>> =>
  Object.fromEntries(BY_EXIT.map((program) => [program, ending]))

/** How a turn ends on every agent that behaves so. */
const ENDINGS: Record<string, Record<Program, Ending>> = {
  'answers-well': table(good),
  // Where the protocol itself calls it a success, and nowhere else.
  'exits-0-without-answer': table(crashed, byExit(empty)),
  'says-nothing': table(empty, { zene: { code: 'internal' }, 'zene-stream': { code: 'internal' } }),
  'exits-1-without-answer': table(crashed),
  killed: table(crashed),
  'closes-stdout': table(late),
  // Half a line of plain text is a line like any other: only its exit code says what AgentProc 0.1 means by it.
  'truncates-a-line': table(crashed, { agentproc: { text: 'One "tw' } }),
  stalls: table(late),
  'answers-twice': table(good),
  // Without an exit there is no end of an answer that ends with it.
  'answers-then-hangs': table(good, { agentproc: late }),
  'grandchild-holds-stdout': table(good),
  // Plain text has no garbage: it is the answer.
  'garbage-line': table(good, { agentproc: { text: 'One garbage {{{ ]two three.' } }),
  banner: table(good, { agentproc: { text: `Welcome to Agent 1.0${ANSWER}` } }),
  'blank-lines-and-crlf': table(good),
  'stderr-flood': table(good),
}

/** The same for an engine that is reached over HTTP. */
const ENGINE_ENDINGS: Record<string, Ending> = {
  'answers-well': good,
  'exits-0-without-answer': violated,
  'exits-1-without-answer': crashed,
  killed: violated,
  'truncates-a-line': violated,
  stalls: late,
  'answers-twice': violated,
  // At its limit: no length and no last chunk say before that the answer is whole.
  'answers-then-hangs': good,
  'garbage-line': violated,
  banner: violated,
  'blank-lines-and-crlf': good,
}

interface Cell {
  front: ClientName
  back: Program | 'openharness'
  behaviour: string
  ending: Ending
}

/** What the next turn answers; a program of plain text that has a banner shows it in every turn. */
function nextText({ back, behaviour, ending }: Cell): string {
  return back === 'agentproc' && behaviour === 'banner' && 'text' in ending ? ending.text : ANSWER
}

const isEndless = ({ back, behaviour, ending }: Cell): boolean =>
  ending === late || (back === 'openharness' && ENGINE_ENDLESS.includes(behaviour))

const CELLS: Cell[] = clientNames.flatMap((front) => [
  ...Object.entries(ENDINGS).flatMap(([behaviour, endings]) =>
    programs.map((back) => ({ front, back, behaviour, ending: endings[back] })),
  ),
  ...Object.entries(ENGINE_ENDINGS).map(
    ([behaviour, ending]): Cell => ({ front, back: 'openharness', behaviour, ending }),
  ),
])

/** Only turns that have to run into a limit have a short one; it is long enough for a busy machine to start a program. */
const IMPATIENT = 'limits: { firstEvent: 5s, idle: 2s },'
/** An engine may be silent until it has its whole answer: only the whole turn bounds it. */
const ENGINE_IMPATIENT = 'limits: { total: 5s },'
const ENGINE_ENDLESS: readonly string[] = ['stalls', 'answers-then-hangs']

describe('every turn has exactly one ending, and an honest one', { timeout: 600_000 }, () => {
  let gateway: TestGateway
  let engine: HostileEngine
  const results = new Map<Cell, Promise<[Shown, Shown]>>()

  beforeAll(async () => {
    engine = await startEngine()
    const lines = Object.entries(ENDINGS).flatMap(([behaviour, endings]) =>
      programs.map((program) => agentLine(program, behaviour, endings[program] === late ? IMPATIENT : '')),
    )
    const engines = engineBehaviours.map(
      (behaviour) =>
        `  ${agentName('openharness', behaviour)}: { protocol: openharness, url: "${engine.url}/${behaviour}", ${ENGINE_ENDLESS.includes(behaviour) ? ENGINE_IMPATIENT : ''} breaker: { failures: 1000 } }\n`,
    )
    gateway = await startGateway(
      `
default: zot.answers-well
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 120s, grace: 200ms }
agents:
${lines.join('')}${engines.join('')}`,
      { starter: true },
    )
    // Those that wait for a limit need no processor meanwhile.
    for (const [lanes, cells] of [
      [8, CELLS.filter((cell) => !isEndless(cell))],
      [40, CELLS.filter(isEndless)],
    ] as const) {
      const all = inLanes(
        lanes,
        cells.map((cell) => () => converse(cell)),
      )
      for (const [at, cell] of cells.entries()) results.set(cell, all[at]!)
    }
  })
  afterAll(async () => {
    await gateway.close()
    engine.close()
  })

  const sessionOf = ({ front, back, behaviour }: Cell): string =>
    `s-${front}-${back}-${behaviour}`.replaceAll('@', '-').replaceAll('.', '-')

  /** A turn with an agent that misbehaves, and the next one of the session with one that does not. */
  async function converse(cell: Cell): Promise<[Shown, Shown]> {
    const session = sessionOf(cell)
    const agent = agentName(cell.back, cell.behaviour)
    const first = await askHttp(gateway.url, cell.front, { text: 'go', session, agent, id: `${session}-1` })
    const next = await askHttp(gateway.url, cell.front, { text: 'behave', session, agent, id: `${session}-2` })
    return [first, next]
  }

  for (const front of clientNames) {
    test.each(CELLS.filter((cell) => cell.front === front).map((cell) => [cell.back, cell.behaviour, cell] as const))(
      `${front} → %s that %s`,
      async (back, _behaviour, cell) => {
        const [first, next] = await results.get(cell)!
        const { ending } = cell
        // The flat answers of Zene know no empty success.
        const succeeds = 'text' in ending && !(front === 'zene' && ending.text === '')
        expect({ ok: first.ok, ends: endsTold(front, first.raw), raw: first.raw }).toEqual({
          ok: succeeds,
          ends: 1,
          raw: first.raw,
        })
        if (succeeds) expect(joined(back, first.text)).toBe(joined(back, ending.text))
        expect({ ok: next.ok, raw: next.raw }).toEqual({ ok: true, raw: next.raw })
        expect(joined(back, next.text)).toBe(joined(back, nextText(cell)))
        const store = join(gateway.folder, 'turnpike.db')
        await until(() => turnsOf(store, sessionOf(cell)).every(({ outcome }) => outcome !== null))
        const told = 'code' in ending ? { outcome: 'failed', code: ending.code } : { outcome: 'completed', code: null }
        expect(turnsOf(store, sessionOf(cell))).toMatchObject([
          { ...told, ends: 1, endsLast: true },
          { outcome: 'completed', ends: 1, endsLast: true },
        ])
      },
    )
  }

  test('nothing is left of the agents', async () => {
    await Promise.allSettled(results.values())
    await until(() => ownProcesses().length === 0)
    expect([...gateway.engine.turns]).toEqual([])
  })
})

/** Lines of plain text are messages of their own, which some clients part by line ends and some do not. */
function joined(back: string, text: string): string {
  return back === 'agentproc' ? text.replaceAll('\n', '') : text
}

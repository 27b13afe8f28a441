/** Hostile agents as a gateway's configuration, and what a client and the store have seen of a turn. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LOCAL_TENANT, type StoreLocation, type TurnRecord } from '../../src/contract/index.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import type { ErrorCode } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { type ClientName, clientOf } from '../kit/clients.ts'
import type { TestGateway } from '../kit/gateway.ts'
import { recordedEvents, TURNS } from '../kit/journal.ts'
import { pidsOf } from '../kit/processes.ts'
import { HOSTILE_AGENT } from './agent-file.ts'

/** What every hostile agent answers that answers at all. */
export const ANSWER = 'One two three.'

/** The agents that are programs, by their names here, with what their configuration says. */
export const PROGRAMS = {
  agentproc: 'protocol: agentproc',
  'agentproc@0.4': 'protocol: agentproc@0.4, permission: true',
  zene: 'protocol: zene',
  'zene-stream': 'protocol: zene, mode: stream',
  zot: 'protocol: zot',
  qwen: 'protocol: qwen',
  'qwen-code': 'protocol: qwen-code',
} as const

/** An agent that is a program. */
export type Program = keyof typeof PROGRAMS
/** All of them, for tables. */
export const programs = Object.keys(PROGRAMS) as Program[]

/** Every agent that is a program, with the one that speaks the model itself, and those that people install. */
export const BACKS = {
  ...PROGRAMS,
  native: 'protocol: native',
  acp: 'protocol: acp',
  'claude-code': 'protocol: claude-code',
  codex: 'protocol: codex',
} as const

/** An agent of any protocol that is reached as a program. */
export type Back = keyof typeof BACKS
/** All of them, for tables. */
export const backs = Object.keys(BACKS) as Back[]

/** Tells this test's processes from those of any other: a number of seconds that no other test sleeps. */
const MARK = String(10_000_000 + process.pid)

/** The name of an agent in the configuration: `@` has no place in one. */
export function agentName(protocol: string, behaviour: string): string {
  return `${protocol.replace('@', '-')}.${behaviour}`
}

/** Its line in the configuration; `more` ends with a comma. */
export function agentLine(program: Back, behaviour: string, more = ''): string {
  const command = `command: ${process.execPath}, args: [${HOSTILE_AGENT}, "${program}", ${behaviour}, "${MARK}"]`
  const pool = 'pool: { max: 1000, idle: 1s }, breaker: { failures: 1000 }'
  return `  ${agentName(program, behaviour)}: { ${BACKS[program]}, ${command}, ${more} ${pool} }\n`
}

/** The processes of this test's agents and of their grandchildren. */
export function ownProcesses(): number[] {
  return pidsOf(`\u0000${MARK}\u0000`)
}

/** How many ends a client was told; a sound answer has one, as the last thing. */
export function endsTold(front: ClientName, raw: string): number {
  const lines = raw.trimEnd().split('\n')
  const ends = lines.filter((line, at) => clientOf(front).isEnd(line, at === lines.length - 1))
  return ends.at(-1) === lines.at(-1) ? ends.length : 0
}

/** A turn as the store has it, with how many ends its journal holds and whether the last event is one. */
export interface KeptTurn {
  turn: string
  outcome: string | null
  code: ErrorCode | null
  ends: number
  endsLast: boolean
}

/** The turns of a client's session, the oldest first. `file` is the store's. */
export function turnsOf(file: string, session: string): KeptTurn[] {
  return kept(file, 'WHERE sessions.session = ?', session)
}

/** All turns of a store, the oldest first. */
export function allTurns(file: string): KeptTurn[] {
  return kept(file, '')
}

/** The turns of a client's session in the store of a gateway, of any kind, the oldest first. */
export async function turnsAt({ config, folder }: TestGateway, session: string): Promise<KeptTurn[]> {
  if (config.store.kind === 'sqlite') return turnsOf(join(folder, 'turnpike.db'), session)
  return (await turnsIn(config.store, { session })).reverse()
}

/** All turns of a store of any kind, or those of a session, the newest first. */
export async function turnsIn(at: StoreLocation, of: { session?: string } = {}): Promise<KeptTurn[]> {
  const store = await openStore(at)
  const records: TurnRecord[] = []
  let before: string | undefined
  do {
    const page = (await store.listTurns({ tenant: LOCAL_TENANT, limit: 1000, ...(before && { before }), ...of }))!
    records.push(...page.rows)
    before = page.next
  } while (before !== undefined)
  const turns = records.map(async ({ turn, outcome = null, code = null }) => {
    const types = numbered(await store.readEvents(turn, 0), 0).map(({ event: { type } }) => type)
    const ends = types.filter((type) => type === 'turn-end').length
    return { turn, outcome, code: code as ErrorCode | null, ends, endsLast: types.at(-1) === 'turn-end' }
  })
  return Promise.all(turns).finally(() => store.close())
}

function kept(file: string, where: string, ...values: string[]): KeptTurn[] {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    const rows = db
      .prepare(
        `SELECT turn, outcome, code FROM ${TURNS} AS turns JOIN sessions ON sessions.id = turns.session ${where}
         ORDER BY started_at`,
      )
      .all(...values)
    return rows.map((row) => {
      const { turn, outcome, code } = row as Pick<KeptTurn, 'turn' | 'outcome' | 'code'>
      const types = recordedEvents(db, turn).map(({ type }) => type)
      const ends = types.filter((type) => type === 'turn-end').length
      return { turn, outcome, code, ends, endsLast: types.at(-1) === 'turn-end' }
    })
  } finally {
    db.close()
  }
}

/** Runs the steps, so many at a time, and gives each one's result as a promise of its own. */
export function inLanes<T>(lanes: number, steps: readonly (() => Promise<T>)[]): Promise<T>[] {
  const waiting: (() => void)[] = []
  let free = lanes
  const run = async (step: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1
    else await new Promise<void>((go) => waiting.push(go))
    try {
      return await step()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
  return steps.map((step) => {
    const result = run(step)
    // Whoever awaits it sees the failure; until then it is not unhandled.
    result.catch(() => {})
    return result
  })
}

import { count } from '../common/index.ts'
import { keepsContent, type Turn } from '../turn/index.ts'
import { type Cell, type Figure, figureOf, heardCell, newSum, type ToldCell, toldCell } from './figure-sums.ts'
import type { Scope } from './watch.ts'

/** The minutes that are kept. */
const MINUTES = 60
const MINUTE_MS = 60_000
/**
 * The pairs of tenant and agent that are counted separately in one minute; further ones are counted together, for those
 * who may see everything.
 */
const MOST_CELLS = 200
/** The errors that are kept and shown for an agent. */
const KEPT_ERRORS = 50
const GIVEN_ERRORS = 10
/** The characters that are kept of an error's message and of stderr: of this the end. */
const MESSAGE_LENGTH = 1000
const STDERR_LENGTH = 4096

/** A failure of a tenant's turns; failures with the same `kind` are one. */
interface Failure {
  tenant: string
  kind: string
  error: AgentError
}

/**
 * A failure of an agent's turns: the newest of those that say the same, and how many they are; its message as far as
 * content is kept. `stderr` is the end of what its process wrote there, for operators.
 */
export interface AgentError {
  at: number
  turn: string
  times: number
  code: string
  message?: string
  stderr?: string
}

/**
 * The figures of the last hour, minute by minute, of the turns that ended in this process. A turn costs a few additions;
 * memory is bounded by `MOST_CELLS` in each minute, and by the errors of each agent.
 */
export class Figures {
  /** By the number of the minute. */
  readonly #minutes = new Map<number, Map<string, Cell>>()
  /** The newest last. */
  readonly #errors = new Map<string, Failure[]>()

  /** Counts an ended turn. */
  ended(turn: Turn): void {
    const { view, scope, agent, session } = turn
    const { tenant } = session.record
    const cells = this.#cellsAt(Math.floor(view.at / MINUTE_MS))
    const { sum } = cellOf(cells, tenant, agent.name)
    sum.turns += 1
    sum.input += view.usage?.input ?? 0
    sum.output += view.usage?.output ?? 0
    sum.costUsd += view.usage?.costUsd ?? 0
    count(sum.total, view.at - view.startedAt)
    if (scope.firstEventMs !== undefined) count(sum.firstEvent, scope.firstEventMs)
    if (view.end?.outcome !== 'failed') return
    sum.failed += 1
    this.#keepError(turn, tenant)
  }

  /** The figures of each of the last 60 minutes, the oldest first, as the scope may see them. */
  minutes(scope: Scope, now: number, others: readonly ToldCell[] = []): (Figure & { at: number })[] {
    const last = Math.floor(now / MINUTE_MS)
    return Array.from({ length: MINUTES }, (_, index) => {
      const minute = last - MINUTES + 1 + index
      const cells = [...(this.#minutes.get(minute)?.values() ?? [])].filter((cell) => isSeen(scope, cell))
      const told = others.filter((other) => other.minute === minute).map(heardCell)
      return { at: minute * MINUTE_MS, ...figureOf([...cells, ...told]) }
    })
  }

  /** The figures of an agent in the last hour, and its last errors, the newest first. */
  agent(name: string, scope: Scope, now: number, others: readonly ToldCell[] = []): Figure & { errors: AgentError[] } {
    const own = this.#lastHour(scope, now).flatMap(([, cells]) => cells)
    const cells = [
      ...own.filter(({ agent }) => agent === name),
      ...others.filter(({ agent }) => agent === name).map(heardCell),
    ]
    const errors = (this.#errors.get(name) ?? []).filter((failed) => isSeen(scope, failed)).map(({ error }) => error)
    return { ...figureOf(cells), errors: errors.slice(-GIVEN_ERRORS).reverse() }
  }

  /** The cells of the last hour that the scope may see, as they are sent to another replica. */
  told(scope: Scope, now: number): ToldCell[] {
    return this.#lastHour(scope, now).flatMap(([minute, cells]) => cells.map((cell) => toldCell(minute, cell)))
  }

  #lastHour(scope: Scope, now: number): [minute: number, cells: Cell[]][] {
    const oldest = Math.floor(now / MINUTE_MS) - MINUTES + 1
    const minutes = [...this.#minutes].filter(([minute]) => minute >= oldest)
    return minutes.map(([minute, cells]) => [minute, [...cells.values()].filter((cell) => isSeen(scope, cell))])
  }

  #cellsAt(minute: number): Map<string, Cell> {
    const known = this.#minutes.get(minute)
    if (known) return known
    for (const old of this.#minutes.keys()) if (old <= minute - MINUTES) this.#minutes.delete(old)
    const cells = new Map<string, Cell>()
    this.#minutes.set(minute, cells)
    return cells
  }

  #keepError(turn: Turn, tenant: string): void {
    const { id, agent, view, scope } = turn
    const errors = this.#errors.get(agent.name) ?? []
    this.#errors.set(agent.name, errors)
    const { code, message } = view.end?.fault ?? { code: 'internal', message: '' }
    const stderr = scope.stderr?.slice(-STDERR_LENGTH)
    const said = keepsContent(turn) && { message: message.slice(0, MESSAGE_LENGTH), ...(stderr && { stderr }) }
    // Numbers in a message do not make another failure of it, so that a frequent one does not push out the others.
    const kind = `${code} ${message.slice(0, MESSAGE_LENGTH).replaceAll(/\d+/g, '0')}`
    const same = errors.findIndex((failure) => failure.tenant === tenant && failure.kind === kind)
    const times = same < 0 ? 1 : errors.splice(same, 1)[0]!.error.times + 1
    errors.push({ tenant, kind, error: { at: view.at, turn: id, times, code, ...said } })
    if (errors.length > KEPT_ERRORS) errors.shift()
  }
}

/** True for what belongs to a tenant in the scope. */
function isSeen(scope: Scope, { tenant }: { tenant: string }): boolean {
  return scope !== 'none' && (scope.tenant === undefined || scope.tenant === tenant)
}

/** The cell of a tenant's agent; beyond the bound, the cell of the rest, which belongs to no tenant and no agent. */
function cellOf(cells: Map<string, Cell>, tenant: string, agent: string): Cell {
  const key = `${tenant}\n${agent}`
  const known = cells.get(key)
  if (known) return known
  if (cells.size >= MOST_CELLS && key !== '\n') return cellOf(cells, '', '')
  const cell = { tenant, agent, sum: newSum() }
  cells.set(key, cell)
  return cell
}

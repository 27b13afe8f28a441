/** Makes cases out of seeds, finds those that break a law, and makes them small. */
import type { CallEnd } from '../../src/contract/index.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { Broken } from './checks.ts'
import { mutated } from './mutate.ts'
import { judge, play } from './play.ts'
import { Random } from './random.ts'
import { ACTS, type Case, type Target } from './targets.ts'

/** A case that broke a law. */
export interface Finding {
  law: string
  message: string
  one: Case
  cuts: number[]
}

const ENDS: readonly CallEnd[] = [
  { why: 'closed', exitCode: 0 },
  { why: 'closed', exitCode: 1, stderr: 'PROTOCOL: invalid JSON payload' },
  { why: 'closed', exitCode: 2 },
  { why: 'closed', signal: 'SIGKILL' },
  { why: 'closed' },
  { why: 'timeout', signal: 'SIGTERM' },
  { why: 'cancelled', exitCode: 143 },
  { why: 'failed', fault: { code: 'agent-unavailable', message: 'It is not there.', retryable: true } },
]
const HEADS: readonly string[] = [
  'application/json',
  'text/event-stream',
  'text/html',
  'text/event-stream; charset=utf-8',
]
const STATUSES: readonly number[] = [200, 200, 201, 204, 302, 400, 401, 404, 409, 422, 429, 500, 503]

/** A changed seed of the target; the same `seed` makes the same case. `others` are wires that lines are taken from. */
export function makeCase(
  target: Target,
  seeds: readonly Case[],
  others: readonly Buffer[],
  seed: number,
): { one: Case; cuts: number[] } {
  const random = new Random(seed)
  const from = random.pick(seeds)
  const one: Case = { ...from, wire: mutated(from.wire, others, random) }
  if (target.half === 'back') changeBack(one, random)
  else changeFront(one, random)
  const cuts = Array.from({ length: random.below(12) }, () => random.below(one.wire.length + 1))
  return { one, cuts: random.once(10) ? everywhere(one.wire) : cuts }
}

function everywhere({ length }: Buffer): number[] {
  return length > 20_000 ? [] : Array.from({ length }, (_, at) => at)
}

function changeBack(one: Case, random: Random): void {
  if (random.once(3)) one.end = random.pick(ENDS)
  if (random.once(6))
    one.head = { status: random.pick(STATUSES), headers: { 'content-type': random.pick(HEADS), 'retry-after': '7' } }
  if (random.once(3))
    one.acts = Array.from({ length: 1 + random.below(3) }, () => ({ at: random.below(8), act: random.pick(ACTS) }))
}

function changeFront(one: Case, random: Random): void {
  const { argv = [], headers = {}, env = {} } = one.context ?? {}
  const changed = <T>(list: readonly T[]): T[] =>
    list.flatMap((held) => (random.once(6) ? [] : random.once(8) ? [held, held] : [held]))
  const values = (of: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      changed(Object.entries(of)).map(([key, value]) => [
        key,
        random.once(6) ? mutated(Buffer.from(value), [one.wire], random).toString() : value,
      ]),
    )
  if (random.once(3)) one.context = { ...one.context, argv: changed(argv), headers: values(headers), env: values(env) }
}

/** The law that the case breaks, if it does. */
export function brokenBy(target: Target, one: Case, cuts: readonly number[]): Broken | undefined {
  try {
    judge(target, one, cuts)
    return undefined
  } catch (error) {
    if (error instanceof Broken) return error
    throw error
  }
}

/** The events of the turn that an agent's case makes, for showing them to clients of every protocol. */
export function eventsOf(target: Target, one: Case): TurnEvent[] {
  return play(target, one)
    .filter((line) => line.startsWith('event '))
    .map((line) => JSON.parse(line.slice('event '.length)) as TurnEvent)
    .filter(({ turn }) => turn === 't1')
}

/** The case with as little as breaks the same law: fewer lines, then fewer events, no context that does not matter. */
export function shrunk(target: Target, { law, message, one, cuts }: Finding): Finding {
  const still = (smaller: Case, at: number[]): boolean => brokenBy(target, smaller, at)?.law === law
  let best = one
  const at = still(best, []) ? [] : cuts
  for (const key of ['acts', 'head', 'end', 'start', 'turn'] as const) {
    const { [key]: _left, ...rest } = best
    if (still(rest, at)) best = rest
  }
  best = withFewer(best, (part) => still(part, at))
  const { turn } = best
  for (let index = (turn?.length ?? 0) - 1; index >= 0; index -= 1) {
    const fewer = { ...best, turn: best.turn!.filter((_, other) => other !== index) }
    if (still(fewer, at)) best = fewer
  }
  return { law, message, one: best, cuts: at }
}

function withFewer(one: Case, still: (smaller: Case) => boolean): Case {
  let lines = one.wire.toString('latin1').split('\n')
  for (let size = Math.max(1, lines.length >> 1); size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let from = 0; from < lines.length; ) {
      const fewer = [...lines.slice(0, from), ...lines.slice(from + size)]
      if (fewer.length > 0 && still({ ...one, wire: Buffer.from(fewer.join('\n'), 'latin1') })) lines = fewer
      else from += size
    }
  }
  return { ...one, wire: Buffer.from(lines.join('\n'), 'latin1') }
}

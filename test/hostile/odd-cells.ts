/** Which misbehaviour is tried on which protocol. */
import { join } from 'node:path'
import { type Back, backs } from './kit.ts'
import type { Outcomes } from './outcomes.ts'

/** One behaviour of an agent of one protocol. */
export interface Cell {
  behaviour: string
  back: Back
}

const KIB = 1024

/** Those whose amount is the point are tried where the framing differs: lines of JSON, lines of text. */
const BY_FRAMING: readonly Back[] = ['zot', 'agentproc']
const HEAVY: readonly string[] = [
  ...['line-of-4-mib', 'line-of-16-mib', 'line-over-the-limit', 'thirty-lines-of-1-mib', 'stderr-for-ever'],
  ...['a-million-blank-lines', 'many-tiny-lines', 'split-characters', 'never-stops'],
]
/** Protocols in which something is said before the first prompt, and what only they can do. */
const GREETING: readonly Back[] = ['zot', 'qwen-code', 'native', 'zene-stream', 'acp', 'claude-code', 'codex']
const OF_GREETINGS: readonly string[] = ['no-greeting', 'refuses-the-greeting']
/** What becomes of a process of one turn after its answer. */
const AFTER_THE_ANSWER: readonly string[] = [
  ...['stays-after-the-answer', 'closes-stdout-after-the-answer', 'fails-after-the-answer'],
]

/** What begins before the prompt, so that it needs an agent of its own. */
const FROM_THE_START: readonly string[] = [
  ...['byte-order-mark', 'reads-all-first', 'never-reads', 'no-greeting', 'refuses-the-greeting'],
  ...['frames-before-the-greeting', 'dies-at-start', 'stderr-for-ever'],
  ...['command-not-found', 'command-not-executable', 'command-is-a-directory'],
]
/** A start that never comes to its end, whatever it is called then. */
const STARTS_NEVER: readonly string[] = ['reads-all-first', 'never-reads', 'no-greeting']
/** Only a time limit shows that the answer is whole. */
const NEEDS_A_LIMIT: readonly string[] = ['no-newline-then-stays']

const PROMPTS: Readonly<Record<string, number>> = {
  'prompt-of-127-kib': 127 * KIB,
  'prompt-of-128-kib-less-1': 128 * KIB - 1,
  'prompt-of-128-kib': 128 * KIB,
  'prompt-of-1-mib': 1024 * KIB,
}
/** They do not read it; in the environment it would not even reach them. */
const UNREAD: readonly string[] = ['never-reads', 'dies-at-start']

/** Agents of one turn, which leave by themselves. */
const ONE_TURN: readonly Back[] = ['agentproc', 'agentproc@0.4', 'zene']

/** Whether one process serves many turns. */
export function isPersistent(back: Back): boolean {
  return !ONE_TURN.includes(back)
}

/** Whether the cell needs an agent of its own. */
export function isOfItsOwn({ behaviour }: Cell): boolean {
  return FROM_THE_START.includes(behaviour)
}

/**
 * Whether it shares its process and session with other cells; who says much does not, so that their journal stays small.
 * Updates of ACP name no turn: what is said late there may come into the next one.
 */
export function isShared(cell: Cell): boolean {
  const { behaviour, back } = cell
  const isLoud = HEAVY.includes(behaviour) || behaviour === 'line-of-1-mib'
  const isLate = back === 'acp' && behaviour === 'frames-after-the-end'
  return isPersistent(back) && !isOfItsOwn(cell) && !isLoud && !isLate
}

/** Whether its turn has to run into a time limit. */
export function isEndless({ behaviour, back }: Cell, kept: Outcomes): boolean {
  if (STARTS_NEVER.includes(behaviour) || NEEDS_A_LIMIT.includes(behaviour)) return true
  return kept[behaviour]?.[back]?.startsWith('timeout') === true
}

/** What the agent is asked. */
export function promptOf({ behaviour, back }: Cell): string {
  const length = PROMPTS[behaviour]
  if (length !== undefined) return 'answers-well '.padEnd(length, '.')
  return UNREAD.includes(behaviour) && back !== 'agentproc' ? `${behaviour} `.padEnd(1024 * KIB, '.') : `${behaviour} `
}

/** All cells, in the order of the agent's own tables. */
export async function cells(): Promise<Cell[]> {
  const behaviours = [
    ...(await namesIn('odd-wires.mjs', 'WIRES')),
    ...(await namesIn('odd-processes.mjs', 'PROCESSES')),
    ...Object.keys(PROMPTS),
    ...FROM_THE_START.filter((name) => name.startsWith('command')),
  ]
  return behaviours.flatMap((behaviour) => backsOf(behaviour).map((back) => ({ behaviour, back })))
}

function backsOf(behaviour: string): readonly Back[] {
  if (HEAVY.includes(behaviour)) return BY_FRAMING
  if (AFTER_THE_ANSWER.includes(behaviour)) return ONE_TURN
  return OF_GREETINGS.includes(behaviour) ? GREETING : backs
}

async function namesIn(file: string, table: string): Promise<string[]> {
  const exported = (await import(join(import.meta.dirname, 'agent', file))) as Record<string, object>
  return Object.keys(exported[table]!)
}

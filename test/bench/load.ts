/** Loads of turns from a process of their own. */
import type { RequestKind } from './answers.ts'
import { cpuMicros, program } from './processes.ts'

/** The length of a load without a number of turns. */
export interface LoadLength {
  /** How long it goes on, in milliseconds. */
  ms: number
  /** It goes on until it has had so many turns, if there is time. */
  leastTurns?: number
  /** How long it goes on for their sake, in milliseconds. */
  mostMs?: number
}

/** What the load does. */
export interface LoadJob extends LoadLength {
  port: number
  /** `{session}` in it is the name of the session. */
  path: string
  /** A path on which each session's events are streamed beside the answers; they are read and thrown away. */
  follow?: string
  kind: RequestKind
  headers?: Readonly<Record<string, string>>
  /** What the agent is asked. */
  text: string
  /** What an answer must hold; the first time it is seen is the first event. */
  mark: string
  /** Connections, each with one turn at a time. */
  width: number
  /** The number of turns, instead of a time. */
  turns?: number
  /** A connection begins a turn no sooner than so many milliseconds after its turn before. */
  everyMs?: number
  /** How long it does nothing before the last of its `turns`, in milliseconds. */
  restMs?: number
  /** The beginning of the names of its sessions; every connection has one, or every turn with `freshSessions`. */
  sessions: string
  freshSessions?: boolean
}

/** What came of it. Times in milliseconds: to the first event, and to the end of the answer. */
export interface LoadResult {
  turns: number
  /** Answers with another status than 200, or without the mark. */
  broken: number
  seconds: number
  firsts: number[]
  lasts: number[]
}

/** A result with what the server's process spent on it, in microseconds. */
export interface Measured extends LoadResult {
  cpu: number
}

/** How much longer than it should a load may take, in milliseconds: then a turn has no answer. */
const PATIENCE_MS = 120_000

/** Runs a load on the server with this process id. Every connection has had one turn before anything is measured. */
export async function load(pid: number, job: LoadJob): Promise<Measured> {
  const running = program('programs/load.ts', [JSON.stringify(job)])
  const patience = setTimeout(() => running.child.kill('SIGKILL'), Math.max(job.ms, job.mostMs ?? 0) + PATIENCE_MS)
  await running.line()
  const before = cpuMicros(pid)
  running.child.stdin!.write('go\n')
  const result = JSON.parse(await running.line()) as LoadResult
  const cpu = cpuMicros(pid) - before
  clearTimeout(patience)
  await running.stop()
  if (result.broken > 0)
    throw new Error(`${result.broken} of ${result.turns} turns of ${job.path} have no right answer`)
  return { ...result, cpu }
}

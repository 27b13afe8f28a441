import { type AgentEvent, type Command, type Fault, fault, type Id, type Loss, type TextRun } from '../model/index.ts'
import type { Carrier } from './carrier.ts'
import type { Frame, Framing, WireText } from './frame.ts'

/**
 * One process or HTTP call inside a back link. `call` names it; absent is fine while a link has one call at a time. For
 * a process, absent members come from the agent's configuration; `env` is added to the configured one. `stdin: 'end'`
 * means that nothing more is written after the frames sent in the same synchronous step.
 */
export type Call = { call?: string } & (
  | {
      kind: 'process'
      command?: string
      args?: readonly string[]
      cwd?: string
      env?: Readonly<Record<string, string>>
      stdin: 'open' | 'end'
    }
  | {
      kind: 'http'
      method: string
      /** Appended to the configured URL. */
      path?: string
      headers?: Readonly<Record<string, string>>
      body: string
      /** Framing of the answer; an answer of type `text/event-stream` is always read as SSE. */
      answer: Framing
    }
)

/** The head of an HTTP answer; header names are lower-case. */
export interface CallHead {
  call?: string
  status: number
  headers: Readonly<Record<string, string>>
}

/** The end of a call. `stderr` is its first and last 4 KiB and may hold secrets: for logs, never for clients. */
export interface CallEnd {
  call?: string
  /**
   * `closed`: the process exited or the answer is complete. `failed`: it never started, or the connection broke (see
   * `fault`).
   */
  why: 'closed' | 'timeout' | 'cancelled' | 'failed'
  exitCode?: number
  signal?: string
  /** The process has ended, or had closed its input, without reading anything of what was written last. */
  unread?: true
  stderr?: string
  fault?: Fault
  /** The gateway has ended it because its output cannot be read, such as a line over the limit. */
  unreadable?: true
}

/** A text file that an agent has its client read or write: `path` is absolute, `roots` are the folders it has to be in. */
export type FileRequest = { path: string; roots: readonly string[] } & (
  | {
      kind: 'read'
      /** The first line, from 1, and the number of lines. */
      line?: number
      limit?: number
    }
  | { kind: 'write'; text: string }
)

/** The text that was read, '' after a write; or the reason why neither was done. */
export type FileResult = { text: string } | { failure: 'outside' | 'missing' | 'no-file' | 'too-large' | 'failed' }

/** The functions that a back link calls. None of them throws; all are synchronous. */
export interface BackPorts {
  emit(event: AgentEvent): void
  /** Starts a process or an HTTP call. Frames sent right after it are its input. */
  open(call: Call): void
  /** Writes a frame to the open process (an object's `call` says which; the newest otherwise). */
  send(frame: Frame): void
  /** Ends the input of a call. */
  end(call?: string): void
  /**
   * Says that only the end of a call is still expected: a process that does not exit soon by itself is stopped. For
   * protocols whose answer needs the exit code or stderr. Absent when calls are replayed.
   */
  leave?(call?: string): void
  /** The trace context of the turn that runs, for wires whose requests say it. Absent when calls are replayed. */
  trace?(): Carrier
  /** Reads or writes a file for the agent; `done` is called once, later. Absent where there are no files. */
  file?(request: FileRequest, done: (result: FileResult) => void): void
  /**
   * The wire is broken beyond what a `turn-end` can say: the engine ends the link and fails its turn. What the wire
   * survives is a loss, a notice or the end of its turn.
   */
  broken(fault: Fault): void
  report(loss: Loss, turn: Id): void
  /** A new id, unique within the link. Ids are counted, so that the same wire gives the same ids. */
  newId(): Id
}

/** One agent's wire: a process with its handshakes, or the calls of one session. No method throws. */
export interface BackLink {
  /**
   * Called before any command: starts the process that lives as long as the session, and its handshake. Absent: every
   * turn opens its own call. `bound` is the agent's own id of the session that the process is for, when the agent
   * reported one.
   */
  open?(bound?: string): void
  /** Encodes a command for the agent. Turns come one at a time. */
  encode(command: Command): void
  decodeHead?(head: CallHead): void
  decode(frame: Frame): void
  /**
   * Reads frames in a row that are pieces of text of one message, one each, and moves the place of the wire to their end.
   * Returns the pieces, which are not emitted; undefined when there are none. They are read with less work than by `decode`.
   */
  decodeTexts?(wire: WireText): TextRun | undefined
  /** A call ended. A turn that is still open must be ended here (`faultOfEnd` gives the fault). */
  decodeEnd(end: CallEnd): void
}

/** The context that a back link is opened with. */
export interface BackContext<O> {
  /** The codec's own options, validated. */
  options: O
  agent: string
  /** The gateway's environment, for `${VAR}`. */
  env: Readonly<Record<string, string>>
  /** Absolute folder of the file that configures the agent. */
  folder: string
  /** The configured process, before any substitution; `args` is undefined when the configuration has none. */
  process?: { command: string; args?: readonly string[]; env: Readonly<Record<string, string>>; cwd: string }
  /**
   * The frames are a recording of what the agent sent to another client: no handshake is awaited, nothing is set before
   * a turn, and an answer is matched by its kind (its id is that client's). Answers to requests that are not recorded
   * are `foreign` (`agent`); recorded ones were answered by the client's front (`both`).
   */
  recorded?: 'agent' | 'both'
  /**
   * The turns that are known to be on a recorded wire of several turns: messages about another one of them are not for
   * this link.
   */
  turns?: ReadonlySet<Id>
}

/** The value of the last of these options in an agent's configured arguments, as `--name VALUE` or `--name=VALUE`. */
export function argumentOf({ process }: BackContext<unknown>, ...names: readonly string[]): string | undefined {
  const args = process?.args ?? []
  const at = args.findLastIndex((arg) => names.includes(arg.split('=', 1)[0]!))
  const arg = args[at]
  if (arg === undefined) return undefined
  return (arg.includes('=') ? arg.slice(arg.indexOf('=') + 1) : args[at + 1]) || undefined
}

/** The fault of a turn whose call ended without its answer. */
export function faultOfEnd(end: CallEnd): Fault {
  if (end.fault) return end.fault
  if (end.why === 'timeout') return fault('timeout', 'The agent did not answer within its time limit.')
  if (end.why === 'cancelled') return fault('cancelled', 'The turn was cancelled.')
  if (end.why === 'failed') return fault('agent-unavailable', 'The agent could not be reached; see the gateway log.')
  return fault(
    'agent-crashed',
    `The agent ${describeExit(end)} before it had answered; see its stderr in the gateway log.`,
  )
}

function describeExit(end: CallEnd): string {
  if (end.signal) return `was ended by ${end.signal}`
  if (end.exitCode !== undefined) return `exited with code ${end.exitCode}`
  return 'closed its output'
}

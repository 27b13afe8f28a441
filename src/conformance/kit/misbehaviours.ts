import type { JsonRecord, Step } from './suite.ts'

/** What hostile programs do, whichever side they are on. A new one is a name here and a row in a table of `src/conformance`. */
export const BEHAVIOURS = [
  'answers-well',
  'says-nothing',
  'banner',
  'log-lines-everywhere',
  'garbage-line',
  'lost-boundary',
  'lines-that-are-no-objects',
  'blank-lines-and-crlf',
  'byte-order-mark',
  'ansi-colours',
  'raw-nul',
  'nul-in-text',
  'invalid-utf-8',
  'split-characters',
  'raw-separators',
  'lone-surrogate',
  'line-of-1-mib',
  'line-of-4-mib',
  'prompt-of-1-mib',
  'no-newline-at-the-end',
  'half-a-line-then-stalls',
  'half-a-line-then-ends',
  'odd-numbers-and-keys',
  'deep-json',
  'duplicate-keys',
  'unknown-messages-and-fields',
  'ids-are-0',
  'ids-are-empty',
  'ids-are-equal',
  'foreign-ids',
  'cancels-nothing',
  'answers-twice',
  'frames-after-the-end',
  'exits-0-in-the-answer',
  'exits-1-without-answer',
  'dies-at-start',
  'stderr-before-stdout',
  'slow-first-byte',
  'cut-in-the-body',
  'closes-without-answer',
  'wrong-content-type',
  'status-200-without-envelope',
  'status-500-without-envelope',
] as const

/** The name of a behaviour. */
export type Behaviour = (typeof BEHAVIOURS)[number]

/**
 * What a program under test has to make of a behaviour. Whatever it is, it ends in time, and is never wrong about the
 * answer. `answer`: the wire is right, so the answer is there. `advised`: the wire is wrong, its meaning is not; a
 * program that fails gets a warning. `honest`: the answer or an error. `error`: there is no answer. `untried`: it means
 * nothing in this protocol.
 */
export type Demand = 'answer' | 'advised' | 'honest' | 'error' | 'untried'

/** How the frames of a wire are told apart: JSON objects one a line, lines of text, or one JSON object. */
export type WireForm = 'objects' | 'text' | 'body'

/** What hostile tests have to know of a protocol. Its good answer is the one of the suite's `play`. */
export interface HostileFacts {
  /** What the names of its rules begin with. */
  readonly prefix: string
  readonly form: WireForm
  /** The sections of the protocol's text that the frames and the life of a program are in. */
  readonly section: string
  /** Whether a frame of `play` is the one that ends its turn. */
  readonly isLast: (frame: string) => boolean
  /** The exit code of an agent that leaves its turn without an end; 0 where frames alone tell that. */
  readonly unfinishedExit?: number
  /** The members of a frame that say whose answer it is. */
  readonly owner?: readonly string[]
  /** What the protocol demands of clients, and of agents, where that is not what a wire of its form has in general. */
  readonly clients?: Readonly<Partial<Record<Behaviour, Demand>>>
  readonly agents?: Readonly<Partial<Record<Behaviour, Demand>>>
  readonly turns: HostileTurns
}

/** How an agent is asked. */
export interface HostileTurns {
  /** What comes before any turn. */
  readonly opening?: readonly Step[]
  /** The request for a turn: one JSON object; nothing where it is in the environment. */
  readonly request?: (id: string, prompt: string) => JsonRecord
  /** The variables of a request. */
  readonly env?: (prompt: string) => Readonly<Record<string, string>>
  /** The id of the turn that this ends, refused ones included; empty where the wire does not name it. */
  readonly endOf: (said: JsonRecord) => string | undefined
  /** Whether one process serves turns one after the other. */
  readonly many: boolean
  /** The members of a request that name it. */
  readonly ids?: readonly string[]
  /** Cancels a turn; a command that there is not. */
  readonly cancel?: (id: string) => JsonRecord
  readonly unknown?: JsonRecord
  /** An agent may refuse what it cannot read by its exit code alone. */
  readonly silentRefusal?: true
  /** Answers to what the agent asks. */
  readonly answer?: (asked: JsonRecord) => readonly string[]
}

import type { Behaviour, Demand, WireForm } from './misbehaviours.ts'

/** A JSON object as it was read. */
export type JsonRecord = Record<string, unknown>

/** A line that a program under test wrote; a whole body is one line. */
export interface SeenLine {
  /** Without its LF; a CR stays. */
  readonly text: string
  /** Whether an LF ended it. */
  readonly ended: boolean
  /** The JSON object that it is, if it is one. */
  readonly object?: JsonRecord
  /** How many steps of the scenario were done when it came. */
  readonly step: number
}

/** All that was seen of one run of an agent. */
export interface Run {
  readonly scenario: string
  /** What `RUN_ID` stood for. */
  readonly id: string
  readonly transport: 'stdio' | 'http'
  readonly lines: readonly SeenLine[]
  /** The output as it came; cut at 16 Mi characters. */
  readonly output: string
  /** `exited`: by itself; `hung`: ended by us when its time was over; `failed`: it never started, or the connection broke. */
  readonly end: 'exited' | 'hung' | 'failed'
  readonly exitCode?: number
  readonly signal?: string
  /** HTTP only; header names are lower-case. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** One entry of what went over a client's wire, in order. */
export type Heard =
  | { readonly is: 'in'; readonly line: SeenLine }
  | { readonly is: 'out'; readonly text: string }
  | { readonly is: 'eof' }
  | { readonly is: 'signal'; readonly name: string }
  /** Whoever started the stand-in ended before it. */
  | { readonly is: 'orphaned' }
  | { readonly is: 'exit' }

/** One stand-in process, or one HTTP request, of a client under test. */
export interface Visit {
  readonly transport: 'stdio' | 'http'
  readonly argv: readonly string[]
  /** The variables that the suite asks for. */
  readonly env: Readonly<Record<string, string>>
  readonly heard: readonly Heard[]
  /** HTTP only; header names are lower-case. */
  readonly request?: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
  }
}

/** All that was seen of one run of a client. */
export interface ClientRun {
  readonly visits: readonly Visit[]
  readonly end: 'exited' | 'hung' | 'failed'
  readonly exitCode?: number
}

/** What a judge says: nothing when the rule is kept. A warning is told, but does not count. */
export type Verdict =
  | { readonly broken: string }
  | { readonly warning: string }
  | { readonly skipped: string }
  | undefined

/** What rules of both sides have. */
interface RuleText {
  /** Protocol, section of its text, name: `<protocol>.<section>.<name>`. */
  readonly id: string
  /** The section of the protocol's text, with its heading. */
  readonly section: string
  /** What a program has to do, in one sentence. */
  readonly expects: string
  /** Real programs do otherwise, and their peers live with it: what is broken is told, but does not count. */
  readonly lenient?: true
  /** Ids of rules without which this one says nothing: when one of them is broken, this one is skipped. */
  readonly needs?: readonly string[]
}

/** A rule for agents. */
export interface AgentRule extends RuleText {
  /** The scenarios that it is judged on; the first one in which it is broken counts. */
  readonly on: readonly string[] | 'all'
  readonly judge: (run: Run, earlier: readonly Run[]) => Verdict
}

/** A rule for clients. */
export interface ClientRule extends RuleText {
  readonly judge: (run: ClientRun) => Verdict
}

/** Stands for an id of its own for every run in what is written, so that no agent takes it for a repetition. */
export const RUN_ID = '{{run}}'

/** What is done to an agent, one after the other. */
export type Step =
  /** Written to its input, as it is. */
  | { readonly write: string }
  /** The same for what is no text, or a part of a character; in one write of its own. */
  | { readonly bytes: Uint8Array }
  /** Waits for a line that none of the earlier steps waited for; also over when the program ends or its time does. */
  | { readonly until: (line: SeenLine) => boolean }
  /** Milliseconds for an agent to be at work that says nothing while it is. */
  | { readonly pause: number }
  /** Ends its input. */
  | { readonly end: true }
  /** SIGTERM to its process group. */
  | { readonly terminate: true }

/** One run of an agent. What is left of its time after the last step is for its own end. */
export interface Scenario {
  readonly name: string
  /** Variables beside those of the caller; from earlier runs, where the agent itself tells what to say next. */
  readonly env?: (earlier: readonly Run[]) => Readonly<Record<string, string>>
  readonly steps: readonly Step[] | ((earlier: readonly Run[]) => readonly Step[])
  /** Answers to what the agent asks, written at once. */
  readonly answer?: (asked: JsonRecord) => readonly string[]
  /** Of the HTTP request whose body is all that is written; `POST` when absent. */
  readonly method?: string
  /** The only transport that it is for. */
  readonly only?: 'stdio' | 'http'
}

/** What a stand-in does in answer to something. */
export type Reaction =
  | { readonly write: string }
  /** The same for what is no text, or a part of a character; in one write of its own. */
  | { readonly bytes: Uint8Array }
  | { readonly stderr: string }
  /** Milliseconds in which a client may make the mistake of not waiting. */
  | { readonly pause: number }
  | { readonly exit: number }
  /** HTTP: the status of the answer, before it is written. */
  | { readonly status: number }
  | { readonly contentType: string }
  /** HTTP: the connection ends here. */
  | { readonly cut: true }

/** A stand-in that plays an agent for a client under test. */
export interface Player {
  open?(): readonly Reaction[]
  line(line: SeenLine): readonly Reaction[]
  /** The client ended its input. When absent the stand-in exits with 0. */
  eof?(): readonly Reaction[]
}

/** What a player is opened with. */
export interface PlayerContext {
  readonly transport: 'stdio' | 'http'
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The tests of one form of a protocol. */
export interface Suite {
  /** How the words of the wire are bounded: lines, or one body. */
  readonly framing: 'lines' | 'body'
  /** Whether an agent can be reached by a URL. */
  readonly http: boolean
  readonly scenarios: readonly Scenario[]
  readonly agent: readonly AgentRule[]
  readonly client: readonly ClientRule[]
  /** Names of variables that a client's stand-in reads. */
  readonly env: readonly string[]
  readonly play: (context: PlayerContext) => Player
  readonly hostile: HostileFacts
}

/** The suites of a protocol. The first one is the default. */
export interface ProtocolSuites {
  readonly suites: Readonly<Record<string, Suite>>
  /** The suite that a command line asks for, when that is not the default. */
  readonly suiteOf?: (args: readonly string[]) => string | undefined
  /** The name of the program that clients of this protocol start, when it has one. */
  readonly program?: string
}

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

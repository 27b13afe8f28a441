import type { Behaviour, Demand, WireForm } from './misbehaviours.ts'

/** A parsed JSON object. */
export type JsonRecord = Record<string, unknown>

/** A line that a program under test wrote; a whole body is one line. */
export interface SeenLine {
  /** Without its LF; a CR stays. */
  readonly text: string
  /** True when an LF ended it. */
  readonly ended: boolean
  /** Its JSON object, if it is one. */
  readonly object?: JsonRecord
  /** The number of finished steps of the scenario when it came. */
  readonly step: number
}

/** The observations of one run of an agent. */
export interface AgentRun {
  readonly scenario: string
  /** The value of `RUN_ID`. */
  readonly id: string
  readonly transport: 'stdio' | 'http'
  readonly lines: readonly SeenLine[]
  /** The raw output, cut at 16 Mi characters. */
  readonly output: string
  /**
   * `exited`: by itself; `hung`: stopped by us at its time limit; `failed`: it never started, or the connection broke.
   */
  readonly end: 'exited' | 'hung' | 'failed'
  readonly exitCode?: number
  readonly signal?: string
  /** HTTP only; header names are lower-case. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** One entry of a client's wire, in order. */
export type Heard =
  | { readonly is: 'in'; readonly line: SeenLine }
  | { readonly is: 'out'; readonly text: string }
  | { readonly is: 'eof' }
  | { readonly is: 'signal'; readonly name: string }
  /** The process that started the stand-in ended before it. */
  | { readonly is: 'orphaned' }
  | { readonly is: 'exit' }

/** One stand-in process, or one HTTP request, of a client under test. */
export interface Visit {
  readonly transport: 'stdio' | 'http'
  readonly argv: readonly string[]
  /** The variables that the suite names. */
  readonly env: Readonly<Record<string, string>>
  readonly heard: readonly Heard[]
  /** HTTP only; header names are lower-case. */
  readonly request?: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
  }
}

/** The observations of one run of a client. */
export interface ClientRun {
  readonly visits: readonly Visit[]
  readonly end: 'exited' | 'hung' | 'failed'
  readonly exitCode?: number
}

/** The verdict of a judge; undefined when the rule is kept. A warning is reported, but does not count. */
export type Verdict =
  | { readonly broken: string }
  | { readonly warning: string }
  | { readonly skipped: string }
  | undefined

/** The common members of rules of both sides. */
interface RuleText {
  /** Protocol, section of its text, name: `<protocol>.<section>.<name>`. */
  readonly id: string
  /** The section of the protocol's text, with its heading. */
  readonly section: string
  /** The required behaviour, in one sentence. */
  readonly expects: string
  /** Real programs differ, and their peers accept that: a violation is reported, but does not count. */
  readonly lenient?: true
  /** Ids of rules that this one depends on: when one of them is broken, this one is skipped. */
  readonly needs?: readonly string[]
}

/** A rule for agents. */
export interface AgentRule extends RuleText {
  /** The scenarios that it is judged on; the first violation counts. */
  readonly on: readonly string[] | 'all'
  readonly judge: (run: AgentRun, earlier: readonly AgentRun[]) => Verdict
}

/** A rule for clients. */
export interface ClientRule extends RuleText {
  readonly judge: (run: ClientRun) => Verdict
}

/** A placeholder for an id of the run in written texts, so that no agent takes a run for a repetition. */
export const RUN_ID = '{{run}}'
/** A placeholder for the name of the model under test, of agents that are servers of models. */
export const MODEL = '{{model}}'
/** A placeholder for the id that the agent gave to the session of the run. */
export const SESSION = '{{session}}'
/** A placeholder for the folder that the program under test is run in. */
export const FOLDER = '{{folder}}'

/** One step of a scenario, performed in order. */
export type ScenarioStep =
  /** Text for its input. */
  | { readonly write: string }
  /** The same for bytes that are not text, or a part of a character; as a separate write. */
  | { readonly bytes: Uint8Array }
  /** Waits for a line that no earlier step waited for, for the end of the program, or for its time limit. */
  | { readonly until: (line: SeenLine) => boolean }
  /** A pause in milliseconds, for agents that work without output. */
  | { readonly pause: number }
  /** Ends its input. */
  | { readonly end: true }
  /** SIGTERM to its process group. */
  | { readonly terminate: true }

/** One run of an agent. After the last step the agent has the rest of its time to end. */
export interface Scenario {
  readonly name: string
  /** Variables besides the caller's; they may depend on earlier runs. */
  readonly env?: (earlier: readonly AgentRun[]) => Readonly<Record<string, string>>
  readonly steps: readonly ScenarioStep[] | ((earlier: readonly AgentRun[]) => readonly ScenarioStep[])
  /** Answers to the agent's questions, written at once. */
  readonly answer?: (asked: JsonRecord) => readonly string[]
  /** The method of the HTTP request, whose body is all written text; `POST` when absent. */
  readonly method?: string
  /** The path of the HTTP request after the URL under test, and headers that replace those of the suite. */
  readonly path?: string | ((earlier: readonly AgentRun[]) => string)
  readonly headers?: Readonly<Record<string, string>>
  /** The framing of its answer, where it is not that of the suite. */
  readonly framing?: 'lines' | 'body'
  /** The only transport of the scenario. */
  readonly only?: 'stdio' | 'http'
}

/** A reaction of a stand-in. */
export type Reaction =
  | { readonly write: string }
  /** The same for bytes that are not text, or a part of a character; as a separate write. */
  | { readonly bytes: Uint8Array }
  | { readonly stderr: string }
  /** A pause in milliseconds, in which a client that does not wait makes its mistake. */
  | { readonly pause: number }
  | { readonly exit: number }
  /** HTTP: the status of the answer, set before writing. */
  | { readonly status: number }
  | { readonly contentType: string }
  | { readonly header: readonly [name: string, value: string] }
  /** HTTP: the connection ends here. */
  | { readonly cut: true }

/** A stand-in that plays an agent for a client under test. */
export interface Player {
  open?(): readonly Reaction[]
  line(line: SeenLine): readonly Reaction[]
  /** The client ended its input. When absent the stand-in exits with 0. */
  eof?(): readonly Reaction[]
}

/** The context of a player. */
export interface PlayerContext {
  readonly transport: 'stdio' | 'http'
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** HTTP only; header names are lower-case. */
  readonly request?: NonNullable<Visit['request']>
}

/** The requests of a protocol over HTTP. */
export interface HttpRequests {
  /** The path of a turn after the URL under test; empty when the URL is all of it. */
  readonly path: string
  /** The headers of every request; `env` is the caller's environment, which may hold a key. */
  readonly headers: (env: Readonly<Record<string, string | undefined>>) => Readonly<Record<string, string>>
}

/** The tests of one form of a protocol. */
export interface Suite {
  /** The framing of the wire: lines, or one body. */
  readonly framing: 'lines' | 'body'
  /** The requests to an agent that is reached by a URL; false when there is none. */
  readonly http: HttpRequests | false
  /** True when agents are only reached by a URL, and clients call one. */
  readonly onlyHttp?: true
  /**
   * The values of placeholders in written texts and paths, from what the agent has said: in this run, and in earlier
   * ones. An unknown value is empty.
   */
  readonly values?: Readonly<
    Record<string, (lines: readonly SeenLine[], earlier: readonly AgentRun[]) => string | undefined>
  >
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
  /** Detects the suite from a command line, when it is not the default. */
  readonly suiteOf?: (args: readonly string[]) => string | undefined
  /** The name of the program that clients of this protocol start, when it has one. */
  readonly program?: string
}

/** The facts of a protocol that hostile tests need. The good answer is that of the suite's `play`. */
export interface HostileFacts {
  /** The prefix of its rule ids. */
  readonly prefix: string
  readonly form: WireForm
  /** The sections of the protocol's text about frames and about a program's start and end. */
  readonly section: string
  /** True for the frame of `play` that ends its turn. */
  readonly isLast: (frame: string) => boolean
  /** The exit code of an agent that leaves its turn without an end; 0 when frames alone show that. */
  readonly unfinishedExit?: number
  /** The members of a frame that identify its turn. */
  readonly owner?: readonly string[]
  /** The protocol's demands on clients and agents that differ from the usual ones of its wire form. */
  readonly clients?: Readonly<Partial<Record<Behaviour, Demand>>>
  readonly agents?: Readonly<Partial<Record<Behaviour, Demand>>>
  readonly turns: HostileTurns
}

/** The requests to an agent. */
export interface HostileTurns {
  /** The steps before any turn. */
  readonly opening?: readonly ScenarioStep[]
  /** The request for a turn: one JSON object; absent when it is in the environment. */
  readonly request?: (id: string, prompt: string) => JsonRecord
  /** The variables of a request. */
  readonly env?: (prompt: string) => Readonly<Record<string, string>>
  /** The id of the turn that this frame ends or refuses; empty when the wire does not name it. */
  readonly endOf: (said: JsonRecord) => string | undefined
  /** True when one process serves several turns, in order. */
  readonly many: boolean
  /** The members of a request that name it. */
  readonly ids?: readonly string[]
  /** Cancels a turn; an unknown command. */
  readonly cancel?: (id: string) => JsonRecord
  readonly unknown?: JsonRecord
  /** An agent may refuse malformed input by its exit code alone. */
  readonly silentRefusal?: true
  /** Answers to the agent's questions. */
  readonly answer?: (asked: JsonRecord) => readonly string[]
}

import type { AskReply } from './asks.ts'
import type { JsonText } from './json.ts'
import type { Ext, Id, Message, Part } from './parts.ts'
import type { QueryWhat } from './words.ts'

/** The turn that a command is for, as far as a front knows it; the engine resolves it. */
export type Target = { turn: Id } | { request: string } | { continuation: string } | 'running'

/** The conversation that a command belongs to, by the client's own ids. */
export interface SessionRef {
  id?: string
  conversation?: string
  channel?: string
  name?: string
  continuation?: string
  /**
   * The agent's own id of this session. The engine sets it for back links once `session-bound` reported it. Fronts
   * never set it.
   */
  bound?: string
  /**
   * The agent's own id of the session that this one is a copy of, for the first turn of a copy: the agent goes on with a
   * copy of it, under another id. Set like `bound`, and instead of it.
   */
  origin?: string
}

/** The client's options for the turn. `totalMs` limits the whole turn, in milliseconds (0 = out of time at once). */
export interface TurnOptions {
  streaming?: boolean
  model?: string
  temperature?: number
  topP?: number
  /** The most tokens of one answer of the model. */
  maxTokens?: number
  /** Texts at which the model stops. */
  stop?: readonly string[]
  effort?: string
  totalMs?: number
  systemPrompt?: string
  tools?: readonly string[]
  /** The use of client tools: as the model likes, none, at least one, or this one. */
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string }
  /** False: the model calls one client tool at a time. */
  parallelTools?: boolean
  outputSchema?: JsonText
  locale?: string
}

/** Idempotency: the treatment of a second request with the same key. */
export interface Once {
  key: string
  /** Keys are unique among all requests of the client's tenant; absent: among those of its session. */
  scope?: 'tenant'
  /** While the first one runs: `join` gets its answer too, `tell` only gets a notice. */
  duplicate: 'join' | 'tell'
  /** After the first one ended: which recorded answers may be given again. */
  replay: 'undelivered' | 'success' | 'never'
  /** Members of the command's `ext` that describe the attempt, not the request. */
  incidental?: readonly string[]
  /**
   * The time in which a different request with the key is refused: `running`, while the first one runs; absent, also
   * while its answer may be given again.
   */
  holds?: 'running'
  /**
   * The time in which the recorded answer may be given again, in milliseconds; absent: as long as the gateway keeps it.
   */
  ttlMs?: number
}

/** A slash or at command. */
export interface Invocation {
  kind: 'slash' | 'at'
  path: readonly string[]
  args: string
}

/** A tool that the client runs, or, when `hosted`, the model's provider. */
export interface ClientTool {
  name: string
  /** `custom`: its arguments are free text instead of JSON. */
  kind?: 'custom' | 'hosted'
  /** The group that the name belongs to: tools of different groups may have one name. */
  namespace?: string
  description?: string
  /** The JSON Schema of its arguments. */
  schema?: JsonText
  /** The arguments follow the schema exactly. */
  strict?: boolean
  /** Further fields of the client's protocol: the grammar of a custom tool, a hosted tool's settings. */
  ext?: Ext
}

/**
 * A server of the Model Context Protocol that a client brings for its session; `command` is the program and its
 * arguments. Its variables and headers may be secret.
 */
export type McpServer = { name: string } & (
  | { type: 'stdio'; command: readonly string[]; env: Readonly<Record<string, string>> }
  | { type: 'http' | 'sse'; url: string; headers: Readonly<Record<string, string>> }
)

/** A piece of work for an agent: a prompt, or the compaction of its transcript. */
export interface TurnStart {
  type: 'turn-start'
  turn: Id
  task: 'prompt' | 'compact'
  /** The client's own id of the request. */
  request?: string
  /** The agent that the protocol's own field names. */
  agent?: string
  /**
   * The person whom the client acts for, as it names them: conversations of different users are different ones, also where
   * they say the same.
   */
  user?: string
  input: readonly Part[]
  options: TurnOptions
  once?: Once
  /**
   * The client repeats a request by itself, because no answer came: while that one runs, this one joins its turn. Without
   * a running one it is a request as any other; `once` says more, and counts instead.
   */
  retry?: true
  invocation?: Invocation
  /**
   * An earlier turn of the same client, which this one follows: it goes on with the session of that turn as the turn has
   * left it, whatever `session` names. The engine keeps it only where the session goes on.
   */
  after?: Id
  /** The conversation before the input, oldest first, as the client tells it. */
  history?: readonly Message[]
  /**
   * `complete`: `history` is the whole conversation so far, and an absent one says that it begins here. `delta`: the
   * request says only what is new to its session, `history` too. Absent: an agent gets `history` as it is.
   */
  historyMode?: 'complete' | 'delta'
  clientTools?: readonly ClientTool[]
  askedCapabilities?: readonly string[]
  /** The folder that the client works in, an absolute path. */
  cwd?: string
  /** Further folders of its work, absolute paths. */
  folders?: readonly string[]
  mcpServers?: readonly McpServer[]
  environment?: { privacy: 'public' | 'restricted' | 'secret'; json: JsonText }
}

/** The part of a request that says how its turn is done. */
export type TurnSettings = Pick<TurnStart, 'agent' | 'user' | 'options' | 'clientTools'> & { ext?: Ext }

/** The answer to a question: the question's id, or its place among those that a parked turn waits for, from 0. */
export interface Answered {
  ask?: Id
  at?: number
  reply: AskReply
}

/**
 * A message from a client to an agent. `exchange` names the request that it came with. A request may bring the answers
 * to several questions of a parked turn (`also`), and say something besides (`input`); agents get each of them alone.
 * `settings` are all that the request says of the rest of the turn; absent, they are as before. Only agents whose
 * protocol takes them (`takesSettings` of its back half) get them.
 */
export type Command = { exchange: Id; session?: SessionRef; ext?: Ext } & (
  | TurnStart
  | { type: 'turn-cancel'; target: Target }
  /** Its exchange is shown the turn from its first event on, also when the turn has ended. */
  | { type: 'turn-follow'; target: Target }
  | { type: 'turn-steer'; target: Target; input: readonly Part[] }
  | ({
      type: 'ask-reply'
      target: Target
      also?: readonly Answered[]
      input?: readonly Part[]
      settings?: TurnSettings
    } & Answered)
  | { type: 'session-open'; mcpServers?: readonly string[] }
  | { type: 'session-close' | 'session-clear' }
  /** Forgets an ended turn: it is not found any more. A parked one is cancelled first. */
  | { type: 'turn-delete'; id: Id }
  /** `id` is the gateway's own id of the session, as the query `sessions` lists it. */
  | { type: 'session-delete'; id: Id }
  /**
   * Copies the session `id` (named as for `session-delete`): its transcript and settings, and what its agent knows of it
   * where the agent can copy that. `session` names the copy; absent: the gateway does.
   */
  | { type: 'session-fork'; id: Id }
  /** `option` is a setting that the agent offers. */
  | {
      type: 'config-set'
      model?: string
      mode?: string
      effort?: string
      option?: { id: string; value: string | boolean }
    }
  | { type: 'query'; what: QueryWhat; args?: JsonText }
  | { type: 'foreign'; protocol: string; frame: string }
)

/** The command of one type. */
export type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>

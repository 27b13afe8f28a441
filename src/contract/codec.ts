import type { ErrorCode, Item } from '../model/index.ts'
import type { BackContext, BackLink, BackPorts } from './back.ts'
import type { Capabilities } from './capabilities.ts'
import type { Frame, Framing } from './frame.ts'
import type { FrontContext, FrontLink, FrontPorts } from './front.ts'
import type { Multiplexer, MultiplexerPorts } from './multiplexer.ts'
import type { Limits } from './settings.ts'

/** The part of Standard Schema v1 that we use; valibot and zod schemas both have it. */
export interface StandardSchemaV1<O> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<O> | Promise<StandardResult<O>>
    readonly types?: { readonly input: unknown; readonly output: O } | undefined
  }
}

/** A validated value, or the issues found in it. */
export type StandardResult<O> =
  | { readonly value: O; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

/** The client side of a dialect. */
export interface FrontHalf {
  readonly capabilities: Capabilities
  /** Names of the environment variables that a stand-in on stdio reads. */
  readonly env: readonly string[]
  /**
   * True when this dialect takes a client on stdio: called before any frame (`first` undefined), then with the first
   * one. Absent means yes.
   */
  accepts?(first: Frame | undefined, context: FrontContext): boolean
  /**
   * The time in which the first frame may still change the answer of `accepts`, in milliseconds: the answer is final
   * when stdin is silent for so long, or ends.
   */
  readonly peekMs?: number
  /**
   * A request that names an agent which does not exist is refused, unless a route takes it; else the default agent gets it.
   */
  readonly namesAgents?: true
  /**
   * Items that its protocol requires in every request, whether or not the client needs them: a route that takes no
   * losses refuses no turn for one of them. Such a loss is only reported.
   */
  readonly demands?: readonly Item[]
  /** Framing of a stand-in's standard input, when its arguments change it from the wire's. */
  input?(context: FrontContext): Framing
  open(context: FrontContext, ports: FrontPorts): FrontLink
}

/**
 * The place where an agent keeps a session's conversation, which decides whether it survives the process that served
 * it:
 * - `process`: only in the process; it is lost.
 * - `named`: under the session id that each request names; any process can continue it.
 * - `bound`: under the id that the agent reported by `session-bound`; any process that gets that id can continue it.
 * - `resumed`: under the same id, but a process has to be started with it (`BackLink.open`).
 * - `request`: nowhere; each request brings the conversation, which the gateway keeps.
 */
export type Memory = 'process' | 'named' | 'bound' | 'resumed' | 'request'

/** The agent side of a dialect. */
export interface BackHalf<O> {
  readonly capabilities: Capabilities
  memory(context: BackContext<O>): Memory
  /** Its agents can go on with a copy of one of their sessions (`origin` of a `SessionRef`), or some can. */
  readonly copiesSessions?: true
  /**
   * Its agents take other options and tools within a turn: the client's request that answers a question may bring them
   * (`settings` of an `ask-reply`).
   */
  readonly takesSettings?: true
  /** The model that an agent is configured to use, if its command line names one. */
  configuredModel?(context: BackContext<O>): string | undefined
  /** Sorts the frames of a process that serves several sessions at once; absent: each has a process of its own. */
  multiplex?(ports: MultiplexerPorts): Multiplexer
  open(context: BackContext<O>, ports: BackPorts): BackLink
}

/**
 * One form of a protocol. `framing` is the framing of its stdio wire, and of an answer unless its `Answer` says
 * otherwise.
 */
export interface Dialect<O = unknown> {
  readonly wireVersion: string
  readonly framing: Framing
  readonly front?: FrontHalf
  readonly back?: BackHalf<O>
}

/** A dialect that clients speak. */
export type FrontDialect<O = unknown> = Dialect<O> & { readonly front: FrontHalf }

/** A dialect that agents speak. */
export type BackDialect<O = unknown> = Dialect<O> & { readonly back: BackHalf<O> }

/**
 * An HTTP endpoint of a front. `path` may have `:name` segments, which the front finds in `FrontContext.params`;
 * `input` is the framing of the request's body; `dialect` defaults to the first one. Endpoints of several protocols may
 * have one method and path: one with a `header` (in lower case) takes the requests that have it.
 */
export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly header?: string
  readonly input: Framing
  readonly dialect?: string
}

/** The format of a protocol's profiles: its own files that describe an agent. */
export interface ProfileFormat {
  /** The key that a profile's fields may stand under; else they are at the file's root. */
  readonly root: string
  /** Fields that mean that no process can be started, unless the profile has a command: the problem, and what to do. */
  readonly driven: Readonly<Record<string, { readonly problem: string; readonly hint: string }>>
  /**
   * The limits that `written` sets by the protocol's own keys, whose validated values are in `options`; milliseconds.
   */
  limits(written: Readonly<Record<string, unknown>>, options: unknown): Partial<Limits>
  /** Patterns of the variables that an agent with a profile inherits, where its entry does not say so. */
  inherits(written: Readonly<Record<string, unknown>>): readonly string[]
}

/** One protocol. Pure: synchronous, no clock, no I/O, no promises, nothing thrown. The first dialect is the default. */
export interface Codec<O = unknown> {
  readonly name: string
  readonly dialects: Readonly<Record<string, Dialect<O>>>
  /** The protocol's own code of every error, and the HTTP status of its endpoints. */
  readonly errors: Readonly<Record<ErrorCode, { code: string; http: number }>>
  readonly endpoints: readonly Endpoint[]
  /**
   * Its agents are one process per turn and may work for long without output: only the whole turn has a time limit,
   * unless the configuration sets others.
   */
  readonly silent?: true
  /** Its agents are servers that are called over HTTP; absent: programs. */
  readonly servers?: true
  /** Its agents may be described by a profile. */
  readonly profile?: ProfileFormat
  /** The codec's own keys of an agent's configuration. */
  readonly options: { schema: StandardSchemaV1<O>; keys: readonly string[] }
}

/** A codec whose option type is erased, as registries hold it: the engine only passes validated options back to it. */
// biome-ignore lint/suspicious/noExplicitAny: the option type is existential here
export type AnyCodec = Codec<any>

/** A dialect as one that clients speak. Throws when it has no front half. */
export function asFront<O>(dialect: Dialect<O> | undefined): FrontDialect<O> {
  if (!hasFront(dialect)) throw new Error('no client speaks this dialect')
  return dialect
}

/** A dialect as one that agents speak. Throws when it has no back half. */
export function asBack<O>(dialect: Dialect<O> | undefined): BackDialect<O> {
  if (!hasBack(dialect)) throw new Error('no agent speaks this dialect')
  return dialect
}

/** True for a dialect that clients speak. */
export function hasFront<O>(dialect: Dialect<O> | undefined): dialect is FrontDialect<O> {
  return dialect?.front !== undefined
}

/** True for a dialect that agents speak. */
export function hasBack<O>(dialect: Dialect<O> | undefined): dialect is BackDialect<O> {
  return dialect?.back !== undefined
}

import type { AgentPolicy, Limits, ProfileFormat, Route, StandardSchemaV1 } from '../contract/index.ts'

/** What each process of an agent may take: bytes of `memory` and of one file (`fileSize`), milliseconds of `cpu` (rounded up to seconds), open `files`, `processes` of its user. */
export interface Resources {
  memory?: number
  cpu?: number
  files?: number
  processes?: number
  fileSize?: number
}

/** One agent, resolved. All paths are absolute. */
export interface AgentConfig extends AgentPolicy {
  name: string
  /** The codec. */
  protocol: string
  dialect: string
  kind: 'process' | 'http'
  /** Processes only. A relative program of an AgentProc profile is left to be found from `cwd`. */
  command?: string
  /** Absent when the configuration has none, which is not the same as an empty list. */
  args?: readonly string[]
  cwd: string
  /** Added to what is inherited. */
  env: Readonly<Record<string, string>>
  /** Processes only: what the command runs under, and what it may take of the machine. */
  wrap?: readonly string[]
  resources?: Resources
  /** Names of the gateway's own variables that the process gets besides the few that every program needs. */
  inherit: readonly string[]
  /** HTTP only. */
  url?: string
  headers?: Readonly<Record<string, string>>
  /** What the codec's own schema made of its own keys. */
  options: unknown
  /** The folder of the file that describes the process: of the profile, else of the configuration. */
  folder: string
}

/** A key of a client. Exactly one of `secret` (from the environment) and `hash` (SHA-256 of it, lower-case hex) is there. */
export interface ServerKey {
  name: string
  secret?: string
  hash?: string
  /** The agents that it may use, with `*` globs; absent means all. */
  agents?: readonly string[]
  /** The fronts that it may use, with `*` globs; absent means all. */
  fronts?: readonly string[]
  /** How many requests a minute it may send, how many of them at once, and how many turns may be under way. */
  limits?: { perMinute?: number; burst?: number; turns?: number }
}

/** What clients may take of the listening socket: times in milliseconds, `connections` at the same time. */
export interface ServerLimits {
  /** For the headers of a request to come. */
  headers: number
  /** For a whole body to come; of a body in lines, for its first line. */
  body: number
  /** An unused connection is kept. */
  keepAlive: number
  connections: number
}

/** Where the gateway listens, and whom it lets in. */
export interface ServerConfig {
  host: string
  port: number
  keys: readonly ServerKey[]
  /** The Unix socket of the stand-ins; false is none, absent is the default place. */
  socket?: string | false
  /** Values of the `Host` header that are taken besides the usual ones. */
  hosts?: readonly string[]
  /** The web pages that may use the gateway, such as `https://app.example`; absent means none. */
  origins?: readonly string[]
  limits: ServerLimits
}

/** Where traces and metrics go (`otlp` is the URL of a collector) and what is in them. */
export interface TelemetryConfig {
  otlp?: string
  headers?: Readonly<Record<string, string>>
  /** Whether prompts and answers go into spans. */
  content: boolean
  /** Whether metrics are counted: for `GET /metrics`, and for the collector where there is one. */
  metrics: boolean
  /** Whether the log goes to the collector as well; absent, the environment says so. */
  logs?: boolean
  /** How everything is written to the collector; absent, the environment says so. */
  protocol?: (typeof OTLP_PROTOCOLS)[number]
  /** The share of traces that is kept, 0 to 1. */
  sample?: number
}

/** How OTLP is written over HTTP. */
export const OTLP_PROTOCOLS = ['http/json', 'http/protobuf'] as const

/** From the fewest lines to the most. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** What the log says. `pretty` is for people; absent, it is so on a terminal. */
export interface LogConfig {
  level: (typeof LOG_LEVELS)[number]
  pretty?: boolean
}

/** A whole configuration, resolved. */
export interface Config {
  server: ServerConfig
  default?: string
  agents: ReadonlyMap<string, AgentConfig>
  limits: Limits
  routes: readonly Route[]
  /** `retention`: how long ended turns are kept, in milliseconds. */
  store: { kind: 'sqlite'; path: string; retention: number }
  telemetry?: TelemetryConfig
  log: LogConfig
  /** What was ignored, one line each. */
  warnings: readonly string[]
  /** The environment variables that hold the clients' keys: no agent inherits them. */
  withheld: readonly string[]
  /** Replaces what came from the environment, keys included, by the variable's name: for texts that are shown to people. */
  redact(text: string): string
}

/** What the configuration needs to know of a codec. The first dialect is the default. */
export interface CodecInfo {
  dialects: readonly string[]
  /** Its agents may work for long without a word. */
  silent?: boolean
  /** Its agents may be described by a profile. */
  profile?: ProfileFormat
  options: { schema: StandardSchemaV1<unknown>; keys: readonly string[] }
}

/** The codecs by name. */
export type CodecInfos = Readonly<Record<string, CodecInfo>>

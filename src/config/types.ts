import type {
  AgentPolicy,
  KeyRole,
  Limits,
  ProfileFormat,
  Route,
  StandardSchemaV1,
  StoreLocation,
} from '../contract/index.ts'

/**
 * The resource limits of each process of an agent: bytes of `memory` and of one file (`fileSize`), milliseconds of
 * `cpu` (rounded up to seconds), open `files`, `processes` of its user.
 */
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
  /** Processes only. A relative program of a profile is resolved from `cwd`. */
  command?: string
  /** Absent when the configuration has none, which differs from an empty list. */
  args?: readonly string[]
  cwd: string
  /** Processes only: the folders in which a client may choose another one, and whether it may bring MCP servers. */
  workspaces?: readonly string[]
  clientMcpServers?: boolean
  /** Added to the inherited variables. */
  env: Readonly<Record<string, string>>
  /** Processes only: the command prefix, and the resource limits. */
  wrap?: readonly string[]
  resources?: Resources
  /** Names of the gateway's variables that the process gets, besides the few that every program needs. */
  inherit: readonly string[]
  /** The labels of which a replica that runs it has one; absent: every replica runs it. */
  placement?: readonly string[]
  /** HTTP only. */
  url?: string
  headers?: Readonly<Record<string, string>>
  /** The codec's own keys, validated by its schema. */
  options: unknown
  /** The folder of the profile, else of the configuration. */
  folder: string
}

/**
 * A key of a client. Exactly one of `secret` (from the environment) and `hash` (SHA-256 of it, lower-case hex) is
 * there.
 */
export interface ServerKey {
  name: string
  role: KeyRole
  secret?: string
  hash?: string
  /** The agents that it may use, with `*` globs; absent means all. */
  agents?: readonly string[]
  /** The fronts that it may use, with `*` globs; absent means all. */
  fronts?: readonly string[]
  /** The limits of its requests per minute and at once, of running turns, and of what turns use in a day (UTC). */
  limits?: { perMinute?: number; burst?: number; turns?: number; tokensPerDay?: number; usdPerDay?: number }
}

/** The limits of clients on the listening socket: times in milliseconds, `connections` at the same time. */
export interface ServerLimits {
  /** For the headers of a request to come. */
  headers: number
  /** For a whole body to come; of a body in lines, for its first line. */
  body: number
  /** An unused connection is kept. */
  keepAlive: number
  connections: number
}

/** The addresses of the gateway, and the rules for admitting clients. */
export interface ServerConfig {
  host: string
  port: number
  keys: readonly ServerKey[]
  /** Serves the console at `/console/`. */
  console: boolean
  /** The Unix socket of the stand-ins; false means none, absent means the default path. */
  socket?: string | false
  /** Values of the `Host` header that are accepted besides the usual ones. */
  hosts?: readonly string[]
  /** The web pages that may use the gateway, such as `https://app.example`; absent means none. */
  origins?: readonly string[]
  limits: ServerLimits
}

/** A gateway as one of several replicas on its store. */
export interface ClusterConfig {
  /** The URL by which the other replicas reach it; absent: that of the address that it listens on. */
  address?: string
  /** The secrets that it accepts from the others, of which it uses the first; none: one that the store keeps. */
  secrets: readonly string[]
  /** A process is given up when it was not heard of for this many milliseconds. */
  lease: number
  /** For the `placement` of agents. */
  labels: readonly string[]
}

/** The destination of telemetry (`otlp` is the URL of a collector) and its content. */
export interface TelemetryConfig {
  otlp?: string
  headers?: Readonly<Record<string, string>>
  /** Puts prompts and answers into spans. */
  content: boolean
  /** Counts metrics: for `GET /metrics`, and for the collector if there is one. */
  metrics: boolean
  /** Sends the log to the collector as well; absent: as the environment says. */
  logs?: boolean
  /** The encoding for the collector; absent: as the environment says. */
  protocol?: (typeof OTLP_PROTOCOLS)[number]
  /** The share of traces that is kept, 0 to 1. */
  sample?: number
  /** The address of a trace in the collector's own pages; `{trace}` stands for its id. */
  traces?: string
}

/** The encodings of OTLP over HTTP. */
export const OTLP_PROTOCOLS = ['http/json', 'http/protobuf'] as const

/** From the fewest lines to the most. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** The log's settings. `pretty` is the format for people; absent: only on a terminal. */
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
  store: StoreLocation & {
    /** The time for which ended turns are kept, in milliseconds. */
    retention: number
  }
  /** Absent: other gateways on the store are none of its replicas. */
  cluster?: ClusterConfig
  telemetry?: TelemetryConfig
  log: LogConfig
  /** Ignored settings, one line each. */
  warnings: readonly string[]
  /** The environment variables that hold the clients' keys: no agent inherits them. */
  withheld: readonly string[]
  /**
   * Replaces values of the environment, keys included, by their variables' names: for texts that are shown to people.
   */
  redact(text: string): string
}

/** The part of a codec that the configuration needs. The first dialect is the default. */
export interface CodecInfo {
  dialects: readonly string[]
  /** Its agents may work for long without output; they are servers that are called over HTTP (`false`: programs). */
  silent?: boolean
  servers?: boolean
  /** The dialects whose agents may serve several sessions in one process. */
  multiplexed?: readonly string[]
  /** Its agents may be described by a profile. */
  profile?: ProfileFormat
  options: { schema: StandardSchemaV1<unknown>; keys: readonly string[] }
}

/** The codecs by name. */
export type CodecInfos = Readonly<Record<string, CodecInfo>>

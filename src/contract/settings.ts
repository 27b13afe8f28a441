/**
 * The rights of a key beyond its own turns: an `admin` may see all turns and do what operators do; a `user` has none.
 */
export type KeyRole = 'user' | 'admin'

/** Limits of a turn: times in milliseconds, `line`, `body` and `answer` in characters, `queue` in turns. */
export interface Limits {
  /** Until a process that serves many turns has reported that it is ready. */
  start: number
  /** From handing a turn to the agent until its first event. */
  firstEvent: number
  /** Between two events. */
  idle: number
  /** The whole turn; a client's own limit is bounded by it. */
  total: number
  /** A question that waits for its answer. */
  ask: number
  /** Between asking an agent to stop and killing it. */
  grace: number
  /** One frame of a line protocol. */
  line: number
  /** One body of a request or answer. */
  body: number
  /** Output of an agent in one turn. */
  answer: number
  /** Turns that may wait for their session, and turns that may wait for a process of their agent. */
  queue: number
}

/**
 * Processes of an agent: `warm` ones started ahead, at most `max`, each closed after `idle` milliseconds without use.
 */
export interface Pool {
  warm: number
  max: number
  /** Of all replicas together: each has an equal share, and one at least. */
  total?: number
  idle: number
  /** The number of sessions that a process serves at once; absent: one. */
  sessions?: number
}

/** The condition of a route; `*` stands for any text, and an absent member for everything. */
export interface RouteMatch {
  front?: string
  channel?: string
  agent?: string
  session?: string
  principal?: string
  model?: string
}

/** A rule that gives turns to an agent. */
export interface Route {
  when: RouteMatch
  agent: string
  /** The agents that take a turn, in order, when its agent cannot be used. */
  fallback: readonly string[]
  /** The answer to an approval when the client cannot be asked. */
  approvals: 'deny' | 'allow'
  /** `strict` refuses a pair that would lose something, before anything runs. */
  loss: 'report' | 'strict'
  /**
   * `shape` keeps that a turn ran and how it ended, without its content; `wire` also keeps the frames of its client and
   * its agent.
   */
  journal: 'full' | 'shape' | 'wire'
  /** `keep` withholds what a client marks as secret from agents on other machines. */
  secrets: 'keep' | 'pass'
  /** The policy for a turn that arrives while another one of its session runs. */
  busy: 'queue' | 'reject' | 'steer'
  /**
   * For clients that send the whole conversation with each request: `resume` goes on with the session that knows it,
   * `replay` has each request begin a session, whose agent is told all of it.
   */
  history: 'resume' | 'replay'
  onDisconnect?: 'cancel' | 'drain'
  limits?: Partial<Limits>
}

/** The settings of an agent's sessions and failures. */
export interface AgentPolicy {
  limits: Limits
  pool: Pool
  /** The policy for a session that the agent has lost. */
  restore: 'fresh' | 'fail' | 'replay'
  /** After this many failures in a row the agent gets no turns for `cooldown` milliseconds. */
  breaker: { failures: number; cooldown: number }
  /** Interval of the agent's health checks, and their time limit, in milliseconds. */
  health?: { every: number; timeout: number }
}

/** The driver of the store, and where it keeps it: an absolute path or `:memory:`, or a schema of a database. */
export type StoreLocation = SqliteLocation | PostgresLocation

/** A file, by its absolute name, or `:memory:` for a store that ends with the process. */
export interface SqliteLocation {
  kind: 'sqlite'
  path: string
}

/** A schema of a database, which gateways on several machines may share. */
export interface PostgresLocation {
  kind: 'postgres'
  /** `postgres://user:password@host:port/database?sslmode=…` */
  url: string
  /** The schema of its tables; it is created when there is none. */
  schema: string
}

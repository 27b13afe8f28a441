import type { AnyCodec, BackContext, Backend, Dialect } from '../contract/index.ts'

/** Time limits in milliseconds, sizes in characters, and the length of a session's queue. */
export interface Limits {
  /** Until a process that lives over many turns has said that it is ready. */
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
  /** One request body. */
  body: number
  /** Turns that may wait for their session, and turns that may wait for a process of their agent. */
  queue: number
}

/** Processes: how many are started ahead, how many may run, how long an unused one of a session stays (ms). */
export interface PoolSettings {
  warm: number
  max: number
  idle: number
}

/** An agent as the engine knows it: its codec is chosen, its options are validated, its backend is open. */
export interface AgentSettings {
  name: string
  codec: AnyCodec
  /** The codec's name, with the dialect where it is not the default one. */
  protocol: string
  dialect: Dialect
  backend: Backend
  context: BackContext<unknown>
  limits: Limits
  pool: PoolSettings
  /** After this many failures in a row it gets no turns for `cooldown` milliseconds. */
  breaker: { failures: number; cooldown: number }
  /** How often the agent is asked whether it works, and how long it may take to answer, in milliseconds. */
  health?: { every: number; timeout: number }
  /** What becomes of a session whose process is gone. */
  restore: 'fresh' | 'fail' | 'replay'
  /** Takes the secrets that the configuration gave the agent out of what it says of its failures. */
  redact(text: string): string
  /** For observers: what is started or called. */
  target: { kind: 'process'; command: string } | { kind: 'http'; url: string }
}

/** A rule that gives turns to an agent. In `when`, `*` stands for any characters; all that is named must match. */
export interface Route {
  when: Partial<Record<'front' | 'channel' | 'agent' | 'session' | 'principal' | 'model', string>>
  agent: string
  fallback: readonly string[]
  approvals: 'deny' | 'allow'
  loss: 'report' | 'strict'
  /** `shape` keeps of a turn that it was and how it ended, not what was said. */
  journal: 'full' | 'shape'
  /** `keep` keeps what a client calls secret of its surroundings from agents on other machines. */
  secrets: 'keep' | 'pass'
  /** What a turn does that comes while another one of its session runs. */
  busy: 'queue' | 'reject' | 'steer'
  onDisconnect?: 'cancel' | 'drain'
  limits?: Partial<Limits>
}

/** All that can be reloaded while the engine runs. */
export interface EngineSettings {
  agents: ReadonlyMap<string, AgentSettings>
  default?: string
  routes: readonly Route[]
  limits: Limits
  /** How long ended turns are kept, in milliseconds. */
  retention: number
  /** How many turns of a tenant may run or wait at the same time; any number of one that is not here. */
  turnLimits?: ReadonlyMap<string, number>
}

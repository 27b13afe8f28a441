import type { Bench, Server } from '../bench.ts'
import type { Measured } from '../load.ts'

/** What a line is about: what a whole turn costs, or an event of a streamed one. */
export type Per = 'turn' | 'event'

/** Another gateway. */
export interface Peer {
  readonly name: string
  readonly version: string
  /** What is done there and here. */
  readonly what: string
  /** Why it may cost less. */
  readonly limitedBy: string
  /** What the gateway is to cost at most, of what it costs; what has none is not measured. */
  readonly budgets: Readonly<Partial<Record<Per, number>>>
  /** Installs it into the folder of the run; throws when it cannot be installed. */
  install(bench: Bench): string
  /** Starts what was installed, ready for loads of this kind. */
  start(bench: Bench, installed: string, per: Per): Promise<Server>
  /** The loads on it, and on the gateway. */
  load(bench: Bench, server: Server, per: Per): Promise<Measured>
  own(bench: Bench, per: Per): Promise<Measured>
}

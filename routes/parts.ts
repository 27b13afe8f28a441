import type { HttpBindings } from '@hono/node-server'
import type { AnyCodec, Operations } from '../src/contract/index.ts'
import type { Engine } from '../src/engine/index.ts'
import type { Gate } from './gate.ts'
import type { Patience } from './patience.ts'
import type { Peers } from './peers.ts'

/** The answer of `GET /metrics`. */
export interface MetricsText {
  type: string
  text(): string
}

/** The console's files and its link to the collector. */
export interface ConsoleParts {
  /** The folder of the built page. */
  folder: string
  /** The address of a trace in the collector's own pages; `{trace}` stands for its id. */
  traces?: string
}

/** The dependencies of the HTTP side of the gateway. */
export interface HttpParts {
  engine: Engine
  codecs: readonly AnyCodec[]
  gate: Gate
  patience(): Patience
  version: string
  /** The command that starts this program on its machine. */
  command: string
  /** The option by which a stand-in finds the configuration from any folder; absent where it needs none. */
  configOption?: string
  /** The protocols whose clients start a program. */
  standIns?: readonly string[]
  /** The descriptions of the protocols' endpoints. */
  operations?: () => Promise<readonly Operations[]>
  /** Present where there are other replicas. */
  peers?: Peers
  /** The metrics to serve; absent when metrics are off. */
  metrics?: MetricsText
  /** The console; absent when it is off. */
  console?: ConsoleParts
}

/** The command that starts this program: who needs a key may be on another machine, where only its name is known. */
export function commandOf({ gate, command }: HttpParts): string {
  return gate.hasKeys ? 'turnpike' : command
}

/** The command of a stand-in for this protocol. */
export function standInCommand(parts: HttpParts, protocol: string): string {
  const { gate, configOption } = parts
  const option = gate.hasKeys || configOption === undefined ? '' : ` ${configOption}`
  return `${commandOf(parts)} as ${protocol}${option}`
}

/** Hono's bindings in every handler: Node's own request and response. */
export type HttpEnv = { Bindings: HttpBindings }

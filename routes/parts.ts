import type { HttpBindings } from '@hono/node-server'
import type { AnyCodec } from '../src/contract/index.ts'
import type { Engine } from '../src/engine/index.ts'
import type { Gate } from './gate.ts'
import type { Patience } from './patience.ts'

/** The answer of `GET /metrics`. */
export interface MetricsText {
  type: string
  text(): string
}

/** The dependencies of the HTTP side of the gateway. */
export interface HttpParts {
  engine: Engine
  codecs: readonly AnyCodec[]
  gate: Gate
  patience(): Patience
  version: string
  /** The metrics to serve; absent when metrics are off. */
  metrics?: MetricsText
}

/** Hono's bindings in every handler: Node's own request and response. */
export type HttpEnv = { Bindings: HttpBindings }

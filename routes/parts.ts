import type { HttpBindings } from '@hono/node-server'
import type { AnyCodec } from '../src/contract/index.ts'
import type { Engine } from '../src/engine/index.ts'
import type { Gate } from './gate.ts'
import type { Patience } from './patience.ts'

/** What `GET /metrics` answers with. */
export interface MetricsText {
  type: string
  text(): string
}

/** What the HTTP side of the gateway is made of. */
export interface HttpParts {
  engine: Engine
  codecs: readonly AnyCodec[]
  gate: Gate
  patience(): Patience
  version: string
  /** Where metrics are counted: what is served of them. */
  metrics?: MetricsText
}

/** What Hono hands to every handler: Node's own request and answer. */
export type HttpEnv = { Bindings: HttpBindings }

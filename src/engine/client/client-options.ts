import type { AnyCodec, Carrier, ClientSink, Framing, FrontContext, FrontDialect } from '../../contract/index.ts'

/** A client's wire as a route or a stand-in hands it over. */
export interface ClientOptions {
  codec: AnyCodec
  /** The codec's name, with the dialect where it is not the default one. */
  front: string
  dialect: FrontDialect
  context: FrontContext
  /** The framing of the input: the dialect's on stdio, the endpoint's over HTTP. */
  input: Framing
  sink: ClientSink
  /** The client's trace context. */
  carrier: Carrier
  /** The agent that the path, the header or `--agent` names. */
  agent?: string
  /** Which clients share sessions: the name of the key, or `local`. */
  tenant: string
  /** The agents that the client's key may use. */
  allowed?: readonly string[]
}

import type {
  AnyCodec,
  Carrier,
  ClientSink,
  Framing,
  FrontContext,
  FrontDialect,
  KeyRole,
} from '../../contract/index.ts'

/** The front that a client speaks to. */
export interface ClientFront {
  /** The codec's name, with the dialect where it is not the default one. */
  name: string
  codec: AnyCodec
  dialect: FrontDialect
}

/** Identity of a client, and the agents that it may use. */
export interface ClientAccess {
  /** Which clients share sessions: the name of the key, or `local`. */
  tenant: string
  role: KeyRole
  /** The agent that the path, the header or `--agent` names. */
  agent?: string
  /** The agents that the client's key may use. */
  allowed?: readonly string[]
}

/** A client's wire, as a route or a stand-in opens it. */
export interface ClientOptions {
  front: ClientFront
  context: FrontContext
  /** The framing of the input: the dialect's on stdio, the endpoint's over HTTP. */
  input: Framing
  sink: ClientSink
  /** The client's trace context. */
  carrier: Carrier
  access: ClientAccess
}

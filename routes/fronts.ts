import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import {
  type AnyCodec,
  asFront,
  type Begun,
  type Carrier,
  type Detour,
  type Endpoint,
  type FrontContext,
  type FrontDialect,
  LOCAL_TENANT,
} from '../src/contract/index.ts'
import type { ClientLink } from '../src/engine/index.ts'
import { type Fault, fault } from '../src/model/index.ts'
import type { Refusal } from './gate.ts'
import { watchHalfClose } from './half-close.ts'
import { headersOf, unreadableBody } from './headers.ts'
import { HttpSink } from './http-sink.ts'
import { accessOf, type Caller, frontRefusal } from './keys.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { watchBody } from './patience.ts'
import { detourOf, type Peers } from './peers.ts'
import { admit } from './refuse.ts'
import { RequestBody } from './request-body.ts'

interface FrontRoute {
  codec: AnyCodec
  dialect: FrontDialect
  front: string
  endpoint: Endpoint
}

/**
 * Mounts the endpoints that the codecs declare; each also with the agent's name as a further path segment. A path that is
 * written out comes before one that a name matches.
 */
export function mountFronts(app: Hono<HttpEnv>, parts: HttpParts): void {
  const places = new Map<string, { path: string; routes: FrontRoute[] }>()
  for (const route of parts.codecs.flatMap(routesOf)) {
    for (const path of pathsOf(route.endpoint)) {
      const key = `${route.endpoint.method} ${path}`
      const { routes = [] } = places.get(key) ?? {}
      places.set(key, { path, routes: [...routes, route] })
    }
  }
  const ordered = [...places.values()].sort((a, b) => namesIn(a.path) - namesIn(b.path))
  for (const { path, routes } of ordered) {
    app.on(routes[0]!.endpoint.method, path, (c) => {
      const route = routeFor(routes, (header) => c.req.header(header) !== undefined)
      return route ? serveFront(c, parts, route) : c.notFound()
    })
  }
}

function routesOf(codec: AnyCodec): FrontRoute[] {
  return codec.endpoints.map((endpoint) => {
    const name = endpoint.dialect ?? Object.keys(codec.dialects)[0]!
    const front = endpoint.dialect === undefined ? codec.name : `${codec.name}@${name}`
    return { codec, dialect: asFront(codec.dialects[name]), front, endpoint }
  })
}

/** The route whose header a request has, else one that asks for none. */
function routeFor(routes: readonly FrontRoute[], has: (header: string) => boolean): FrontRoute | undefined {
  const chosen = routes.find(({ endpoint: { header } }) => header !== undefined && has(header))
  return chosen ?? routes.find(({ endpoint }) => endpoint.header === undefined)
}

function namesIn(path: string): number {
  return path.split(':').length
}

/** The paths of an endpoint: one that takes work also takes the agent's name as a further path segment. */
function pathsOf({ method, path }: Endpoint): string[] {
  return method === 'POST' && !path.includes(':') ? [path, `${path}/:agent`] : [path]
}

/** A client that is refused in its own protocol. */
const REFUSED: Caller = { tenant: LOCAL_TENANT, role: 'user' }

/** One HTTP request to a front. */
interface FrontRequest {
  parts: HttpParts
  route: FrontRoute
  bindings: HttpBindings
  query: string
  params: Record<string, string>
  headers: Readonly<Record<string, string>>
  caller: Caller | Refusal
  /** The part of the answer that the client has from another replica, which has forwarded the request. */
  begun?: Begun
  body: RequestBody
}

/** Connects one HTTP request to the engine. Errors are answered in the protocol of the endpoint. */
function serveFront(c: Context<HttpEnv>, parts: HttpParts, route: FrontRoute): Response {
  const { incoming } = c.env
  const headers = headersOf(incoming)
  begin({
    parts,
    route,
    bindings: c.env,
    query: queryOf(c.req.url),
    params: c.req.param(),
    headers,
    ...admit(parts, incoming, headers),
    body: new RequestBody(incoming, parts.peers !== undefined),
  })
  return RESPONSE_ALREADY_SENT
}

/** The query of a URL, without the question mark. */
function queryOf(url: string): string {
  return url.includes('?') ? new URL(url).search.slice(1) : ''
}

/** Begins a request here: the first time, or after another replica could not serve it. `refusal`: no replica can. */
function begin(request: FrontRequest, refusal?: Fault): void {
  const { parts, route, bindings, headers, caller, query, params } = request
  const { outgoing } = bindings
  const known = 'fault' in caller ? REFUSED : caller
  const detour = parts.peers && detourFor(request, parts.peers, known)
  const sink = new HttpSink(outgoing, () => client.drained(), { detour, begun: request.begun })
  const context: FrontContext = {
    transport: 'http',
    // Hono gives HEAD to the handlers of GET; its answer ends with the head.
    method: route.endpoint.method,
    path: route.endpoint.path,
    query,
    params,
    headers,
    argv: [],
    env: {},
    ...(known.principal !== undefined && { principal: known.principal }),
  }
  const client = parts.engine.client({
    front: { name: route.front, codec: route.codec, dialect: route.dialect },
    input: route.endpoint.input,
    context,
    sink,
    carrier: carrierOf(headers),
    access: accessOf(known, params['agent'] ?? headers['turnpike-agent']),
  })
  if ('fault' in caller) {
    for (const [name, value] of Object.entries(caller.headers)) outgoing.setHeader(name, value)
    client.refuse(caller.fault)
  } else {
    const barred = refusal ?? frontRefusal(caller, route.front)
    const unreadable = unreadableBody(headers)
    if (barred) client.refuse(barred)
    else if (unreadable) client.refuse(unreadable, 415)
  }
  connect(client, request)
}

function detourFor(request: FrontRequest, peers: Peers, caller: Caller): Detour {
  const { parts, bindings, body, begun } = request
  const again = (refusal?: Fault): void => begin(request, refusal)
  return detourOf({
    engine: parts.engine,
    peers,
    bindings,
    body,
    from: { caller, forwarded: begun !== undefined },
    again,
  })
}

const LATE = fault('timeout', 'The request body timed out; send the request again.')

function connect(client: ClientLink, { bindings, parts, route, body }: FrontRequest): void {
  const { incoming, outgoing } = bindings
  outgoing.on('close', () => client.disconnect())
  watchHalfClose(incoming, outgoing, parts.engine.keepAliveMs, () => client.probe())
  client.open()
  body.readBy({
    push: (text) => client.push(text),
    end: () => client.end('eof'),
    fail: () => client.disconnect(),
  })
  watchBody(incoming, parts.patience(), route.endpoint.input !== 'body', () => client.refuse(LATE, 408))
}

function carrierOf(headers: Readonly<Record<string, string>>): Carrier {
  const { traceparent, tracestate, baggage } = headers
  return { ...(traceparent && { traceparent }), ...(tracestate && { tracestate }), ...(baggage && { baggage }) }
}

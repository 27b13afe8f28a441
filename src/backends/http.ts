import type { Agent, Dispatcher } from 'undici'
import type { Backend, Call, Carrier } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'
import { failedCall } from './failed.ts'
import { HttpCall } from './http-call.ts'

/** The settings of an agent that is an HTTP server. */
export interface HttpConfig {
  /** `http:` or `https:`; a call's path is appended to its path. User name and password become Basic authentication. */
  url: string
  headers: Readonly<Record<string, string>>
  timeouts?: {
    /** Milliseconds for establishing a connection; 10 000 when absent. The engine limits the time of an answer. */
    connect?: number
  }
}

type HttpCallOf = Extract<Call, { kind: 'http' }>

/** Headers of the message framing on a connection, which the HTTP client sets. */
const FRAMING_HEADERS = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
])

/** The destination of requests, with the configured headers. */
interface HttpTarget {
  origin: string
  path: string
  /** Host and port, for messages. */
  where: string
  headers: Readonly<Record<string, string>>
}

/**
 * A backend of HTTP calls. A connection is only reused for the time that the server promises to keep it (`Keep-Alive` with
 * a `timeout`). A server without a promise may close it while a request is under way, and nobody could tell whether the
 * request was read; such servers get a new connection for each call. A body is sent with its `Content-Length`; redirects
 * are not followed, so that credentials only go to their host; the only time limit is that for connecting.
 */
export function httpBackend(config: HttpConfig): Backend {
  const running: HttpCall[] = []
  const idle: (() => void)[] = []
  let agent: Agent | undefined
  let closed = false
  /** The server keeps connections; undefined until it has answered. */
  let keeps: boolean | undefined
  /** The target of the last call: those of most agents have one path. */
  let last: { path: string | undefined; target: HttpTarget | undefined } | undefined
  const targetAt = (path: string | undefined): HttpTarget | undefined => {
    if (!last || last.path !== path) last = { path, target: targetOf(config, path) }
    return last.target
  }
  const onHead = (headers: Readonly<Record<string, string>>): void => {
    if (keeps === false) return
    keeps = /timeout=\d/.test(headers['keep-alive'] ?? '')
    if (keeps) return
    // Its calls go on to their end.
    void agent?.close()
    agent = undefined
  }
  const onEnd = (call: HttpCall) => {
    const at = running.indexOf(call)
    if (at >= 0) running.splice(at, 1)
    if (running.length === 0) for (const done of idle.splice(0)) done()
  }
  /** Loads the client library at the first call, because it takes longer to load than everything else here. */
  const load = async (): Promise<Agent> => {
    const undici = await import('undici')
    agent ??= new undici.Agent({
      connect: { timeout: config.timeouts?.connect ?? 10_000 },
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    })
    return agent
  }
  return {
    open(call, sink, trace) {
      if (call.kind !== 'http') return failedCall(WRONG_KIND, sink, call.call)
      if (closed) return failedCall(CLOSED, sink, call.call)
      const target = targetAt(call.path)
      if (!target) return failedCall(BAD_URL, sink, call.call)
      const handle = new HttpCall({
        call: call.call,
        where: target.where,
        sink,
        onHead,
        mayBeKept: () => keeps === true,
        onEnd,
      })
      running.push(handle)
      const request = requestOf(target, call, trace, keeps === false)
      if (agent) dispatch(agent, handle, request)
      else
        load().then(
          (loaded) => dispatch(loaded, handle, request),
          (error) => handle.fail(error),
        )
      return handle
    },
    async close() {
      closed = true
      if (running.length > 0) {
        const ended = new Promise<void>((done) => idle.push(done))
        for (const call of [...running]) call.stop('cancelled')
        await ended
      }
      await agent?.destroy()
    },
  }
}

const WRONG_KIND: Fault = fault(
  'internal',
  'The agent is configured by a `url`, but its protocol asked for a process; configure a `command` for it.',
)
const CLOSED: Fault = fault('agent-unavailable', 'The gateway is shutting down; try again when it is back.')
const BAD_URL: Fault = fault(
  'agent-unavailable',
  "The agent's `url` is not a valid http or https address; correct it in the configuration.",
)

function dispatch(agent: Agent, handle: HttpCall, request: Dispatcher.DispatchOptions): void {
  if (handle.settled) return
  try {
    agent.dispatch(request, handle)
  } catch (error) {
    handle.fail(error)
  }
}

/** The configured URL with a path (and query) appended to it; undefined when it is not an HTTP URL. */
function urlOf(base: string, appended = ''): URL | undefined {
  const url = URL.parse(base)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (appended === '') return url
  const mark = appended.indexOf('?')
  const path = mark < 0 ? appended : appended.slice(0, mark)
  if (path !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}/${path.replace(/^\//, '')}`
  if (mark >= 0) url.search = url.search === '' ? appended.slice(mark) : `${url.search}&${appended.slice(mark + 1)}`
  return url
}

/** The target of calls with this path; undefined when the configured URL is none. User and password become a header. */
function targetOf({ url: base, headers: configured }: HttpConfig, path: string | undefined): HttpTarget | undefined {
  const url = urlOf(base, path)
  if (!url) return undefined
  const headers: Record<string, string> = {}
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decoded(url.username)}:${decoded(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  addHeaders(headers, configured)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return { origin: url.origin, path: url.pathname + url.search, where: `${url.hostname}:${port}`, headers }
}

/** Adds headers in place of earlier ones of any case, without those of the framing. */
function addHeaders(headers: Record<string, string>, more: Readonly<Record<string, string>> = {}): void {
  for (const name in more) {
    const lower = name.toLowerCase()
    if (!FRAMING_HEADERS.has(lower)) headers[lower] = more[name]!
  }
}

/** Configured headers, then the call's, then the trace context. `reset`: the connection is closed after the answer. */
function requestOf(
  { origin, path, headers: configured }: HttpTarget,
  { method, headers: own, body }: HttpCallOf,
  trace: Carrier,
  reset: boolean,
): Dispatcher.DispatchOptions {
  const headers = { ...configured }
  addHeaders(headers, own)
  for (const name of ['traceparent', 'tracestate', 'baggage'] as const) {
    const value = trace[name]
    if (value !== undefined) headers[name] = value
  }
  const withoutBody = body === '' && (method === 'GET' || method === 'HEAD')
  return { origin, path, method, headers, body: withoutBody ? null : Buffer.from(body), reset }
}

/** A percent-encoded text decoded; one with a stray percent sign as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

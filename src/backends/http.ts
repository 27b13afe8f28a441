import type { Agent } from 'undici'
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

/** The destination and headers of a request. */
interface HttpTarget {
  origin: string
  path: string
  headers: Record<string, string>
  /** The connection is closed after the answer. */
  reset?: boolean
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
      const url = urlOf(config.url, call.path)
      if (!url) return failedCall(BAD_URL, sink, call.call)
      const handle = new HttpCall({
        call: call.call,
        where: hostAndPort(url),
        sink,
        onHead,
        mayBeKept: () => keeps === true,
        onEnd,
      })
      running.push(handle)
      const request = { ...requestOf(url, config.headers, call, trace), reset: keeps === false }
      if (agent) dispatch(agent, handle, request, call)
      else
        load().then(
          (loaded) => dispatch(loaded, handle, request, call),
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

function dispatch(agent: Agent, handle: HttpCall, request: HttpTarget, call: HttpCallOf): void {
  if (handle.settled) return
  try {
    const withoutBody = call.body === '' && (call.method === 'GET' || call.method === 'HEAD')
    agent.dispatch({ ...request, method: call.method, body: withoutBody ? null : Buffer.from(call.body) }, handle)
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

function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`
}

/** Configured headers, then the call's, then the trace context; a later one replaces an earlier one of any case. */
function requestOf(
  url: URL,
  configured: Readonly<Record<string, string>>,
  call: HttpCallOf,
  trace: Carrier,
): HttpTarget {
  const headers: Record<string, string> = {}
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decoded(url.username)}:${decoded(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  for (const [name, value] of [...Object.entries(configured), ...Object.entries(call.headers ?? {})]) {
    const lower = name.toLowerCase()
    if (!FRAMING_HEADERS.has(lower)) headers[lower] = value
  }
  for (const name of ['traceparent', 'tracestate', 'baggage'] as const) {
    const value = trace[name]
    if (value !== undefined) headers[name] = value
  }
  return { origin: url.origin, path: url.pathname + url.search, headers }
}

/** A percent-encoded text decoded; one with a stray percent sign as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

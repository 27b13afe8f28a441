import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Replica } from '../contract/index.ts'
import type { Passport } from './passport.ts'
import { type Patience, UnderWay } from './under-way.ts'

/** Headers of one connection (RFC 9110, section 7.6.1), those that are written here, and the keys and logins of clients. */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'host',
  'origin',
  'authorization',
  'x-api-key',
  'cookie',
])

/** Headers of an answer that the first replica, which the client is connected to, writes itself. */
const OF_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date'])

/** The header by which a replica says that it has not done a request: `moved`, its session is not here, or `unproven`. */
export const MISDIRECTED_HEADER = 'turnpike-misdirected'

/**
 * The reason why a request has no answer: `unreached`, it did not arrive at the replica; `misdirected`, the replica has
 * not carried it out because the session is not its own; `unproven`, it does not take this process for a replica;
 * `broken`, the connection was lost, and it may have been carried out.
 */
export type ForwardedFate = 'unreached' | 'misdirected' | 'unproven' | 'broken'

/** A client's request on its way to another replica. */
export interface ForwardedRequest {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** The client, as JSON. */
  caller: string
  /** The answer begins. */
  answered(): void
  /** It has no answer, and nothing was written to the client. */
  failed(fate: ForwardedFate): void
}

/** A request to another replica. */
interface Sending {
  address: string
  method: string
  path: string
  headers: Record<string, string | string[]>
}

/** The body of a forwarded request. */
export interface ForwardedBody {
  push(text: string): void
  end(): void
  /** The client is gone. */
  abort(): void
}

/** Sends requests to other replicas over kept connections, and their answers back as they come. */
export class Forwarder {
  readonly #passport: Passport
  readonly #http = new HttpAgent({ keepAlive: true, scheduling: 'lifo' })
  readonly #https = new HttpsAgent({ keepAlive: true, scheduling: 'lifo' })
  readonly #patience: Patience
  readonly #underWay: UnderWay

  /** `patience` is for replicas that answer nothing. */
  constructor(passport: Passport, patience: Patience) {
    this.#passport = passport
    this.#patience = patience
    this.#underWay = new UnderWay(async (replica) => (await this.ask(replica, replicaPath(replica))) !== 0, patience)
  }

  /**
   * Sends a request on, with its method, path and headers, for the same client. The answer goes to the client as it is,
   * with its trailers, and no faster than the client reads it.
   */
  forward(replica: Replica, { incoming, outgoing, caller, answered: begun, failed }: ForwardedRequest): ForwardedBody {
    const method = incoming.method ?? 'GET'
    const path = incoming.url ?? '/'
    const headers = { ...passedOn(incoming.headers), ...this.#passport.sign({ method, path, caller }) }
    let answered = false
    let connected = false
    const sent = this.#open({ address: replica.address, method, path, headers }, () => {
      connected = true
    })
    this.#underWay.add(replica, sent)
    sent.once('response', (answer) => {
      answered = true
      const why = answer.headers[MISDIRECTED_HEADER]
      if (why !== undefined) {
        answer.resume()
        failed(why === 'unproven' ? 'unproven' : 'misdirected')
      } else {
        begun()
        passBack(answer, outgoing)
      }
    })
    sent.on('error', () => {
      if (answered || outgoing.destroyed) outgoing.destroy()
      else failed(connected ? 'broken' : 'unreached')
      answered = true
    })
    const resume = (): void => void incoming.resume()
    sent.on('drain', resume)
    // A client that sends no more may be gone: the other replica knows what it can write to find out.
    const sendNoMore = (): void => {
      if (sent.writableFinished) sent.socket?.end()
      else sent.once('finish', () => sent.socket?.end())
    }
    if (incoming.socket.readableEnded) sendNoMore()
    else incoming.socket.once('end', sendNoMore)
    const left = (): void => {
      sent.off('drain', resume)
      if (!outgoing.writableFinished) sent.destroy()
    }
    outgoing.once('close', left)
    sent.once('close', () => {
      outgoing.off('close', left)
      incoming.socket.off('end', sendNoMore)
    })
    return {
      push(text) {
        if (!sent.destroyed && !sent.write(text)) incoming.pause()
      },
      end: () => void sent.end(),
      abort: () => void sent.destroy(),
    }
  }

  /** Asks a replica for itself. Gives the status of the answer; 0 when there is none. */
  async ask(replica: Replica, path: string): Promise<number> {
    return (await this.read(replica, path)).status
  }

  /** Asks a replica for itself, or for a client (as JSON). Gives the status and text of the answer; 0 when there is none. */
  read({ address }: Replica, path: string, caller = ''): Promise<{ status: number; text: string }> {
    return new Promise((resolve) => {
      const method = 'POST'
      const sent = this.#open({ address, method, path, headers: this.#passport.sign({ method, path, caller }) })
      const fail = (): void => resolve({ status: 0, text: '' })
      sent.setTimeout(this.#patience.answerMs, () => sent.destroy(new Error('the replica does not answer')))
      sent.once('response', (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.on('error', fail)
      })
      sent.on('error', fail)
      sent.end()
    })
  }

  /** Gives up the requests under way to a replica. */
  gone(replica: Pick<Replica, 'address'>): void {
    this.#underWay.giveUp(replica)
  }

  /** Resolves when no request is under way that changes something, or after `ms` milliseconds. */
  untilIdle(ms: number): Promise<void> {
    return this.#underWay.untilIdle(ms)
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  /** `connected` is called when there is a connection, before anything is sent. */
  #open({ address, method, path, headers }: Sending, connected = () => {}): ClientRequest {
    const { protocol, hostname, port, pathname } = new URL(address)
    const base = pathname.replace(/\/$/, '')
    const to = { hostname: hostname.replace(/^\[|\]$/g, ''), port, method, path: base + path, headers }
    const isSecure = protocol === 'https:'
    const sent = isSecure ? httpsRequest({ ...to, agent: this.#https }) : httpRequest({ ...to, agent: this.#http })
    sent.once('socket', (socket) => {
      if (!socket.connecting) return connected()
      const timer = setTimeout(() => sent.destroy(new Error('the replica cannot be reached')), this.#patience.connectMs)
      const stop = (): void => clearTimeout(timer)
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        stop()
        connected()
      })
      sent.once('close', stop)
    })
    return sent
  }
}

/** The path at which a replica says whether it is the one of this lease. */
export function replicaPath({ owner }: Pick<Replica, 'owner'>): string {
  return `/v1/cluster/replicas/${encodeURIComponent(owner)}`
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_CONNECTION.has(name)) kept[name] = value
  }
  return kept
}

/** Writes an answer to the client. A stand-in's wire has its head already, which is the same everywhere. */
function passBack(answer: IncomingMessage, outgoing: ServerResponse): void {
  if (!outgoing.headersSent) passHead(answer, outgoing)
  else if (answer.statusCode !== 200) outgoing.destroy()
  answer.on('data', (piece: Buffer) => {
    if (!outgoing.write(piece)) answer.pause()
  })
  outgoing.on('drain', () => answer.resume())
  answer.on('end', () => {
    const trailers = Object.entries(answer.trailers).map(([name, value]) => [name, value ?? ''] as [string, string])
    if (trailers.length > 0) outgoing.addTrailers(trailers)
    outgoing.end()
  })
  // An answer that was cut there is cut here.
  answer.on('error', () => outgoing.destroy())
}

function passHead(answer: IncomingMessage, outgoing: ServerResponse): void {
  const { headersDistinct, statusCode = 502 } = answer
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (!OF_HOP.has(name)) outgoing.setHeader(name, values.length === 1 ? values[0]! : values)
  }
  outgoing.writeHead(statusCode)
  outgoing.flushHeaders()
}

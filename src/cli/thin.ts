import { existsSync } from 'node:fs'
import { connect, isIP, type Socket } from 'node:net'
import type { StandInFacts } from '../contract/index.ts'
import { frameDecoder } from '../framing/index.ts'
import { HttpExchange, type RequestHead } from '../startup/index.ts'
import type { Streams } from '../stdio.ts'
import { unwritten } from './unwritten.ts'
import { Wiretap } from './wiretap.ts'

/** A gateway that may be running: its Unix socket, or its URL with a key. */
export type GatewayAddress = { socket: string } | { url: string; key?: string }

/** The parameters of a stand-in. */
export interface ThinOptions {
  protocol: string
  facts: StandInFacts
  argv: readonly string[]
  agent?: string
  env: Readonly<Record<string, string | undefined>>
}

/** Variables that tracing reads. Only these and those of the protocol's fronts leave this process. */
const TRACING = ['TRACEPARENT', 'TRACESTATE', 'BAGGAGE']

/** The longest line of the gateway: its answers come in pieces of at most a pipe's size. */
const LINE_LIMIT = 256 * 1024 * 1024

/**
 * Hands this process's streams to a running gateway, as JSON lines in one HTTP exchange: `{"in"}`, `{"eof"}` and
 * `{"signal"}` there, `{"out"}`, `{"err"}` and `{"exit"}` back. Resolves with the exit code, or with undefined when no
 * gateway answers at the address, or with a message when it refuses this stand-in (then nothing was read from stdin).
 * When the gateway goes away in the middle, this process finishes the wire.
 */
export async function runThin(
  address: GatewayAddress,
  options: ThinOptions,
  streams: Streams,
): Promise<number | string | undefined> {
  if ('socket' in address && !existsSync(address.socket)) return undefined
  const { socket, head } = await open(address, options.protocol)
  return new Promise((resolve) => {
    const heard = new Wiretap()
    const answer = new Answer(options, streams, socket, heard, {
      read: (read) => exchange.write(`${JSON.stringify({ read })}\n`),
      done: resolve,
    })
    let status: number | undefined
    const exchange = new HttpExchange(socket, head, {
      status(code) {
        status = code
        if (code === 200) feed(exchange, socket, streams, heard)
        else resolve(`the gateway answered ${code} to this stand-in`)
      },
      data: (text) => status === 200 && answer.push(text),
      end: () => (status === undefined ? resolve(undefined) : answer.end()),
    })
    exchange.write(`${about(options, streams)}\n`)
  })
}

/** The connection to the gateway, which may still be opening, with path and headers of the request. */
async function open(address: GatewayAddress, protocol: string): Promise<{ socket: Socket; head: RequestHead }> {
  const path = `/v1/stdio/${protocol}`
  const headers = { Host: 'localhost', 'Content-Type': 'application/x-ndjson' }
  if ('socket' in address) return { socket: connect(address.socket), head: { path, headers } }
  const { protocol: scheme, hostname, port, host, pathname } = new URL(address.url)
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (scheme === 'https:' ? 443 : 80)) }
  const secure = scheme === 'https:' && (await import('node:tls'))
  // An IP address is not a server name (RFC 6066, section 3); Node would warn about it on standard error.
  const socket = secure ? secure.connect({ ...at, ...(!isIP(at.host) && { servername: at.host }) }) : connect(at)
  socket.setNoDelay(true)
  const key: Record<string, string> = address.key ? { Authorization: `Bearer ${address.key}` } : {}
  return { socket, head: { path: pathname.replace(/\/$/, '') + path, headers: { ...headers, Host: host, ...key } } }
}

/** The first line of the request: the start of this program. */
function about({ argv, agent, env, facts }: ThinOptions, { stdin }: Streams): string {
  const forwarded = [...(facts.env ?? []), ...TRACING].map((name) => [name, env[name]] as const)
  return JSON.stringify({ argv, agent, env: Object.fromEntries(forwarded), interactive: stdin.isTTY === true })
}

/** Standard input and signals, to the gateway. */
function feed(exchange: HttpExchange, socket: Socket, { stdin }: Streams, heard: Wiretap): void {
  const tell = (line: object): void => {
    if (!exchange.write(`${JSON.stringify(line)}\n`)) {
      stdin.pause()
      socket.once('drain', () => stdin.resume())
    }
  }
  const end = (): void => {
    heard.client(undefined)
    tell({ eof: true })
  }
  stdin.setEncoding('utf8')
  stdin.on('data', (text) => {
    heard.client(String(text))
    tell({ in: String(text) })
  })
  stdin.on('end', end)
  stdin.on('error', end)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => tell({ signal }))
}

/** One line of the gateway; `ask` requests a report when the reader has everything before it. */
interface AnswerLine {
  link?: string
  out?: string
  err?: string
  ask?: number
  closed?: number
  exit?: number
}

/** The callbacks of an answer. */
interface AnswerListener {
  /** The reader has everything before this question. */
  read(ask: number): void
  done(exitCode: number): void
}

/** The gateway's answer, to standard output and error. */
class Answer {
  readonly #options: ThinOptions
  readonly #streams: Streams
  readonly #socket: Socket
  readonly #heard: Wiretap
  readonly #listener: AnswerListener
  readonly #decoder = frameDecoder('ndjson', LINE_LIMIT, {
    frame: (frame) => this.#line(JSON.parse(String(frame)) as AnswerLine),
    fault: () => this.#socket.destroy(),
  })
  /** The exit code, which comes after everything else. */
  #closed: number | undefined
  #finished = false

  constructor(options: ThinOptions, streams: Streams, socket: Socket, heard: Wiretap, listener: AnswerListener) {
    this.#options = options
    this.#streams = streams
    this.#socket = socket
    this.#heard = heard
    this.#listener = listener
    // Our output cannot be written; the gateway is not at fault.
    streams.stdout.on('error', (error) => {
      if (this.#finished) return
      this.#finished = true
      socket.destroy()
      listener.done(unwritten(options.facts, error))
    })
  }

  push(text: string): void {
    this.#decoder.push(text)
  }

  /** Without an exit code the gateway went away: this process finishes the wire. */
  end(): void {
    if (this.#finished) return
    if (this.#closed !== undefined) this.#finish(this.#closed)
    else void this.#goOnAlone()
  }

  async #goOnAlone(): Promise<void> {
    const { finishClientWire } = await import('./finish-wire.ts')
    this.#finish(await finishClientWire(this.#options, this.#heard, this.#streams))
  }

  #line({ link, out, err, ask, closed, exit }: AnswerLine): void {
    const { stdout } = this.#streams
    if (link !== undefined) this.#heard.link = link
    if (ask !== undefined) stdout.write('', (error) => !error && this.#listener.read(ask))
    if (err !== undefined) this.#streams.stderr.write(`${err}\n`)
    if (out !== undefined) this.#heard.agent(out)
    if (out !== undefined && !stdout.write(out)) {
      this.#socket.pause()
      stdout.once('drain', () => this.#socket.resume())
    }
    if (closed !== undefined) this.#closed = closed
    if (exit !== undefined) this.#finish(exit)
  }

  #finish(exitCode: number): void {
    if (this.#closed === undefined) this.#closed = exitCode
    // The callback of an empty write comes when the reader has everything before it. Errors are handled elsewhere.
    this.#streams.stdout.write('', (error) => {
      if (error || this.#finished) return
      this.#finished = true
      this.#listener.done(exitCode)
    })
  }
}

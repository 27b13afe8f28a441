import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { frameDecoder } from '../framing/index.ts'
import type { Streams } from '../stdio.ts'
import { HttpExchange, type RequestHead } from './http-exchange.ts'

/** A gateway that may be running: its Unix socket, or its URL with a key. */
export type GatewayAddress = { socket: string } | { url: string; key?: string }

/** What a stand-in is asked to be. */
export interface ThinOptions {
  protocol: string
  argv: readonly string[]
  agent?: string
  env: Readonly<Record<string, string | undefined>>
}

/** Variables that fronts and tracing read; nothing else of the environment leaves this process. */
const FORWARDED = /^(AGENT_|ZENE_|ZOTCORE_|QWEN_|TRACEPARENT$|TRACESTATE$|BAGGAGE$)/

/** Everything the gateway may say on one line: its answers come in pieces of at most a pipe's size. */
const LINE_LIMIT = 256 * 1024 * 1024

/**
 * Hands this process's streams to a running gateway, as JSON lines in one HTTP exchange: `{"in"}`, `{"eof"}` and
 * `{"signal"}` there, `{"out"}`, `{"err"}` and `{"exit"}` back. Resolves with the exit code, or with undefined when no
 * gateway answers at the address (nothing was read from stdin then).
 */
export async function runThin(
  address: GatewayAddress,
  options: ThinOptions,
  streams: Streams,
): Promise<number | undefined> {
  if ('socket' in address && !existsSync(address.socket)) return undefined
  const { socket, head } = await open(address, options.protocol)
  return new Promise((resolve) => {
    const answer = new Answer(streams, socket, (read) => exchange.write(`${JSON.stringify({ read })}\n`), resolve)
    let status: number | undefined
    const exchange = new HttpExchange(socket, head, {
      status(code) {
        status = code
        if (code === 200) feed(exchange, socket, streams)
        else streams.stderr.write(`turnpike: the gateway answered ${code} to this stand-in\n`)
        if (code !== 200) resolve(3)
      },
      data: (text) => status === 200 && answer.push(text),
      end: () => (status === undefined ? resolve(undefined) : answer.end()),
    })
    exchange.write(`${about(options, streams)}\n`)
  })
}

/** The connection to the gateway, which may still be on its way, and what is asked there. */
async function open(address: GatewayAddress, protocol: string): Promise<{ socket: Socket; head: RequestHead }> {
  const path = `/v1/stdio/${protocol}`
  const headers = { Host: 'localhost', 'Content-Type': 'application/x-ndjson' }
  if ('socket' in address) return { socket: connect(address.socket), head: { path, headers } }
  const { protocol: scheme, hostname, port, host, pathname } = new URL(address.url)
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (scheme === 'https:' ? 443 : 80)) }
  const secure = scheme === 'https:' && (await import('node:tls'))
  const socket = secure ? secure.connect({ ...at, servername: at.host }) : connect(at)
  socket.setNoDelay(true)
  const key: Record<string, string> = address.key ? { Authorization: `Bearer ${address.key}` } : {}
  return { socket, head: { path: pathname.replace(/\/$/, '') + path, headers: { ...headers, Host: host, ...key } } }
}

/** The first line of the request: how this program was started. */
function about({ argv, agent, env }: ThinOptions, { stdin }: Streams): string {
  const forwarded = Object.entries(env).filter(([name]) => FORWARDED.test(name))
  return JSON.stringify({ argv, agent, env: Object.fromEntries(forwarded), interactive: stdin.isTTY === true })
}

/** Standard input and signals, to the gateway. */
function feed(exchange: HttpExchange, socket: Socket, { stdin }: Streams): void {
  const tell = (line: object): void => {
    if (!exchange.write(`${JSON.stringify(line)}\n`)) {
      stdin.pause()
      socket.once('drain', () => stdin.resume())
    }
  }
  stdin.setEncoding('utf8')
  stdin.on('data', (text) => tell({ in: String(text) }))
  stdin.on('end', () => tell({ eof: true }))
  stdin.on('error', () => tell({ eof: true }))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => tell({ signal }))
}

/** One line of the gateway; `ask` wants to know when everything before it is with the reader. */
interface AnswerLine {
  out?: string
  err?: string
  ask?: number
  exit?: number
}

/** The gateway's answer, to standard output and error. */
class Answer {
  readonly #streams: Streams
  readonly #socket: Socket
  readonly #read: (ask: number) => void
  readonly #done: (exitCode: number) => void
  readonly #decoder = frameDecoder('ndjson', LINE_LIMIT, {
    frame: (frame) => this.#line(JSON.parse(String(frame)) as AnswerLine),
    fault: () => this.#socket.destroy(),
  })

  #finished = false

  constructor(streams: Streams, socket: Socket, read: (ask: number) => void, done: (exitCode: number) => void) {
    this.#read = read
    this.#streams = streams
    this.#socket = socket
    this.#done = done
    // Whoever started us has stopped reading: that is no fault of the gateway.
    streams.stdout.on('error', () => {
      this.#finished = true
      socket.destroy()
      done(1)
    })
  }

  push(text: string): void {
    this.#decoder.push(text)
  }

  /** Without an exit code the gateway went away: that is no success, whatever was written so far. */
  end(): void {
    if (this.#finished) return
    this.#streams.stderr.write('turnpike: the gateway went away before it had answered; send the request again\n')
    this.#finish(1)
  }

  #line({ out, err, ask, exit }: AnswerLine): void {
    const { stdout } = this.#streams
    if (ask !== undefined) stdout.write('', (error) => !error && this.#read(ask))
    if (err !== undefined) this.#streams.stderr.write(`${err}\n`)
    if (out !== undefined && !stdout.write(out)) {
      this.#socket.pause()
      stdout.once('drain', () => this.#socket.resume())
    }
    if (exit !== undefined) this.#finish(exit)
  }

  #finish(exitCode: number): void {
    this.#finished = true
    // The callback of an empty write comes when everything before it is with the reader.
    this.#streams.stdout.write('', (error) => this.#done(error ? 1 : exitCode))
  }
}

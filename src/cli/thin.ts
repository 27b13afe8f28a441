import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { frameDecoder } from '../framing/index.ts'
import type { Streams } from '../stdio.ts'
import { version } from './version.ts'

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
export function runThin(address: GatewayAddress, options: ThinOptions, streams: Streams): Promise<number | undefined> {
  return new Promise((resolve) => {
    const call = open(address, options, streams)
    call.once('error', () => resolve(undefined))
    call.once('response', (response) => {
      call.removeAllListeners('error')
      if (response.statusCode !== 200) {
        streams.stderr.write(`turnpike: the gateway answered ${response.statusCode} to this stand-in\n`)
        response.resume()
        resolve(3)
        return
      }
      call.on('error', () => resolve(1))
      feed(call, streams)
      follow(response, streams, resolve)
    })
    call.flushHeaders()
  })
}

function open(address: GatewayAddress, { protocol, argv, agent, env }: ThinOptions, { stdin }: Streams): ClientRequest {
  const forwarded = Object.entries(env).filter(([name]) => FORWARDED.test(name))
  const about = JSON.stringify({
    argv,
    agent,
    env: Object.fromEntries(forwarded),
    interactive: stdin.isTTY === true,
    version: version(),
  })
  const target =
    'socket' in address
      ? { socketPath: address.socket, path: `/v1/stdio/${protocol}` }
      : urlTarget(address.url, `/v1/stdio/${protocol}`)
  const key = 'key' in address && address.key ? { authorization: `Bearer ${address.key}` } : {}
  const call = request({
    ...target,
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', host: 'localhost', ...key },
  })
  call.setNoDelay(true)
  call.write(`${about}\n`)
  return call
}

function urlTarget(url: string, path: string): { hostname: string; port: string; path: string } {
  const { hostname, port, pathname } = new URL(url)
  return { hostname, port: port || '80', path: pathname.replace(/\/$/, '') + path }
}

/** Standard input and signals, to the gateway. */
function feed(call: ClientRequest, { stdin }: Streams): void {
  const tell = (line: object): void => {
    if (!call.write(`${JSON.stringify(line)}\n`)) {
      stdin.pause()
      call.once('drain', () => stdin.resume())
    }
  }
  stdin.setEncoding('utf8')
  stdin.on('data', (text) => tell({ in: String(text) }))
  stdin.on('end', () => tell({ eof: true }))
  stdin.on('error', () => tell({ eof: true }))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => tell({ signal }))
}

/** The gateway's answer, to standard output and error. */
function follow(response: IncomingMessage, { stdout, stderr }: Streams, done: (exitCode: number) => void): void {
  let exitCode: number | undefined
  const decoder = frameDecoder('ndjson', LINE_LIMIT, {
    frame: (frame) => {
      const line = JSON.parse(String(frame)) as { out?: string; err?: string; exit?: number }
      if (line.err !== undefined) stderr.write(`${line.err}\n`)
      if (line.exit !== undefined) exitCode = line.exit
      if (line.out !== undefined && !stdout.write(line.out)) {
        response.pause()
        stdout.once('drain', () => response.resume())
      }
    },
    fault: () => response.destroy(),
  })
  stdout.on('error', () => response.destroy())
  response.setEncoding('utf8')
  response.on('data', (text: string) => decoder.push(text))
  // Without an exit code the gateway went away: that is no success, whatever was written so far.
  response.on('close', () => stdout.write('', () => done(exitCode ?? 1)))
}

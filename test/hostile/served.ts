/** A gateway as its users run it: a process of its own, and what it takes of the machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LAUNCHER } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

/** What a gateway holds: resident bytes, open files, processes of its agents. */
export interface Held {
  rss: number
  files: number
  children: number
}

/** A gateway that was started, on a port of its own. */
export interface Served {
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly process: ChildProcess
  /** Its log so far. */
  logged(): string
  held(): Held
  stop(): Promise<void>
}

/**
 * The open files of one agent's pipes, both ends, of two shells that wait to become agents, and of up to eight pipes that
 * were made ahead: six at a time, when there are fewer than three. A gateway has none of these at its start, and then more
 * and fewer, from turn to turn.
 */
export const PIPE_FILES = 6 + 2 * 8 + 2 * 8

/** What the gateway may have in memory: one that keeps what it should not is gone. */
const HEAP_MIB = 192

export interface ServeOptions {
  /** What the gateway is run under. */
  under?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** A folder with a `turnpike.yaml` from an earlier start. */
  folder?: string
  /** The port of an earlier start: what that one has left is taken over at once. */
  port?: number
}

/** Starts `turnpike serve` on a configuration, in a folder of its own; resolves when it listens. */
export async function serve(yaml: string, { under = [], env = {}, folder, port }: ServeOptions = {}): Promise<Served> {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'turnpike-served-'))
  writeFileSync(join(home, 'turnpike.yaml'), yaml)
  const [program, ...args] = [...under, LAUNCHER, 'serve', ...(port === undefined ? [] : ['--port', String(port)])]
  const options = `--max-old-space-size=${HEAP_MIB} ${env['NODE_OPTIONS'] ?? ''}`
  const child = spawn(program!, args, {
    cwd: home,
    env: { ...process.env, ...env, NODE_OPTIONS: options },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let logged = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const found = /http:\/\/[\d.:]+/.exec(said)
      if (found) resolve(found[0])
    })
    child.once('exit', () => reject(new Error(`the gateway did not start: ${logged}`)))
  })
  const proc = `/proc/${child.pid}`
  return {
    url,
    port: Number(new URL(url).port),
    folder: home,
    process: child,
    logged: () => logged,
    held: () => ({
      rss: Number(readFileSync(`${proc}/statm`, 'utf8').split(' ')[1]) * 4096,
      files: readdirSync(`${proc}/fd`).length,
      children: agentsBelow(child.pid!),
    }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGINT')
        await ended
      }
      if (folder === undefined) rmSync(home, { recursive: true, force: true })
    },
  }
}

/** How many processes there are below one, but for those that start and end agents or make their pipes. */
function agentsBelow(pid: number): number {
  const below = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
  return below.reduce((sum, child) => {
    const own = /turnpike-(?:reaper|pipes|shell)|starter/.test(read(`/proc/${child}/cmdline`)) ? 0 : 1
    return sum + own + agentsBelow(child)
  }, 0)
}

/** A file of a process, empty when the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** A connection that says exactly what it is told, and what came back on it. */
export class Wire {
  readonly socket: Socket
  text = ''
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => {
      this.text += text
    })
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      this.socket.once('end', () => {
        this.socket.destroy()
        resolve()
      })
      this.socket.once('close', () => resolve())
    })
  }

  write(text: string): this {
    if (this.socket.writable) this.socket.write(text, 'latin1')
    return this
  }

  /** The statuses of all answers so far. */
  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  /** Resolves when this many answers have begun; rejects when the other side closes before. */
  async answers(count: number): Promise<void> {
    await until(() => this.statuses.length >= count || this.socket.destroyed)
    if (this.statuses.length < count) throw new Error(`closed after ${this.statuses.length} answers: ${this.text}`)
  }
}

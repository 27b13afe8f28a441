/** Recordings of what clients wrote, as far as they are replayed, and stand-ins that read it. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXAMPLE_AGENTS, ROOT } from '../kit/gateway.ts'
import { RECORDINGS } from '../kit/recordings.ts'

/** One entry of a recording. */
export interface Row {
  dir: string
  line: string
  truncated?: boolean
  truncated_from_chars?: number
}

/** The recordings of a folder whose names begin so, with their entries. */
export function recordings(folder: string, prefix = ''): { file: string; rows: Row[] }[] {
  const path = join(RECORDINGS, folder)
  const files = readdirSync(path).filter((file) => file.endsWith('.jsonl') && file.startsWith(prefix))
  return files.sort().map((file) => {
    const lines = readFileSync(join(path, file), 'utf8').trimEnd().split('\n')
    return { file, rows: lines.map((line) => JSON.parse(line) as Row) }
  })
}

/** The whole lines of one direction. */
export function linesOf(rows: readonly Row[], dir: string): string[] {
  const whole = rows.filter((row) => row.dir === dir && !row.truncated && !row.truncated_from_chars)
  return whole.map(({ line }) => line)
}

/** The first of each kind of recording: those that differ in nothing but what `kindOf` leaves out are one kind. */
export function distinct<T extends { file: string }>(all: readonly T[], kindOf: (one: T) => string): T[] {
  const kinds = new Map<string, T>()
  for (const one of all) if (!kinds.has(kindOf(one))) kinds.set(kindOf(one), one)
  return [...kinds.values()]
}

/** A running stand-in: its output is collected and can be waited for. */
export class Running {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #news = new EventTarget()
  readonly #closed: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], env: Record<string, string>) {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('AGENT_'))
    const command = [join(ROOT, 'dist/turnpike.cjs'), 'as', ...args]
    this.#child = spawn(process.execPath, command, { env: { ...Object.fromEntries(own), ...env } })
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.#news.dispatchEvent(new Event('news'))
    })
    this.#closed = new Promise((resolve) =>
      this.#child.on('close', (code) => {
        resolve(code)
        this.#news.dispatchEvent(new Event('news'))
      }),
    )
  }

  /** Its output so far as JSON lines. */
  get objects(): Record<string, unknown>[] {
    const lines = this.stdout.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  write(line: string): void {
    this.writeText(`${line}\n`)
  }

  writeText(text: string): void {
    this.#child.stdin.write(text)
  }

  end(): void {
    this.#child.stdin.end()
  }

  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  /** Waits until the output fulfils the condition, or the program has ended. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition() && this.#child.exitCode === null) await once(this.#news, 'news')
  }

  /** The exit code. */
  ended(): Promise<number | null> {
    return this.#closed
  }
}

/** A gateway of the example agents, and stand-ins of it. */
export interface Replayed {
  start(args: readonly string[], env?: Record<string, string>): Running
  close(): Promise<void>
}

/** Starts the gateway. `start` takes what stands behind `turnpike as`. */
export async function replayGateway(): Promise<Replayed> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-recorded-'))
  const config = join(folder, 'turnpike.yaml')
  writeFileSync(
    config,
    `server: { port: 0 }\ndefault: coder\nagents:${EXAMPLE_AGENTS}store: { kind: sqlite, path: ./turnpike.db }\n`,
  )
  const args = [join(ROOT, 'dist/turnpike.cjs'), 'serve', '--config', config]
  const gateway: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(gateway.stdout!, 'data')
  return {
    start: ([protocol, ...rest], env = {}) => new Running([protocol!, '--config', config, ...rest], env),
    async close() {
      const ended = once(gateway, 'exit')
      gateway.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Programs of the benchmarks: started, waited for, measured from outside, ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../kit/gateway.ts'

const BENCH = import.meta.dirname

/** The path of a file of the benchmarks. */
export function benchFile(path: string): string {
  return join(BENCH, path)
}

/** A program that runs, and the lines that it writes. */
export class Program {
  readonly child: ChildProcess
  readonly #lines: string[] = []
  readonly #waiting: ((line: string | undefined) => void)[] = []
  #rest = ''
  #ended = false
  #how = ''

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(command, [...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#data(text))
    this.child.on('close', (code, signal) => {
      this.#ended = true
      this.#how = signal ?? `exit code ${code}`
      for (const give of this.#waiting.splice(0)) give(undefined)
    })
  }

  /** The next line of its output. Throws when it ends without one. */
  async line(): Promise<string> {
    const line = this.#lines.shift() ?? (this.#ended ? undefined : await this.#next())
    if (line === undefined) throw new Error(`${this.child.spawnargs.join(' ')} ended (${this.#how}) without a word`)
    return line
  }

  /** Ends it; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#ended) return
    const gone = new Promise((resolve) => this.child.once('close', resolve))
    this.child.kill('SIGINT')
    const harder = setTimeout(() => this.child.kill('SIGKILL'), 3000)
    await gone
    clearTimeout(harder)
  }

  #next(): Promise<string | undefined> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #data(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      const give = this.#waiting.shift()
      if (give) give(line)
      else this.#lines.push(line)
    }
  }
}

/** A TypeScript program of the benchmarks. */
export function program(
  path: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Program {
  return new Program(process.execPath, [benchFile(path), ...args], env)
}

/** Runs one to its end; gives the JSON of its last line. */
export async function report<T>(path: string, args: readonly string[]): Promise<T> {
  const running = program(path, args)
  const line = await running.line()
  await running.stop()
  return JSON.parse(line) as T
}

/** Processor time that all threads of a process have had, in microseconds. Linux. */
export function cpuMicros(pid: number): number {
  let nanos = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanos / 1000
}

/** The processes of a command with its arguments. Linux. */
export function processesOf(command: readonly string[]): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const args = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'utf8') : ''
      return args === `${command.join('\0')}\0` ? [Number(name)] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

/** Memory of a process that is resident and its own, in MB (2^20 bytes): what it shares with files is not counted. */
export function memoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)![1]) / 1024
}

/** All of its resident memory, in MB. */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/** What a command is given, and what its output must hold. */
export interface Timing {
  input?: string
  expected?: string
}

/** Runs a command to its end; how long that took, in milliseconds. Fails when it does, or does not say what is expected. */
export function timed(
  command: string,
  args: readonly string[],
  { input = '', expected = '' }: Timing = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stdin.on('error', () => {})
    child.on('error', reject)
    child.on('close', (code) => {
      const took = performance.now() - begin
      if (code === 0 && output.includes(expected)) resolve(took)
      else reject(new Error(`${command} ${args.join(' ')} exited with ${code} and said ${output || 'nothing'}`))
    })
    child.stdin.end(input)
  })
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type ProcessConfig, Starter } from '../../src/backends/index.ts'
import type { Backend, Call, CallEnd, CallHandle, CallHead, Carrier } from '../../src/contract/index.ts'

/** The folder of the programs that tests run. */
export const FIXTURES = join(import.meta.dirname, 'fixtures')

/** A process backend's configuration for the fixtures, with what a test changes of it. */
export function config(more: Partial<ProcessConfig> = {}): ProcessConfig {
  return { command: 'cat', args: [], cwd: FIXTURES, env: {}, hostEnv: process.env, ...more }
}

/** The program of the starter. */
export const STARTER = join(import.meta.dirname, '../../src/backends/starter-main.ts')

/** The ways to start a process: each has to behave like the other. */
export const WAYS = ['directly', 'by the starter'] as const

/** What makes a process backend start in one of these ways. To be called in a `describe`, for whose tests it holds. */
export function startedIn(way: (typeof WAYS)[number]): Pick<ProcessConfig, 'starter'> {
  if (way === 'directly') return {}
  const starter = new Starter({ program: STARTER })
  beforeAll(async () => {
    if (!(await starter.prepare())) throw new Error('The starter did not start.')
  })
  afterAll(() => starter.close())
  return { starter }
}

/** A call of a program. */
export function run(command: string, ...args: string[]): Call {
  return { kind: 'process', command, args, stdin: 'open' }
}

/** A call of a fixture that is a module of Node. */
export function node(fixture: string, ...args: string[]): Call {
  return run(process.execPath, join(FIXTURES, fixture), ...args)
}

/** A call that a test watches. */
export interface Watched {
  handle: CallHandle
  ended: Promise<CallEnd>
  /** Names of what the sink was told, in order; data and logs are named once in a row. */
  said: string[]
  heads: CallHead[]
  text(): string
  log(): string
  /** Resolves when the condition holds after something came; rejects when the call ends before. */
  until(condition: () => boolean): Promise<void>
}

/** Opens a call and remembers what comes of it. */
export function open(backend: Backend, call: Call, trace: Carrier = {}): Watched {
  const said: string[] = []
  const heads: CallHead[] = []
  const waiting = new Set<{ condition: () => boolean; done(): void; failed(error: Error): void }>()
  let text = ''
  let log = ''
  const { promise: ended, resolve } = Promise.withResolvers<CallEnd>()
  const tell = (what: string) => {
    if (said.at(-1) !== what) said.push(what)
    for (const one of waiting) if (one.condition()) one.done()
  }
  const handle = backend.open(
    call,
    {
      started: () => tell('started'),
      head: (head) => {
        heads.push(head)
        tell('head')
      },
      data: (piece) => {
        text += piece
        tell('data')
      },
      log: (piece) => {
        log += piece
        tell('log')
      },
      end: (end) => {
        // Pushed each time, so that a second end shows.
        said.push('end')
        for (const one of waiting) one.failed(new Error(`The call ended: ${JSON.stringify(end)} ${text}`))
        resolve(end)
      },
    },
    trace,
  )
  const until = (condition: () => boolean) =>
    new Promise<void>((done, failed) => {
      if (condition()) done()
      else waiting.add({ condition, done, failed })
    })
  return { handle, ended, said, heads, text: () => text, log: () => log, until }
}

/** Resolves when a condition that no event tells of holds; a test's own time limit bounds it. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 10))
}

/** Whether no process of that pid runs; one that ended and only waits to be collected counts as gone. */
export function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return true
  }
}

/** Resolves when all of them are gone. */
export async function gone(...pids: number[]): Promise<void> {
  await eventually(() => pids.every(isGone))
}

/** The processes whose command line holds this text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) && !isGone(pid)
      } catch {
        return false
      }
    })
}

/** The numbers in a text, such as the pids that a fixture printed. */
export function numbers(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number)
}

/** The first two numbers of a text. */
export function twoPids(text: string): [number, number] {
  const [first, second] = numbers(text)
  if (first === undefined || second === undefined) throw new Error(`There are no two pids in: ${text}`)
  return [first, second]
}

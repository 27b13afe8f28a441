import { type ChildProcess, spawn } from 'node:child_process'
import { type AgentEvents, type AgentProcess, type AgentStart, tellLog, tellOutput } from './agent-process.ts'
import type { Reaper } from './reaper.ts'
import { signalGroup } from './terminate.ts'

/** Starts a process as a child of this one, which holds the event loop while the system copies its page tables. */
export function startDirectly(start: AgentStart, events: AgentEvents, reaper: Reaper): AgentProcess {
  const { command, args, cwd, env } = start
  try {
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    return new DirectProcess(child, events, reaper)
  } catch (error) {
    setImmediate(() => events.failed(error))
    return NEVER_RAN
  }
}

const NEVER_RAN: AgentProcess = {
  pid: undefined,
  write: () => 0,
  endInput() {},
  pauseOutput() {},
  resumeOutput() {},
  close() {},
}

class DirectProcess implements AgentProcess {
  readonly pid: number | undefined
  readonly #child: ChildProcess
  readonly #reaper: Reaper

  constructor(child: ChildProcess, events: AgentEvents, reaper: Reaper) {
    this.#child = child
    this.#reaper = reaper
    this.pid = child.pid
    if (this.pid !== undefined) reaper.watch(this.pid)
    child.on('spawn', () => events.started())
    child.on('error', (error) => {
      if (child.pid === undefined) events.failed(error)
    })
    child.on('exit', (code, signal) => events.exited(code, signal))
    // An agent that ends without reading its input breaks the pipe; that is its right.
    child.stdin?.on('error', () => {})
    if (child.stdout) tellOutput(child.stdout, events)
    if (child.stderr) tellLog(child.stderr, events)
  }

  write(piece: string | Uint8Array): number {
    const { stdin } = this.#child
    if (!stdin?.writable) return 0
    stdin.write(piece)
    return stdin.writableLength
  }

  endInput(): void {
    const { stdin } = this.#child
    if (stdin?.writable) stdin.end()
  }

  pauseOutput(): void {
    this.#child.stdout?.pause()
  }

  resumeOutput(): void {
    this.#child.stdout?.resume()
  }

  close(): void {
    if (this.pid !== undefined) {
      signalGroup(this.pid, 'SIGKILL')
      this.#reaper.forget(this.pid)
    }
    // Without a descriptor to be had there is not even a list of streams.
    for (const stream of this.#child.stdio ?? []) stream?.destroy()
  }
}

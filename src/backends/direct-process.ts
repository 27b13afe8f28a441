import { spawn } from 'node:child_process'
import type { AgentEvents, AgentProcess, AgentStart } from './agent-process.ts'
import { type AgentEnds, type Launcher, PipedProcess } from './piped-process.ts'
import { gatewayPipes } from './pipes.ts'
import type { Reaper } from './reaper.ts'

/** Starts a process as a child of this one, which holds the event loop while the system copies its page tables. */
export function startDirectly(start: AgentStart, events: AgentEvents, reaper: Reaper): AgentProcess {
  return new PipedProcess(events, new DirectLauncher(start, reaper), gatewayPipes())
}

/** Starts one process as a child of this one; on sockets when it gets no pipes. */
export class DirectLauncher implements Launcher {
  readonly #start: AgentStart
  readonly #reaper: Reaper
  #pid: number | undefined

  constructor(start: AgentStart, reaper: Reaper) {
    this.#start = start
    this.#reaper = reaper
  }

  launch(process: PipedProcess, ends: AgentEnds | undefined): void {
    const { command, args, cwd, env } = this.#start
    try {
      const stdio = ends ? [...ends] : ['pipe' as const, 'pipe' as const, 'pipe' as const]
      const child = spawn(command, [...args], { cwd, env, detached: true, stdio })
      const { pid, stdin, stdout, stderr } = child
      this.#pid = pid
      if (pid !== undefined) {
        this.#reaper.watch(pid)
        child.on('spawn', () => process.started(pid))
      }
      if (stdin && stdout && stderr) process.adopt(stdin, stdout, stderr)
      child.on('error', (error) => {
        if (pid === undefined) process.failed(error)
      })
      child.on('exit', (code, signal) => process.exited(code, signal))
    } catch (error) {
      setImmediate(() => process.failed(error))
    }
  }

  over(): void {
    if (this.#pid !== undefined) this.#reaper.forget(this.#pid)
  }
}

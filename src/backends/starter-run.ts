import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { AgentEvents, AgentProcess, AgentStart } from './agent-process.ts'
import { DirectLauncher } from './direct-process.ts'
import { type Launcher, PipedProcess } from './piped-process.ts'
import { closePipes, gatewayPipes, type Taken } from './pipes.ts'
import { gatewayReaper } from './reaper.ts'
import { StarterError } from './spawn-fault.ts'
import { messageReader, type StarterOrder, type StarterReport, type StarterSetup } from './starter-wire.ts'

/** How long a starter may say nothing although it has an order, in milliseconds. */
const SILENT_MS = 10_000
/** The pipes of so many agents are made ahead: a start takes longer than their making, and each takes six descriptors. */
const PIPED_AHEAD = 2
/** What keeps the program small: its size is what a start costs. docs/performance.md has the figures. */
const NODE_OPTIONS = ['--single-threaded', '--max-semi-space-size=1', '--optimize-for-size']

/** How the starter is run. */
export interface StarterConfig {
  /** The file of its program. */
  program: string
  /** A starter that says nothing for so long although it has an order is ended, in milliseconds (10 s). */
  silentMs?: number
  /** Told, in words, when agents are started directly although they should not be. */
  trouble?(message: string): void
}

/** One starter from its start to its end. */
export class StarterRun {
  readonly ready: Promise<boolean>
  isReady = false
  /** It has started an agent. */
  hasServed = false
  /** Why it has not. */
  vain = 'it ended before it started any'
  readonly #silentMs: number
  readonly #processes = new Map<number, PipedProcess>()
  readonly #onEnd: () => void
  readonly #settle: (ready: boolean) => void
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  /** Its stdout. Like its stdin it is a socket, which need not keep this process alive. */
  readonly #says: Socket
  #isOver = false
  #count = 0
  /** Orders without an answer. */
  #waiting = 0
  #patience: NodeJS.Timeout | undefined
  /** How many reports have come. */
  #heard = 0

  /** Throws when there can be none. `onEnd` is called once, when it is gone. */
  constructor({ program, silentMs = SILENT_MS }: StarterConfig, onEnd: () => void) {
    this.#silentMs = silentMs
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.ready = promise
    this.#settle = resolve
    this.#onEnd = onEnd
    this.#child = this.#spawn(program)
    this.#says = this.#child.stdout as Socket
    gatewayPipes().take((taken) => this.#setUp(taken))
    gatewayPipes().keep(PIPED_AHEAD)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  start(agent: AgentStart, events: AgentEvents): AgentProcess {
    this.#count += 1
    const id = this.#count
    const launched = new PipedProcess(events, this.#launcher(id, agent), gatewayPipes())
    this.#processes.set(id, launched)
    // What an agent says may be long in coming; it is waited for.
    if (this.#processes.size === 1) this.#says.ref()
    return launched
  }

  #launcher(id: number, agent: AgentStart): Launcher {
    let direct: DirectLauncher | undefined
    return {
      launch: (process, ends) => {
        if (ends) this.#order({ id, ends, ...agent })
        else {
          direct = new DirectLauncher(agent, gatewayReaper())
          direct.launch(process, ends)
        }
      },
      over: () => {
        direct?.over()
        this.#forget(id)
      },
    }
  }

  /** It takes orders when it can open descriptors of this process. */
  #setUp(pipes: Taken): void {
    if (pipes && !(pipes instanceof Error)) {
      this.#send({ gateway: process.pid, probe: pipes[0].read })
      void this.ready.then(() => closePipes(pipes))
      return
    }
    this.vain = pipes ? pipes.message : 'pipes cannot be made here'
    this.#child.stdin?.end()
  }

  /** In a session of its own, so that no signal of a terminal reaches it; never keeping this process alive. */
  #spawn(program: string): ChildProcessByStdio<Writable, Readable, null> {
    const child = spawn(process.execPath, [...NODE_OPTIONS, program], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    child.on('error', () => this.close())
    // With all that it said before.
    child.on('close', () => this.close())
    // Without a pid it has no streams either, where the system has no more of them.
    if (child.pid === undefined) return child
    // One that does not see that the gateway is gone is ended too.
    gatewayReaper().watch(child.pid)
    for (const stream of [child.stdin, child.stdout] as Socket[]) stream.on('error', () => {}).unref()
    child.stdout.setEncoding('utf8').on(
      'data',
      messageReader<StarterReport>((report) => this.#reported(report)),
    )
    child.unref()
    return child
  }

  #order(order: StarterOrder): void {
    this.#send(order)
    this.#waiting += 1
    this.#patience ??= setTimeout(() => this.#lastLook(), this.#silentMs).unref()
  }

  /** While this process was held up it read nothing: what came meanwhile is read before the starter is given up. */
  #lastLook(): void {
    const before = this.#heard
    setImmediate(() => {
      if (this.#heard === before) this.#child.kill('SIGKILL')
    })
  }

  #send(message: StarterSetup | StarterOrder): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  /** The starter has said something. */
  #hears(): void {
    this.#heard += 1
    this.#patience?.refresh()
  }

  #reported(report: StarterReport): void {
    this.#hears()
    if (report[0] === 'ready') {
      this.isReady = true
      this.#settle(true)
      return
    }
    const launched = this.#processes.get(report[1])
    if (report[0] === 'exited') {
      launched?.exited(report[2], report[3])
      return
    }
    this.#answered()
    if (report[0] === 'started') {
      this.hasServed = true
      launched?.started(report[2])
    } else {
      this.#forget(report[1])
      launched?.failed(new StarterError(report[2]))
    }
  }

  #forget(id: number): void {
    this.#processes.delete(id)
    if (this.#processes.size === 0) this.#says.unref()
  }

  #answered(): void {
    this.#waiting -= 1
    if (this.#waiting > 0) return
    clearTimeout(this.#patience)
    this.#patience = undefined
  }

  /** Ends it; what it started and still runs is ended too. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#child.stdin?.end()
    if (this.pid !== undefined) gatewayReaper().forget(this.pid)
    clearTimeout(this.#patience)
    this.#settle(false)
    const error = new StarterError('ESTARTER')
    for (const launched of this.#processes.values()) launched.abandoned(error)
    this.#processes.clear()
    this.#onEnd()
  }
}

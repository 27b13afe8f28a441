import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { AgentEvents, AgentProcess, AgentStart } from './agent-process.ts'
import { DirectLauncher } from './direct-process.ts'
import { OrderWatch } from './order-watch.ts'
import { type Launcher, PipedProcess } from './piped-process.ts'
import { closePipes, gatewayPipes, type Taken } from './pipes.ts'
import { gatewayReaper } from './reaper.ts'
import { StarterError } from './spawn-fault.ts'
import { messageReader, type StarterOrder, type StarterReport, type StarterSetup } from './starter-wire.ts'

/** The longest time without a report while an order is open, in milliseconds. */
const SILENT_MS = 10_000
/** Pipes are made ahead for this many agents. Each set takes six descriptors. */
const PIPED_AHEAD = 8
/** Options that keep the process small, because its size decides the cost of a start (see docs/performance.md). */
const NODE_OPTIONS = ['--single-threaded', '--max-semi-space-size=1', '--optimize-for-size']

/** The settings of the starter. */
export interface StarterConfig {
  /** The file of its program. */
  program: string
  /** The longest time without a report while an order is open, in milliseconds (10 s); then the starter is killed. */
  silentMs?: number
  /** Called with a message when agents are started directly although they should not be. */
  trouble?(message: string): void
}

/** One starter from its start to its end. */
export class StarterRun {
  readonly ready: Promise<boolean>
  isReady = false
  /** It has started an agent. */
  hasServed = false
  /** The reason why it has not. */
  failure = 'it ended before it started any'
  readonly #watch: OrderWatch
  readonly #processes = new Map<number, PipedProcess>()
  readonly #onEnd: () => void
  readonly #settle: (ready: boolean) => void
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  #isOver = false
  #count = 0

  /** Throws when it cannot be started. `onEnd` is called once, when it has ended. */
  constructor({ program, silentMs = SILENT_MS }: StarterConfig, onEnd: () => void) {
    this.#watch = new OrderWatch(silentMs, () => void this.#child.kill('SIGKILL'))
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.ready = promise
    this.#settle = resolve
    this.#onEnd = onEnd
    this.#child = this.#spawn(program)
    gatewayPipes().take((taken) => this.#setUp(taken))
    gatewayPipes().keep(PIPED_AHEAD)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** A socket, like its stdin, so that it need not keep this process alive. */
  get #stdout(): Socket {
    return this.#child.stdout as Socket
  }

  start(agent: AgentStart, events: AgentEvents): AgentProcess {
    this.#count += 1
    const id = this.#count
    const launched = new PipedProcess(events, this.#launcher(id, agent), gatewayPipes())
    this.#processes.set(id, launched)
    // An agent's output may take long; this keeps the process alive for it.
    if (this.#processes.size === 1) this.#stdout.ref()
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

  /** Sends the setup: the starter takes orders when it can open descriptors of this process. */
  #setUp(pipes: Taken): void {
    if (pipes && !(pipes instanceof Error)) {
      this.#send({ gateway: process.pid, probe: pipes[0].read })
      void this.ready.then(() => closePipes(pipes))
      return
    }
    this.failure = pipes ? pipes.message : 'pipes cannot be made here'
    this.#child.stdin?.end()
  }

  /**
   * Starts it in a session of its own, so that no signal of a terminal reaches it. It never keeps this process alive.
   */
  #spawn(program: string): ChildProcessByStdio<Writable, Readable, null> {
    const child = spawn(process.execPath, [...NODE_OPTIONS, program], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    child.on('error', () => this.close())
    // 'close' comes after all of its output.
    child.on('close', () => this.close())
    // Without a pid it may have no streams either.
    if (child.pid === undefined) return child
    // The reaper also ends a starter that does not notice the end of the gateway.
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
    this.#watch.ordered()
  }

  #send(message: StarterSetup | StarterOrder): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  #reported(report: StarterReport): void {
    this.#watch.reported()
    if (report[0] === 'ready') {
      this.isReady = true
      this.#settle(true)
      return
    }
    const [kind, id] = report
    if (kind !== 'exited') this.#watch.answered()
    const launched = this.#processes.get(id)
    switch (kind) {
      case 'started':
        this.hasServed = true
        launched?.started(report[2])
        break
      case 'exited':
        launched?.exited(report[2], report[3])
        break
      case 'failed':
        this.#forget(id)
        launched?.failed(new StarterError(report[2]))
    }
  }

  #forget(id: number): void {
    this.#processes.delete(id)
    if (this.#processes.size === 0) this.#stdout.unref()
  }

  /** Ends it, and the agents that it started and that still run. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#child.stdin?.end()
    if (this.pid !== undefined) gatewayReaper().forget(this.pid)
    this.#watch.close()
    this.#settle(false)
    const error = new StarterError('ESTARTER')
    for (const launched of this.#processes.values()) launched.abandoned(error)
    this.#processes.clear()
    this.#onEnd()
  }
}

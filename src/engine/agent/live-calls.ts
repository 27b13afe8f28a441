import {
  type Backend,
  type BackPorts,
  type Call,
  type CallEnd,
  type Carrier,
  type Frame,
  frameText,
  type TurnScope,
} from '../../contract/index.ts'
import type { AgentSettings, Tape } from '../common/index.ts'
import type { BackCalls } from './back-host.ts'
import { type CallListener, LiveCall } from './live-call.ts'

/** The place of an agent's link: the folder of processes that do not name one, and the backend; absent: the configured ones. */
export interface WirePlace {
  cwd?: string | undefined
  backend?: Backend | undefined
}

/** The calls of one agent's link, on its backend. */
export class LiveCalls implements BackCalls {
  readonly #agent: AgentSettings
  readonly #backend: Backend
  readonly #cwd: string | undefined
  readonly #listener: CallListener
  /** Those whose process runs, in the order of their start. */
  readonly #calls: LiveCall[] = []
  #paused = false
  #quiet: (() => void)[] = []
  /** Observes the calls that are opened from now on. */
  scope: TurnScope
  /** Keeps what the calls carry, where the turn that runs is to have that kept. */
  tape: Tape | undefined
  /** Reads or writes a file for the agent. */
  readonly file?: NonNullable<BackPorts['file']>

  constructor(agent: AgentSettings, scope: TurnScope, listener: CallListener, { cwd, backend }: WirePlace = {}) {
    this.#agent = agent
    this.#backend = backend ?? agent.backend
    this.#cwd = cwd
    this.scope = scope
    this.#listener = listener
    if (this.#backend.file) this.file = (request, done) => void this.#backend.file!(request).then(done)
  }

  /** The newest call, which commands go to. */
  get newest(): LiveCall | undefined {
    return this.#calls.at(-1)
  }

  /** A call runs that has not ended. */
  get busy(): boolean {
    return this.#calls.some(({ over }) => !over)
  }

  open(call: Call): void {
    this.tape?.toAgent(textOfCall(call, this.#agent))
    const { target } = this.#agent
    const scope = this.scope.call(
      target.kind === 'process'
        ? { kind: 'process', command: (call.kind === 'process' && call.command) || target.command }
        : { kind: 'http', method: call.kind === 'http' ? call.method : 'POST', url: target.url },
    )
    const placed = this.#cwd !== undefined && call.kind === 'process' ? { cwd: this.#cwd, ...call } : call
    const live = new LiveCall(placed, scope, this.#agent, this.#listener)
    this.#calls.push(live)
    live.open(this.#backend, this.#paused)
  }

  send(frame: Frame): void {
    this.tape?.toAgent(frameText(frame))
    this.#named(typeof frame === 'string' ? undefined : frame.call)?.write(frame)
  }

  end(call?: string): void {
    this.#named(call)?.endInput()
  }

  leave(call?: string): void {
    this.#named(call)?.leave()
  }

  /** The trace context of the turn that runs. */
  trace(): Carrier {
    return this.scope.carrier
  }

  /** Leaves all calls: those that do not end soon are stopped. */
  leaveAll(): void {
    for (const call of this.#calls) call.leave()
  }

  /** The valve: stops or resumes reading the output. */
  pause(paused: boolean): void {
    if (this.#paused === paused) return
    this.#paused = paused
    for (const call of this.#calls) call.pause(paused)
  }

  /** Reads what is in hand of all calls as if they ended here, with this end. */
  cut(end: CallEnd): void {
    for (const call of [...this.#calls]) call.cut(end)
  }

  /** Reads nothing more of all calls. */
  silence(): void {
    for (const call of this.#calls) call.over = true
  }

  /** Stops all calls. */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): void {
    for (const call of [...this.#calls]) call.stop(why, graceMs)
  }

  /** Resolves when no call runs. */
  quiet(): Promise<void> {
    return this.#calls.length === 0 ? Promise.resolve() : new Promise((resolve) => this.#quiet.push(resolve))
  }

  /** Forgets a call that is gone. */
  delete(call: LiveCall): void {
    this.#calls.splice(this.#calls.indexOf(call), 1)
    if (this.#calls.length > 0) return
    for (const resolve of this.#quiet.splice(0)) resolve()
  }

  #named(name: string | undefined): LiveCall | undefined {
    return name === undefined ? this.newest : this.#calls.find(({ call }) => call.call === name)
  }
}

/** A call as its wire begins: a command line, or the line and the body of a request. */
function textOfCall(call: Call, { context, target }: AgentSettings): string {
  if (call.kind === 'http') {
    const url = target.kind === 'http' ? target.url : ''
    return `${call.method} ${url}${call.path ?? ''}\n\n${call.body}`
  }
  const { command = '', args = [] } = context.process ?? {}
  return [call.command ?? command, ...(call.args ?? args)].map((word) => JSON.stringify(word)).join(' ')
}

import type { Backend, Call, CallHandle, CallSink, Carrier } from '../../contract/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { SharedCall } from './shared-call.ts'
import { type ProcessOwner, SharedProcess } from './shared-process.ts'

/**
 * The processes of an agent whose protocol has several sessions on one of them (`pool.sessions`). A call gets a part of
 * a process that was started for an equal one, else a process of its own while there are fewer than `max`, else it
 * waits for a process in which the agent has no work. The sessions of that one continue in other processes.
 */
export class SharedProcesses implements Backend, ProcessOwner {
  readonly #agent: AgentSettings
  readonly #max: () => number
  readonly #all: SharedProcess[] = []
  readonly #waiting: SharedCall[] = []
  readonly file?: NonNullable<Backend['file']>

  /** `max` is the number of processes that there may be now. */
  constructor(agent: AgentSettings, max: () => number) {
    this.#agent = agent
    this.#max = max
    if (agent.backend.file) this.file = (request) => agent.backend.file!(request)
  }

  /** The number of processes that have not exited. */
  get size(): number {
    return this.#all.length
  }

  get crowded(): boolean {
    return this.#waiting.length > 0
  }

  open(call: Call, sink: CallSink, trace: Carrier): CallHandle {
    const shared = new SharedCall(call, sink, trace)
    this.#waiting.push(shared)
    this.serve()
    return shared
  }

  close(graceMs: number): Promise<void> {
    return this.#agent.backend.close(graceMs)
  }

  serve(): void {
    const waiting = this.#waiting.splice(0).filter(({ over }) => !over)
    this.#waiting.push(...waiting.filter((call) => !this.#place(call)))
    if (this.crowded) this.#all.find((process) => !process.closed && process.isIdle)?.close()
  }

  exited(process: SharedProcess): void {
    this.#all.splice(this.#all.indexOf(process), 1)
    this.serve()
  }

  #place(call: SharedCall): boolean {
    const key = JSON.stringify(call.call)
    const known = this.#all.find((process) => process.key === key && process.hasRoom)
    if (known) known.join(call)
    else if (this.#all.length < this.#max()) this.#start(key, call)
    else return false
    return true
  }

  #start(key: string, call: SharedCall): void {
    const process = new SharedProcess(this.#agent, key, this)
    this.#all.push(process)
    process.open(call.call, call.trace)
    process.join(call)
  }
}

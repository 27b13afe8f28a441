import type {
  CallScope,
  Carrier,
  LinkOrigin,
  RunningProcess,
  ToolEvent,
  TurnInfo,
  TurnNote,
  TurnScope,
} from '../src/contract/index.ts'
import type { AgentEvent, Loss, TurnView, Usage } from '../src/model/index.ts'
import { INVOKE_AGENT, OTHER } from './attributes.ts'
import type { AllMetrics } from './instruments.ts'

/** Token counts and cost, by the name of the count in the model; the total is the sum of others. */
const USAGE = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'costUsd'] as const satisfies (keyof Usage)[]

/** Counts a turn, and passes all calls on to `inner`. */
export class CountedTurn implements TurnScope {
  readonly carrier: Carrier
  readonly #all: AllMetrics
  readonly #front: string
  readonly #inner: TurnScope
  readonly #startedAt = performance.now()
  #agent: string
  #back: string
  #waits = false
  #everRan = false
  #ranAt = this.#startedAt
  #spoke = false

  constructor(all: AllMetrics, front: string, { agent, back }: TurnInfo, inner: TurnScope) {
    this.carrier = inner.carrier
    this.#all = all
    this.#front = front
    this.#inner = inner
    this.#agent = agent
    this.#back = back
    this.#enter()
  }

  call(info: Parameters<TurnScope['call']>[0]): CallScope {
    return this.#inner.call(info)
  }

  linked(origin: LinkOrigin, process?: RunningProcess): void {
    this.#all.links.of(this.#agent, origin).add(1)
    this.#inner.linked(origin, process)
  }

  queued(ms: number): void {
    this.#leaveQueue()
    if (!this.#everRan) this.#all.wait.of(this.#agent).record(ms / 1e3)
    this.#everRan = true
    this.#ranAt = performance.now()
    this.#inner.queued(ms)
  }

  firstEvent(event: AgentEvent): void {
    if (!this.#spoke && event.type !== 'turn-end') {
      this.#spoke = true
      this.#all.firstChunk.of(INVOKE_AGENT, this.#agent).record((performance.now() - this.#ranAt) / 1e3)
    }
    this.#inner.firstEvent(event)
  }

  tool(event: ToolEvent): void {
    this.#inner.tool?.(event)
  }

  loss(loss: Loss): void {
    this.#all.losses.of(loss.kind, loss.item).add(loss.count)
    this.#inner.loss(loss)
  }

  note(what: TurnNote, about?: string): void {
    if (what === 'asked') this.#all.asks.of(about).add(1)
    else if (what === 'settled') this.#all.settled.of(about).add(1)
    else this.#all.notes.of(what).add(1)
    this.#inner.note(what, about)
  }

  moved(to: Pick<TurnInfo, 'agent' | 'back'>): void {
    this.#leave()
    this.#agent = to.agent
    this.#back = to.back
    this.#enter()
    this.#all.notes.of('fallback').add(1)
    this.#inner.moved(to)
  }

  end(view: TurnView): void {
    const all = this.#all
    const { outcome, fault } = view.end ?? { outcome: 'failed' as const }
    const errorType = outcome === 'failed' ? (fault?.code ?? OTHER) : undefined
    this.#leave()
    all.turns.of(this.#front, this.#back, this.#agent, outcome, errorType).add(1)
    all.duration.of(INVOKE_AGENT, this.#agent, errorType).record((performance.now() - this.#startedAt) / 1e3)
    all.events.of(this.#front, this.#back).add(view.seq)
    this.#usage(view)
    this.#inner.end(view)
  }

  #usage({ usage, usageEstimated }: TurnView): void {
    if (!usage) return
    for (const key of USAGE) {
      const count = usage[key]
      if (count !== undefined) {
        this.#all[key].of(INVOKE_AGENT, this.#agent, usageEstimated ? 'true' : undefined).add(count)
      }
    }
  }

  #enter(): void {
    this.#waits = true
    this.#all.active.of(this.#agent).add(1)
    this.#all.depth.of(this.#agent).add(1)
  }

  #leave(): void {
    this.#all.active.of(this.#agent).add(-1)
    this.#leaveQueue()
  }

  #leaveQueue(): void {
    if (this.#waits) this.#all.depth.of(this.#agent).add(-1)
    this.#waits = false
  }
}

import type { Carrier, RequestInfo, RequestScope, Share, TurnInfo, TurnScope } from '../src/contract/index.ts'
import type { Fault } from '../src/model/index.ts'
import type { AllMetrics } from './instruments.ts'
import type { Series } from './meters.ts'
import { CountedTurn } from './turn-metrics.ts'

/** Counts a request of a client, and passes all calls on to `inner`. */
export class CountedRequest implements RequestScope {
  readonly carrier: Carrier
  readonly #all: AllMetrics
  readonly #info: RequestInfo
  readonly #inner: RequestScope
  readonly #received: Series
  readonly #sent: Series
  #fault: Fault | undefined

  constructor(all: AllMetrics, info: RequestInfo, inner: RequestScope) {
    this.carrier = inner.carrier
    this.#all = all
    this.#info = info
    this.#inner = inner
    this.#received = all.clientIo.of(info.front, info.transport, 'receive')
    this.#sent = all.clientIo.of(info.front, info.transport, 'transmit')
  }

  read(): void {
    this.#inner.read?.()
  }

  shares(how: Share, turn: Carrier | undefined): void {
    this.#inner.shares?.(how, turn)
  }

  received(text: string): void {
    this.#received.add(Buffer.byteLength(text))
  }

  sent(text: string): void {
    this.#sent.add(Buffer.byteLength(text))
  }

  turn(info: TurnInfo): TurnScope {
    return new CountedTurn(this.#all, this.#info.front, info, this.#inner.turn(info))
  }

  fault(fault: Fault): void {
    this.#fault = fault
    this.#inner.fault(fault)
  }

  end(result: { status?: number; exitCode?: number }): void {
    this.#all.requests.of(this.#info.front, this.#info.transport, this.#fault?.code).add(1)
    this.#inner.end(result)
  }
}

import type { Answer, Capabilities, Frame, Framing, FrontLink, InputFate } from '../../contract/index.ts'
import type {
  Command,
  Fault,
  Id,
  LinkEvent,
  Loss,
  LossDirection,
  Target,
  TextRun,
  TurnEvent,
} from '../../model/index.ts'
import type { LiveView } from '../events/index.ts'
import { type ClientState, Exchange, type ExchangeHost } from './exchange.ts'
import type { FrontOpening, FrontWire } from './front-wire.ts'

/**
 * A codec's front link under the rules of the engine, without bytes or timers: opens it with its ports, owns its
 * exchanges with their losses, and runs its encoders. A live client and a recorded one have the same host.
 */
export class FrontHost implements ExchangeHost {
  readonly client: ClientState
  readonly #opening: FrontOpening
  readonly #wire: FrontWire
  readonly #link: FrontLink
  readonly #exchanges = new Map<Id, Exchange>()
  #ids = 0
  #direction: LossDirection = 'request'
  /** The exchange whose answer is being encoded. */
  answering: Exchange | undefined
  /** The failure that the answer reports that was encoded last. */
  failure: Fault | undefined
  /** The statuses of that answer, where they are not the usual ones. */
  #statuses: Pick<Answer, 'status' | 'failureStatus'> | undefined
  /** Nothing more is read. */
  inputEnded = false
  /** Nothing more is read or written. */
  closed = false

  constructor(opening: FrontOpening, wire: FrontWire) {
    this.#opening = opening
    this.#wire = wire
    const leavesAsks = opening.context.headers['turnpike-asks'] === 'follower'
    this.client = { clogged: false, inputClosed: false, refused: false, leavesAsks }
    this.#link = opening.dialect.front.open(opening.context, {
      command: (command, answer) => this.#command(command, answer),
      send: (frame) => wire.send(frame),
      sendRun: (run) => wire.sendRun(run),
      warn: (text) => opening.warn(text),
      fault: (found, input, exchange, http) => this.fault(found, input, exchange, http),
      report: (loss, exchange) => this.#report(loss, exchange),
      losses: (exchange) => this.#exchanges.get(exchange)?.losses ?? [],
      newId: () => `${opening.idPrefix}${++this.#ids}`,
      now: () => opening.now(),
      close: (exitCode) => this.close(exitCode),
    })
  }

  get capabilities(): Capabilities {
    return this.#opening.dialect.front.capabilities
  }

  /** The connection of its client. */
  get transport(): 'stdio' | 'http' | 'socket' {
    return this.#opening.context.transport
  }

  /** The HTTP status of the answer that was encoded last. */
  get status(): number {
    const { status, failureStatus } = this.#statuses ?? {}
    return this.failure ? (failureStatus ?? this.#opening.statusOf(this.failure)) : (status ?? 200)
  }

  /** The exchanges that wait for the rest of their answers. */
  get exchanges(): readonly Exchange[] {
    return [...this.#exchanges.values()]
  }

  /** The time without a frame after which the link hears that its client is idle, in milliseconds. */
  get idleMs(): number | undefined {
    return this.#link.idleMs
  }

  /** The link's own HTTP headers of an answer. */
  get headers(): FrontLink['headers'] {
    return this.#link.headers
  }

  /** True when the link can keep a silent wire alive. */
  get canKeepAlive(): boolean {
    return this.#link.keepAlive !== undefined
  }

  /** The framing of the answer being encoded, if this is its first frame. */
  framingOf(frame: Frame): Framing {
    const wanted = this.answering?.answer.framing ?? this.#link.framing ?? this.#opening.dialect.framing
    return wanted === 'sse' && typeof frame === 'string' ? 'body' : wanted
  }

  /** The exchange whose turn a target means. */
  exchangeOf(target: Target): Exchange | undefined {
    return this.exchanges.find((exchange) => exchange.isMeantBy(target))
  }

  /** Begins: the request that comes without a frame is issued. */
  open(): void {
    if (!this.closed) this.#during('request', undefined, () => this.#link.open?.())
  }

  /** A frame of the client. */
  decode(frame: Frame): void {
    if (!this.closed && !this.inputEnded) this.#during('request', undefined, () => this.#link.decode(frame))
  }

  /** The client's input has ended. */
  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    if (this.closed || this.inputEnded) return
    this.inputEnded = true
    this.#during('request', undefined, () => this.#link.decodeEnd?.(why))
    this.#wire.inputEnded(undefined)
  }

  /** Encodes an event of an exchange's turn. Like `#during`, without a closure for each event. */
  encode(event: TurnEvent, exchange: Exchange, view: LiveView): void {
    const { answering } = this
    const direction = this.#direction
    this.answering = exchange
    this.#direction = 'response'
    this.#statusIs(exchange, event.type === 'turn-end' ? event.fault : undefined)
    this.#link.encode(event, exchange.id, view)
    this.answering = answering
    this.#direction = direction
  }

  /** The link writes pieces of text together. */
  get writesTexts(): boolean {
    return this.#link.encodeTexts !== undefined
  }

  /** Encodes pieces of text of an exchange's turn. */
  encodeTexts(run: TextRun, exchange: Exchange, view: LiveView): void {
    const { answering } = this
    const direction = this.#direction
    this.answering = exchange
    this.#direction = 'response'
    this.#statusIs(exchange, undefined)
    this.#link.encodeTexts!(run, exchange.id, view)
    this.answering = answering
    this.#direction = direction
  }

  /** Encodes the failure of an exchange that no turn owns. */
  encodeFault(found: Fault, exchange: Exchange): void {
    this.#wire.fault(found, 'response')
    this.#encodeFault(found, 'continues', exchange, exchange.id)
  }

  /** Encodes an event without a turn, in the session of this exchange. */
  encodeLink(event: LinkEvent, exchange?: Exchange): void {
    if (this.closed) return
    const reply = event.type === 'command-reply' ? event : undefined
    const answered = reply && this.#exchanges.get(reply.exchange)
    this.#statusIs(answered, reply?.fault)
    this.#during('response', answered, () => this.#link.encodeLink?.(event, exchange?.id))
  }

  /**
   * A failure outside of any turn; its exchange, if any, ends with it, and the input, if that is lost. `http` overrides
   * the status.
   */
  fault(found: Fault, input: InputFate, id?: Id, http?: number): void {
    this.#wire.fault(found, this.#direction)
    const exchange = id === undefined ? undefined : this.#exchanges.get(id)
    if (exchange) exchange.ended = true
    this.#encodeFault(found, input, exchange, id, http)
    if (exchange) {
      // A turn whose answer has ended has no reader for the rest.
      exchange.turn?.leave(exchange)
      this.ended(exchange)
    }
    if (input === 'ends') this.decodeEnd('eof')
  }

  /** Has the link write something that shows whether its client is still there. */
  keepAlive(): void {
    const [exchange] = this.#exchanges.values()
    if (exchange) this.#statusIs(exchange, undefined)
    this.#during('response', exchange, () => this.#link.keepAlive?.())
  }

  /** The client stopped keeping up, or has caught up. */
  flow(clogged: boolean): void {
    this.client.clogged = clogged
    for (const exchange of this.#exchanges.values()) exchange.turn?.valve()
  }

  /** The client's input has ended, and no other request can come: it can answer no question any more. */
  inputClosed(): void {
    this.client.inputClosed = true
    for (const { turn, follows } of this.exchanges) if (!follows) turn?.onInputClosed()
  }

  /** Closes the wire; what is open on it is cancelled. */
  close(exitCode: number): void {
    if (this.closed) return
    this.closed = true
    this.inputEnded = true
    for (const exchange of this.exchanges) {
      exchange.stop()
      exchange.drop()
    }
    this.#wire.inputEnded(exitCode)
  }

  /** The exchange has its end. */
  ended(exchange: Exchange): void {
    this.#exchanges.delete(exchange.id)
    this.#wire.ended(exchange)
  }

  #command(command: Command, answer: Answer | undefined): void {
    if (this.closed) return
    const exchange = answer && new Exchange(command, answer, this)
    if (exchange) this.#exchanges.set(exchange.id, exchange)
    this.#wire.command(command, exchange)
  }

  /** A loss of the answer that is being encoded, or of a request: a link may read the next request while it encodes. */
  #report(loss: Loss, id: Id): void {
    const isAnswer = this.#direction === 'response' && this.answering?.id === id
    const exchange = this.#exchanges.get(id)
    if (exchange) exchange.lost(loss, isAnswer ? 'response' : 'request')
    else this.#wire.lost?.(loss)
  }

  #encodeFault(
    found: Fault,
    input: InputFate,
    exchange: Exchange | undefined,
    id: Id | undefined,
    http?: number,
  ): void {
    this.#statusIs(exchange, found)
    if (http !== undefined) this.#statuses = { failureStatus: http }
    this.#during('response', exchange, () => this.#link.encodeFault(found, id, input))
  }

  #statusIs(exchange: Exchange | undefined, failure: Fault | undefined): void {
    this.failure = failure
    this.#statuses = exchange?.answer
  }

  /** Runs a step of the link. A link may issue its next command while it encodes: that is a step of its own. */
  #during(direction: LossDirection, exchange: Exchange | undefined, step: () => void): void {
    const { answering } = this
    const before = this.#direction
    this.answering = exchange
    this.#direction = direction
    step()
    this.answering = answering
    this.#direction = before
  }
}

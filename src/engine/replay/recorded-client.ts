import type { Answer, Frame, Framing, FrontContext, FrontDialect, FrontLink, InputFate } from '../../contract/index.ts'
import type { Command, Fault, Id, LinkEvent, Loss, TurnEvent } from '../../model/index.ts'
import { Exchange, type ExchangeHost } from '../client/index.ts'
import { LiveView } from '../events/index.ts'
import type { Direction } from './recorded-agent.ts'

/** Listener for a client whose frames are given. All calls are synchronous. */
export interface ClientListener {
  /** A command, and the exchange that waits for its answer. */
  command?(command: Command, exchange: Exchange | undefined): void
  /** A frame that the client reads, and how it is framed. */
  send?(frame: Frame, framing: Framing): void
  loss?(loss: Loss, direction: Direction): void
  /** Something that the client wrote cannot be read (`asked`), or it cannot be answered (`said`). */
  fault?(fault: Fault, direction: Direction): void
  /** The wire is over. */
  close?(exitCode: number): void
  /** The time, in milliseconds since the epoch; 0 when absent, so that a recording gives the same text at any time. */
  now?(): number
  /** A new id; counted from 1 when absent. */
  newId?(): Id
}

/**
 * A client without a wire: hosts a codec's front link, is given the frames that the client wrote, and shows it the
 * events of its turns. What the front has no place for is a loss, as in a gateway.
 */
export class RecordedClient {
  readonly #dialect: FrontDialect
  readonly #agent: string
  readonly #listener: ClientListener
  readonly #link: FrontLink
  readonly #views = new Map<Id, LiveView>()
  readonly #exchanges = new Map<Id, Exchange>()
  readonly #host: ExchangeHost
  #current: Exchange | undefined
  #asking = true
  #inputEnded = false
  #ids = 0
  closed = false

  /** `agent` is the name that fronts show for the agent. */
  constructor(dialect: FrontDialect, context: FrontContext, agent: string, listener: ClientListener) {
    this.#dialect = dialect
    this.#agent = agent
    this.#listener = listener
    this.#host = {
      capabilities: dialect.front.capabilities,
      gone: false,
      clogged: false,
      inputClosed: false,
      encode: (event, exchange, view) => this.#encode(event, exchange, view),
      encodeFault: (fault, exchange) =>
        this.#during(exchange, () => this.#link.encodeFault(fault, exchange.id, 'continues')),
      encodeLink: (event) => this.tell(event),
      exchangeEnded: (exchange) => this.#ended(exchange),
    }
    this.#link = dialect.front.open(context, {
      command: (command, answer) => this.#command(command, answer),
      send: (frame) => this.#send(frame),
      warn() {},
      fault: (fault, input, exchange) => this.#fault(fault, input, exchange),
      report: (loss, exchange) => this.#report(loss, exchange),
      losses: (exchange) => this.#exchanges.get(exchange)?.losses ?? [],
      newId: () => listener.newId?.() ?? `${++this.#ids}`,
      now: () => this.#now(),
      close: (exitCode) => {
        if (this.closed) return
        this.closed = true
        this.#listener.close?.(exitCode)
      },
    })
  }

  /** Begins: the request that comes without a frame is issued. */
  open(): void {
    this.#link.open?.()
  }

  /** A frame that the client wrote. */
  decode(frame: Frame): void {
    if (!this.closed && !this.#inputEnded) this.#during(undefined, () => this.#link.decode(frame), true)
  }

  /** The client's input ended. */
  end(): void {
    if (this.closed || this.#inputEnded) return
    this.#inputEnded = true
    this.#during(undefined, () => this.#link.decodeEnd?.('eof'), true)
  }

  /**
   * An event of the turn that an exchange is about; the first of a turn opens its view. A question for a client that
   * cannot be asked on its wire is a loss: what was answered is recorded already.
   */
  deliver(event: TurnEvent, exchange: Exchange): void {
    const view = this.#views.get(exchange.id) ?? this.#newView(event, exchange)
    const asks = event.type === 'ask' || event.type === 'ask-settled'
    if (asks && !exchange.asksInline) {
      if (event.type === 'ask') exchange.lost({ kind: 'dropped', item: 'ask', why: 'policy', count: 1 })
      return
    }
    view.apply(event, this.#now())
    exchange.deliver(event, view)
  }

  /** An event that no turn owns. */
  tell(event: LinkEvent): void {
    if (this.closed) return
    const exchange = event.type === 'command-reply' ? this.#exchanges.get(event.exchange) : undefined
    this.#during(exchange, () => this.#link.encodeLink?.(event))
  }

  /** Tells the losses of exchanges that have no end. */
  settle(): void {
    for (const exchange of this.#exchanges.values()) this.#ended(exchange)
  }

  #now(): number {
    return this.#listener.now?.() ?? 0
  }

  #newView(event: TurnEvent, exchange: Exchange): LiveView {
    const session = event.type === 'turn-accepted' ? event.session : (exchange.command.session?.id ?? '')
    const view = new LiveView({
      turn: event.turn,
      session,
      agent: this.#agent,
      at: this.#now(),
    })
    this.#views.set(exchange.id, view)
    return view
  }

  #command(command: Command, answer: Answer | undefined): void {
    const exchange = answer && new Exchange(command, answer, this.#host)
    if (exchange) this.#exchanges.set(exchange.id, exchange)
    this.#listener.command?.(command, exchange)
  }

  /** Reports a loss of the request at once; losses of the answer are counted by its exchange. */
  #report(loss: Loss, id: Id): void {
    // While a front is shown one answer it may read the next request, which waited in its queue.
    const answering = !this.#asking && this.#current?.id === id
    if (answering) this.#current?.lost(loss)
    else this.#listener.loss?.(loss, 'request')
  }

  #fault(fault: Fault, input: InputFate, id: Id | undefined): void {
    this.#listener.fault?.(fault, this.#asking ? 'request' : 'response')
    const exchange = id === undefined ? undefined : this.#exchanges.get(id)
    if (exchange) exchange.ended = true
    this.#during(exchange, () => this.#link.encodeFault(fault, id, input))
    if (exchange) this.#ended(exchange)
    if (input === 'ends') this.end()
  }

  #ended(exchange: Exchange): void {
    this.#exchanges.delete(exchange.id)
    this.#views.delete(exchange.id)
    for (const loss of exchange.losses) this.#listener.loss?.(loss, 'response')
  }

  #send(frame: Frame): void {
    const wanted = this.#current?.answer.framing ?? this.#dialect.framing
    this.#listener.send?.(frame, wanted === 'sse' && typeof frame === 'string' ? 'body' : wanted)
  }

  /** As `#during`, without a function for each event: an event is all that most steps are. */
  #encode(event: TurnEvent, exchange: Exchange, view: LiveView): void {
    const current = this.#current
    const asking = this.#asking
    this.#current = exchange
    this.#asking = false
    this.#link.encode(event, exchange.id, view)
    this.#current = current
    this.#asking = asking
  }

  /** Runs a step of the link for an exchange. A front may issue its next command while it encodes: that is its own step. */
  #during(exchange: Exchange | undefined, step: () => void, asking = false): void {
    const [current, was] = [this.#current, this.#asking]
    this.#current = exchange
    this.#asking = asking
    step()
    this.#current = current
    this.#asking = was
  }
}

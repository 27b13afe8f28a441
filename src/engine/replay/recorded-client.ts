import {
  type Frame,
  type FrameRun,
  type Framing,
  type FrontContext,
  type FrontDialect,
  framesOf,
} from '../../contract/index.ts'
import type { Command, Fault, Id, LinkEvent, Loss, LossDirection, TextRun, TurnEvent } from '../../model/index.ts'
import { type Exchange, FrontHost } from '../client/index.ts'
import { LiveView } from '../events/index.ts'

/** Listener for a client whose frames are given. All calls are synchronous. */
export interface ClientListener {
  /** A command, and the exchange that waits for its answer. */
  command?(command: Command, exchange: Exchange | undefined): void
  /** A frame that the client reads, and how it is framed. */
  send?(frame: Frame, framing: Framing): void
  /** A line on the stderr of the program that stood in for an agent. */
  warn?(text: string): void
  loss?(loss: Loss, direction: LossDirection): void
  /** Something that the client wrote cannot be read (`request`), or it cannot be answered (`response`). */
  fault?(fault: Fault, direction: LossDirection): void
  /** The wire is over. */
  close?(exitCode: number): void
}

/** The wire that a recorded client had. */
export interface RecordedWire {
  dialect: FrontDialect
  context: FrontContext
  /** The name that its front shows for the agent; `agent` when absent. */
  agent?: string
  /** The ids of its front begin with it; absent: they are numbers from 1. */
  idPrefix?: string
  /** The time, in milliseconds since the epoch; 0 when absent, so that a recording gives the same text at any time. */
  at?: number
}

/** A client without a wire: a `FrontHost` that is given the frames that the client wrote, and the events of its turns. */
export class RecordedClient {
  readonly #agent: string
  readonly #at: number
  readonly #host: FrontHost
  readonly #views = new Map<Id, LiveView>()
  /** Gets the frames of pieces of text that were delivered together; absent: each is sent. */
  onRun: ((run: FrameRun, framing: Framing) => void) | undefined
  /** The exit code of its program, once its front has closed the wire. */
  exitCode: number | undefined

  constructor({ dialect, context, agent = 'agent', idPrefix = '', at = 0 }: RecordedWire, listener: ClientListener) {
    this.#agent = agent
    this.#at = at
    const lost = (loss: Loss, direction: LossDirection): void => listener.loss?.(loss, direction)
    const send = (frame: Frame): void => listener.send?.(frame, this.#host.framingOf(frame))
    const warn = (text: string): void => listener.warn?.(text)
    this.#host = new FrontHost(
      { dialect, context, idPrefix, now: () => at, warn, statusOf: () => 500 },
      {
        command: (command, exchange) => {
          if (exchange) exchange.onLoss = lost
          listener.command?.(command, exchange)
        },
        sendRun: (run) => {
          if (this.onRun) this.onRun(run, this.#host.framingOf({ data: '' }))
          else for (const frame of framesOf(run)) send(frame)
        },
        send,
        fault: (fault, direction) => listener.fault?.(fault, direction),
        ended: (exchange) => this.#views.delete(exchange.id),
        inputEnded: (exitCode) => {
          if (exitCode === undefined) return
          this.exitCode = exitCode
          listener.close?.(exitCode)
        },
        lost: (loss) => lost(loss, 'request'),
      },
    )
  }

  /** Its front has closed the wire. */
  get closed(): boolean {
    return this.#host.closed
  }

  /** Begins: the request that comes without a frame is issued. */
  open(): void {
    this.#host.open()
  }

  /** A frame that the client wrote. */
  decode(frame: Frame): void {
    this.#host.decode(frame)
  }

  /** The client's input ended. */
  end(): void {
    this.#host.decodeEnd('eof')
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
    view.apply(event, this.#at)
    exchange.deliver(event, view)
  }

  /** Pieces of text of the turn that an exchange is about, like `deliver` one by one. */
  deliverTexts(run: TextRun, exchange: Exchange): void {
    const view = this.#views.get(exchange.id)
    if (!view || !exchange.takesTexts) {
      for (const event of run.events) this.deliver(event, exchange)
      return
    }
    view.applyTexts(run, this.#at)
    exchange.deliverTexts(run, view)
  }

  /** An event that no turn owns. */
  tell(event: LinkEvent): void {
    this.#host.encodeLink(event, this.#host.exchanges[0])
  }

  #newView(event: TurnEvent, exchange: Exchange): LiveView {
    const session = event.type === 'turn-accepted' ? event.session : (exchange.command.session?.id ?? '')
    const view = new LiveView({ turn: event.turn, session, agent: this.#agent, at: this.#at })
    this.#views.set(exchange.id, view)
    return view
  }
}

import type { Answer, Capabilities } from '../../contract/index.ts'
import {
  type Command,
  type Ext,
  type Fault,
  type Id,
  type JsonText,
  type LinkEvent,
  type Loss,
  type LossDirection,
  LossLedger,
  mergedLosses,
  type SidedLoss,
  type Target,
  type TextRun,
  type TurnEvent,
} from '../../model/index.ts'
import { carryEvent } from '../carry/index.ts'
import type { LiveView } from '../events/index.ts'

/** The state of a client that turns take into account. */
export interface ClientState {
  /** It does not read as fast as it is written to. */
  clogged: boolean
  /** Its input has ended, and no other request can come on its wire. */
  inputClosed: boolean
  /** The record refuses what is about to be sent to it: it gets nothing of it, and its wire is cut. */
  refused: boolean
  /** Its request leaves the questions of its turn to a follower, who may come later; it is shown none of them. */
  leavesAsks: boolean
}

/** Encodes the events of an exchange's turn. */
interface EventEncoder {
  /** Hands an event to the codec. */
  encode(event: TurnEvent, exchange: Exchange, view: LiveView): void
  /** The codec takes pieces of text together. */
  readonly writesTexts: boolean
  /** Hands pieces of text to the codec. */
  encodeTexts(run: TextRun, exchange: Exchange, view: LiveView): void
}

/** The host of the front link that encodes an exchange. */
export interface ExchangeHost extends EventEncoder {
  readonly capabilities: Capabilities
  readonly client: ClientState
  /** Hands a failure that no turn owns to the codec. */
  encodeFault(fault: Fault, exchange: Exchange): void
  /** Hands an event without a turn to the codec. */
  encodeLink(event: LinkEvent, exchange: Exchange): void
  /** The exchange has its end. */
  ended(exchange: Exchange): void
}

/** The turn that an exchange is about. */
export interface ExchangeTurn {
  readonly id: Id
  readonly agent: { readonly name: string }
  /** Losses between it and its agent. */
  readonly losses: LossLedger
  /** Asks its agent to stop. False when it has its end. */
  cancel(): boolean
  /** Ends it with a failure from outside. */
  fail(why: Fault): void
  /** An exchange goes without its answer. */
  leave(exchange: Exchange): void
  /** A client stopped keeping up, or has caught up. */
  valve(): void
  /** A client holds the whole answer of this exchange. */
  delivered(exchange: Exchange): void
  /** The input of a client has ended: it can answer no question any more. */
  onInputClosed(): void
}

/** One client request and its answer: it ends exactly once, and nothing is encoded for it afterwards. */
export class Exchange {
  readonly answer: Answer
  readonly host: ExchangeHost
  /** The command that opened it. */
  readonly command: Command
  /** The turn it is about, once there is one. */
  turn: ExchangeTurn | undefined
  /** The recorded turn that it is answered from, and the agent that ran it. */
  past: { turn: Id; agent: string; losses?: readonly SidedLoss[] } | undefined
  /** Losses between it and its client. */
  readonly #ownLosses = new LossLedger()
  /** It is given the answer to an earlier request under its idempotency key. */
  replays = false
  /** It ends when its client knows that its request has joined a turn. */
  endsWhenJoined = false
  /** Receives each loss between its client and the gateway. */
  onLoss: ((loss: Loss, direction: LossDirection) => void) | undefined
  /** Somebody cancelled it before it had a turn. */
  #cancelled = false
  /** Its front writes pieces of text: they are not left to the view. */
  readonly #writesText: boolean
  ended = false

  constructor(command: Command, answer: Answer, host: ExchangeHost) {
    this.command = command
    this.answer = answer
    this.host = host
    this.#writesText = answer.form === 'stream' && host.capabilities['text-delta'] !== 'none'
  }

  get id(): Id {
    return this.command.exchange
  }

  /** It only follows: the turn is not its own. */
  get follows(): boolean {
    return this.command.type === 'turn-follow'
  }

  /** Its client is told to stop: its own turn is cancelled, one that it only follows goes on without it. */
  stop(): void {
    const { command } = this
    if (this.follows || (command.type === 'query' && command.what === 'turns')) this.drop()
    else this.cancel()
  }

  /** One event of its turn. What the front has no place for is a loss; what its form leaves out is in the view. */
  deliver(event: TurnEvent, view: LiveView): void {
    if (this.ended) return
    // Most events are pieces of text, which nothing is lost of.
    if (event.type === 'text-delta' && event.ext === undefined && this.#writesText) {
      this.host.encode(event, this, view)
      return
    }
    if (this.host.client.leavesAsks && (event.type === 'ask' || event.type === 'ask-settled')) return
    const last = this.#isLast(event)
    if (last) this.ended = true
    const report = (loss: Loss): void => this.lost(loss)
    const carried = carryEvent(this.host.capabilities, event, this.answer.form === 'whole', view, report)
    if (carried) this.host.encode(carried, this, view)
    if (last) this.host.ended(this)
  }

  /** It takes pieces of text at once: nothing of it is encoded for each, or its front writes them together. */
  get takesTexts(): boolean {
    if (this.#writesText) return this.host.writesTexts || this.ended
    return this.answer.form !== 'accepted' || this.ended
  }

  /** Pieces of text of its turn, like `deliver` one by one. */
  deliverTexts(run: TextRun, view: LiveView): void {
    if (!this.ended && this.#writesText) this.host.encodeTexts(run, this, view)
  }

  /** Its client can be asked while the turn runs. */
  get asksInline(): boolean {
    const { asks } = this.answer
    return asks === 'always' || (asks === 'inline' && !this.host.client.inputClosed)
  }

  /** Cancels its turn: now, or as soon as it has one. False when it is over. */
  cancel(): boolean {
    if (this.turn) return this.turn.cancel()
    this.#cancelled = true
    return !this.ended
  }

  /** Cancels the turn that it follows when that was asked for earlier. True when it was. */
  settleCancel(): boolean {
    if (this.#cancelled) this.turn?.cancel()
    return this.#cancelled
  }

  /** Somebody cancelled it, and it has no turn that could be. */
  get unwanted(): boolean {
    return this.ended || (this.#cancelled && !this.turn)
  }

  /** True when this target of a client names the turn of this exchange. */
  isMeantBy(target: Target): boolean {
    if (this.command.type !== 'turn-start') return false
    if (target === 'running') return true
    if ('turn' in target) return target.turn === this.command.turn || target.turn === this.turn?.id
    return 'request' in target && target.request === this.command.request
  }

  /** Ends it with a failure that no turn owns. */
  fail(fault: Fault): void {
    if (this.ended) return
    this.ended = true
    this.host.encodeFault(fault, this)
    this.host.ended(this)
  }

  /** Ends it with the answer to a command that started no turn. */
  reply(answer: { data?: JsonText; fault?: Fault; ext?: Ext }): void {
    if (this.ended) return
    const { data, fault, ext } = answer
    this.host.encodeLink(
      {
        turn: null,
        type: 'command-reply',
        exchange: this.id,
        ...(data !== undefined && { data }),
        ...(fault && { fault }),
        ...(ext && { ext }),
      },
      this,
    )
    this.drop()
  }

  /** Ends it without an event: the link has answered by itself, or the client has left. */
  drop(): void {
    if (this.ended) return
    this.ended = true
    this.host.ended(this)
  }

  /** Everything that was lost between its client and the agent. */
  get losses(): readonly Loss[] {
    const recorded = this.past?.losses?.filter(({ side }) => side === 'agent')
    return mergedLosses(this.turn?.losses.list ?? recorded ?? [], this.ownLosses)
  }

  /** Losses between its client and the gateway. */
  get ownLosses(): readonly Loss[] {
    return this.#ownLosses.list
  }

  /** Something was lost between its client and the gateway. */
  lost(loss: Loss, direction: LossDirection = 'response'): void {
    this.#ownLosses.add(loss)
    this.onLoss?.(loss, direction)
  }

  #isLast(event: TurnEvent): boolean {
    if (event.type === 'turn-end') return true
    // A follower goes on following the turn while it waits.
    if (event.type === 'turn-parked') return this.answer.asks === 'next-request' && !this.follows
    const accepted = this.answer.form === 'accepted'
    if (event.type !== 'turn-accepted' || this.follows) return accepted && this.command.type === 'ask-reply'
    return accepted || (event.how === 'joined' && this.endsWhenJoined)
  }
}

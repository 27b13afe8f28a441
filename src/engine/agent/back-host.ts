import { Observable } from 'rxjs'
import {
  type BackContext,
  type BackDialect,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type CallHead,
  type Frame,
  faultOfEnd,
  frameText,
  type WireText,
} from '../../contract/index.ts'
import {
  type AgentEvent,
  type Command,
  type EventOf,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type Loss,
  type LossDirection,
  TextRun,
  type TurnEnd,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import { carryStart, dropped, reportFields } from '../carry/index.ts'
import { TurnLaws, type TurnReader } from '../events/index.ts'

/** The calls that a back link opens and writes to: those that run, or those of a recording. */
export type BackCalls = Pick<BackPorts, 'open' | 'send' | 'end' | 'leave' | 'trace' | 'file'>

/** Listener for what a back link reports besides the events of a turn. All calls are synchronous. */
export interface BackListener {
  /** An event that belongs to no turn. */
  link(event: LinkEvent): void
  loss(loss: Loss, direction: LossDirection): void
  /** The wire is broken; the turn that runs fails with it after this call. */
  fault(fault: Fault): void
  /** The agent is done with its turn: it has ended it, or its wire is over. */
  idle(): void
}

/** A turn that the agent has not ended, and the laws that its events go to. */
interface HostedTurn {
  readonly id: Id
  readonly laws: TurnLaws
  /** Takes pieces of text all at once; absent: each is an event of its own. */
  readonly texts: ((run: TextRun) => void) | undefined
  /** Pieces of text of one message, which came in the read that goes on. */
  run: TextRun | undefined
  cancelled: boolean
  /** The characters that the agent has written for it. */
  written: number
}

/**
 * A codec's back link under the rules of the engine: commands lose what the agent's protocol cannot express, and a turn
 * is an Observable of events under the laws. It is given frames and the ends of calls, which come from live calls or
 * from a recording, and has no timers or processes itself.
 */
export class BackHost<O = unknown> {
  readonly #dialect: BackDialect<O>
  readonly #listener: BackListener
  readonly #link: BackLink
  readonly #asks = new Set<Id>()
  #turn: HostedTurn | undefined
  /** A read of the agent's output goes on. */
  #reads = false
  #direction: LossDirection = 'request'
  #callEnd: CallEnd = { why: 'closed' }
  #broken: Fault | undefined
  #ids = 0
  /** The handshake of the agent's process is done (always true without one). */
  ready: boolean
  /** No command is encoded any more, and a turn ends at once. */
  dead = false

  constructor(dialect: BackDialect<O>, context: BackContext<O>, calls: BackCalls, listener: BackListener) {
    this.#dialect = dialect
    this.#listener = listener
    this.#link = dialect.back.open(context, {
      emit: (event) => this.#emit(event),
      open: (call) => calls.open(call),
      send: (frame) => calls.send(frame),
      end: (call) => calls.end(call),
      leave: (call) => calls.leave?.(call),
      ...(calls.trace && { trace: () => calls.trace!() }),
      ...(calls.file && {
        file: (request, done) => calls.file!(request, (result) => this.#step('request', () => done(result))),
      }),
      broken: (why) => this.#break(why),
      report: (loss) => listener.loss(loss, this.#direction),
      newId: () => `${++this.#ids}`,
    })
    this.ready = !this.persistent
  }

  /** The agent's process lives over many turns. */
  get persistent(): boolean {
    return this.#link.open !== undefined
  }

  /** The turn whose events still come. */
  get running(): Id | undefined {
    return this.#turn?.laws.closed === false ? this.#turn.id : undefined
  }

  /** The characters that the agent has written for the turn whose events still come. */
  get written(): number {
    return this.running === undefined ? 0 : this.#turn!.written
  }

  /** The agent has a turn that it has not ended, although the turn may have its end from outside. */
  get working(): boolean {
    return this.#turn !== undefined
  }

  /** The agent waits for an answer of the client, which may start its next call. */
  get asking(): boolean {
    return this.#asks.size > 0
  }

  /** The wire cannot be read any more. */
  get broken(): boolean {
    return this.#broken !== undefined
  }

  /** The fault of a turn that the wire leaves without an end. */
  get missingEnd(): Fault {
    return this.#broken ?? faultOfEnd(this.#callEnd)
  }

  /** Starts the process that lives as long as the session. `bound` is the agent's own id of the session. */
  open(bound?: string): void {
    if (this.#link.open) this.#step('request', () => this.#link.open?.(bound))
  }

  /**
   * The events of one turn under its laws: exactly one `turn-end`, last. Subscribing encodes the command, without what
   * the agent's protocol cannot express. `texts` gets consecutive pieces of text of one read, instead of the subscriber.
   */
  run(command: Command & TurnStart, texts?: (run: TextRun) => void): Observable<TurnEvent> {
    return new Observable<TurnEvent>((subscriber) => this.play(command, subscriber, texts))
  }

  /** Gives the events of `run` to a reader, without an Observable. */
  play(command: Command & TurnStart, reader: TurnReader, texts?: (run: TextRun) => void): void {
    const { turn: id } = command
    const missingEnd = (): Fault => this.missingEnd
    const laws = new TurnLaws({ turn: id, missingEnd, cancelled: () => turn.cancelled }, reader)
    const turn: HostedTurn = { id, laws, texts, run: undefined, cancelled: false, written: 0 }
    this.#say()
    this.#turn = turn
    if (this.asking) this.#asks.clear()
    if (this.dead) this.close()
    else this.#step('request', () => this.#link.encode(this.#carried(command)))
  }

  /** Encodes a command about the agent or its turn. One that the agent's protocol does not have is a loss. */
  send(command: Exclude<Command, TurnStart>): void {
    if (this.dead) return
    if (command.type === 'ask-reply' && command.ask) this.#asks.delete(command.ask)
    const item = command.type === 'query' ? (`query.${command.what}` as const) : command.type
    const { capabilities } = this.#dialect.back
    const report = (loss: Loss): void => this.#listener.loss(loss, 'request')
    if (capabilities[item] === 'none') report(dropped(item))
    else {
      reportFields(capabilities, command, report)
      this.#step('request', () => this.#link.encode(command))
    }
  }

  /** Marks the turn that runs as cancelled: a failure of it from here on is a cancellation. */
  cancel(): void {
    if (this.#turn) this.#turn.cancelled = true
  }

  /** Ends the turn that runs from outside, under its laws; the agent goes on. False when no turn runs. */
  abort(end: TurnEnd): boolean {
    if (this.running === undefined) return false
    this.#say()
    this.#turn!.laws.next(end)
    return true
  }

  /** Decodes the head of an HTTP answer. */
  head(head: CallHead): void {
    this.#step('response', () => this.#link.decodeHead?.(head))
  }

  /** A read of the agent's output begins: the pieces of text in its frames are for one step of the turn. */
  readBegins(): void {
    this.#reads = true
  }

  /** The read is over. */
  readEnds(): void {
    this.#reads = false
    if (this.#turn?.run) this.#step('response', () => this.#say())
  }

  /** Decodes a frame that the agent wrote. */
  decode(frame: Frame): void {
    const before = this.#direction
    this.#direction = 'response'
    if (this.#turn) this.#turn.written += frameText(frame).length
    try {
      this.#link.decode(frame)
    } catch (error) {
      this.#break(thrown('response', error))
    }
    this.#direction = before
  }

  /** Has the link read pieces of text that stand in a row. False when it read none. */
  decodeTexts(wire: WireText): boolean {
    const { at: from, before, after } = wire
    const direction = this.#direction
    this.#direction = 'response'
    let run: TextRun | undefined
    try {
      run = this.#link.decodeTexts?.(wire)
    } catch (error) {
      this.#break(thrown('response', error))
    }
    this.#direction = direction
    if (!run) return false
    if (this.#turn) this.#turn.written += wire.at - from - run.length * (before.length + after.length)
    this.#emitTexts(run)
    return true
  }

  /** Tells the link that a call has ended. */
  callEnded(end: CallEnd): void {
    this.#callEnd = end
    this.#step('response', () => this.#link.decodeEnd(end))
  }

  /** Ends the wire: a turn without an end fails with `missingEnd`. */
  close(): void {
    this.#say()
    const turn = this.#turn
    if (!turn) return
    this.#turn = undefined
    turn.laws.complete()
    this.#listener.idle()
  }

  #carried(command: Command & TurnStart): Command & TurnStart {
    return carryStart(this.#dialect.back.capabilities, command, (loss) => this.#listener.loss(loss, 'request'))
  }

  #emit(event: AgentEvent): void {
    // The most frequent event is tested first.
    if (event.type === 'text-delta' && this.#reads && this.#gather(event)) return
    this.#say()
    if (event.type === 'text-delta') this.#turn?.laws.next(event)
    else if (event.turn === null) this.#emitLink(event)
    else if (event.type === 'turn-end' && event.turn === this.#turn?.id) this.#end(this.#turn, event)
    else {
      if (event.type === 'ask') this.#asks.add(event.ask)
      if (event.type === 'ask-settled') this.#asks.delete(event.ask)
      this.#turn?.laws.next(event)
    }
  }

  /** Adds a piece of text to those that came before it in the read. False when it is to be an event of its own. */
  #gather(event: EventOf<'text-delta'>): boolean {
    const turn = this.#turn
    if (!turn?.texts || !TextRun.takes(event)) return false
    const { run } = turn
    if (run?.message === event.message && run.turn === event.turn) run.add(event.text)
    else {
      this.#say()
      turn.run = new TextRun(event)
    }
    return true
  }

  /** Adds pieces of text to those that came before them in the read. */
  #emitTexts(run: TextRun): void {
    const turn = this.#turn
    if (!turn?.texts || !this.#reads) {
      for (const event of run.events) this.#emit(event)
      return
    }
    const before = turn.run
    if (before?.message === run.message && before.turn === run.turn) turn.run = before.with(run)
    else {
      this.#say()
      turn.run = run
    }
  }

  /** Gives the turn the pieces of text that were gathered. */
  #say(): void {
    const turn = this.#turn
    const run = turn?.run
    if (!run) return
    turn!.run = undefined
    if (run.length === 1) turn!.laws.next(run.first)
    else turn!.laws.texts(run, turn!.texts!)
  }

  #emitLink(event: LinkEvent): void {
    if (event.type === 'agent-ready') this.ready = true
    this.#listener.link(event)
  }

  #end(turn: HostedTurn, end: TurnEnd): void {
    this.#turn = undefined
    turn.laws.next(end)
    this.#listener.idle()
  }

  #break(why: Fault): void {
    this.#broken ??= why
    this.dead = true
    this.#listener.fault(why)
    this.close()
  }

  /** Runs a step of the codec. A codec that throws, against its contract, breaks its own wire and not the gateway. */
  #step(direction: LossDirection, step: () => void): void {
    const before = this.#direction
    this.#direction = direction
    try {
      step()
    } catch (error) {
      this.#break(thrown(direction, error))
    }
    this.#direction = before
  }
}

/** The fault of a codec that throws. */
function thrown(direction: LossDirection, error: unknown): Fault {
  const what =
    direction === 'request' ? 'The command for the agent could not be encoded' : 'What the agent said could not be read'
  return fault('internal', `${what} (${String(error)}).`)
}

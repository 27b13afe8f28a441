import { Observable, type Subscriber } from 'rxjs'
import {
  type BackContext,
  type BackDialect,
  type BackLink,
  type Call,
  type CallEnd,
  type CallHead,
  type Frame,
  faultOfEnd,
} from '../../contract/index.ts'
import type {
  AgentEvent,
  Command,
  Fault,
  Id,
  LinkEvent,
  Loss,
  TurnEnd,
  TurnEvent,
  TurnStart,
} from '../../model/index.ts'
import { carryStart, dropped } from '../carry/index.ts'
import { turnLaws } from '../events/index.ts'

/** The direction of a loss: in the client's request, or in the agent's response. */
export type Direction = 'request' | 'response'

/** Listener for an agent whose frames are given. All calls are synchronous. */
export interface AgentListener {
  /** An event of a turn, under the laws of a turn. */
  event(event: TurnEvent): void
  link?(event: LinkEvent): void
  loss?(loss: Loss, direction: Direction): void
  /** The wire is broken; the turn that runs fails with it. */
  fault?(fault: Fault): void
  /** The link starts a process or an HTTP call. */
  call?(call: Call): void
  send?(frame: Frame): void
  /** The link ends the input of its call. */
  endInput?(): void
}

/** A turn whose events still come. */
interface Running {
  turn: Id
  cancelled: boolean
  subscriber: Subscriber<AgentEvent> | undefined
}

/**
 * An agent without a process: hosts a codec's back link, is given the frames that the agent wrote, and tells what they
 * mean. The same laws hold as in a gateway: what the agent's protocol has no place for is taken out of a command, and
 * every turn has exactly one end.
 */
export class RecordedAgent<O = unknown> {
  readonly #dialect: BackDialect<O>
  readonly #listener: AgentListener
  readonly #link: BackLink
  #running: Running | undefined
  #direction: Direction = 'request'
  #end: CallEnd = { why: 'closed' }
  #broken: Fault | undefined
  #ids = 0

  constructor(dialect: BackDialect<O>, context: BackContext<O>, listener: AgentListener) {
    this.#dialect = dialect
    this.#listener = listener
    this.#link = dialect.back.open(context, {
      emit: (event) => this.#emit(event),
      open: (call) => listener.call?.(call),
      send: (frame) => listener.send?.(frame),
      end: () => listener.endInput?.(),
      broken: (fault) => this.#break(fault),
      report: (loss) => listener.loss?.(loss, this.#direction),
      newId: () => `${++this.#ids}`,
    })
  }

  /** The turn that runs. */
  get running(): Id | undefined {
    return this.#running?.turn
  }

  /** Nothing more can be read from its wire. */
  get broken(): boolean {
    return this.#broken !== undefined
  }

  /** Its process lives as long as the session. */
  get persistent(): boolean {
    return this.#link.open !== undefined
  }

  /** Begins: the process that lives as long as the session is started. */
  open(): void {
    this.#link.open?.()
  }

  /** Hands over a turn. */
  start(command: Command & TurnStart): void {
    const carried = carryStart(this.#dialect.back.capabilities, command, (loss) =>
      this.#listener.loss?.(loss, 'request'),
    )
    const running: Running = { turn: command.turn, cancelled: false, subscriber: undefined }
    this.#running = running
    new Observable<AgentEvent>((subscriber) => {
      running.subscriber = subscriber
      this.#asking(() => this.#link.encode(carried))
    })
      .pipe(
        turnLaws({
          turn: command.turn,
          link: (event) => this.#listener.link?.(event),
          missingEnd: () => this.#broken ?? faultOfEnd(this.#end),
          cancelled: () => running.cancelled,
          abortable() {},
        }),
      )
      .subscribe((event) => {
        if (event.type === 'turn-end' && this.#running === running) this.#running = undefined
        this.#listener.event(event)
      })
  }

  /** Hands over any other command; what the agent's protocol has no place for is lost. */
  send(command: Exclude<Command, TurnStart>): void {
    if (command.type === 'turn-cancel' && this.#running) this.#running.cancelled = true
    const item = command.type === 'query' ? (`query.${command.what}` as const) : command.type
    if (this.#dialect.back.capabilities[item] === 'none') this.#listener.loss?.(dropped(item), 'request')
    else this.#asking(() => this.#link.encode(command))
  }

  /** The head of an HTTP answer. */
  head(head: CallHead): void {
    this.#saying(() => this.#link.decodeHead?.(head))
  }

  /** A frame that the agent wrote. */
  decode(frame: Frame): void {
    const before = this.#direction
    this.#direction = 'response'
    this.#link.decode(frame)
    this.#direction = before
  }

  /** Its call ended; a turn that runs gets its end. */
  end(end: CallEnd): void {
    this.#end = end
    this.#saying(() => this.#link.decodeEnd(end))
    this.#running?.subscriber?.complete()
  }

  /** Ends the turn that runs from outside. */
  abort(end: Omit<TurnEnd, 'turn' | 'type'>): void {
    const running = this.#running
    if (running) this.#emit({ ...end, type: 'turn-end', turn: running.turn })
  }

  #emit(event: AgentEvent): void {
    const subscriber = this.#running?.subscriber
    if (subscriber) subscriber.next(event)
    else if (event.turn === null) this.#listener.link?.(event)
  }

  #break(fault: Fault): void {
    this.#broken ??= fault
    this.#listener.fault?.(fault)
    this.#running?.subscriber?.complete()
  }

  #asking(step: () => void): void {
    const before = this.#direction
    this.#direction = 'request'
    step()
    this.#direction = before
  }

  #saying(step: () => void): void {
    const before = this.#direction
    this.#direction = 'response'
    step()
    this.#direction = before
  }
}

import type { BackContext, BackDialect, CallEnd, CallHead, Frame, WireText } from '../../contract/index.ts'
import type {
  Command,
  Fault,
  Id,
  LinkEvent,
  Loss,
  LossDirection,
  TextRun,
  TurnEnd,
  TurnEvent,
  TurnStart,
} from '../../model/index.ts'
import { type BackCalls, BackHost } from '../agent/index.ts'
import type { TurnReader } from '../events/index.ts'

/** Listener for an agent whose frames are given. All calls are synchronous. */
export interface AgentListener {
  /** An event of a turn, under the laws of a turn. */
  event(event: TurnEvent): void
  /** Pieces of text of one read, taken together; absent: each is an event. */
  texts?(run: TextRun): void
  link?(event: LinkEvent): void
  loss?(loss: Loss, direction: LossDirection): void
  /** The wire is broken; the turn that runs fails with it. */
  fault?(fault: Fault): void
}

/** The calls of an agent of which only the output is given. */
export const NO_CALLS: BackCalls = { open() {}, send() {}, end() {} }

/** An agent without a process: a codec's back link that is given the frames which the agent wrote. */
export class RecordedAgent<O = unknown> {
  readonly #listener: AgentListener
  readonly #host: BackHost<O>

  /** `calls` gets what its link starts and writes. */
  constructor(
    dialect: BackDialect<O>,
    context: BackContext<O>,
    listener: AgentListener,
    calls: Partial<BackCalls> = NO_CALLS,
  ) {
    this.#listener = listener
    this.#host = new BackHost(
      dialect,
      context,
      { ...NO_CALLS, ...calls },
      {
        link: (event) => listener.link?.(event),
        loss: (loss, direction) => listener.loss?.(loss, direction),
        fault: (fault) => listener.fault?.(fault),
        idle() {},
      },
    )
  }

  /** The turn that runs. */
  get running(): Id | undefined {
    return this.#host.running
  }

  /** Nothing more can be read from its wire. */
  get broken(): boolean {
    return this.#host.broken
  }

  /** Its process lives as long as the session. */
  get persistent(): boolean {
    return this.#host.persistent
  }

  /** Begins: the process that lives as long as the session is started. */
  open(): void {
    this.#host.open()
  }

  /** Gives it a turn. */
  start(command: Command & TurnStart): void {
    const listener = this.#listener
    this.#host.play(command, new Reader(listener), listener.texts && ((run) => listener.texts!(run)))
  }

  /** Gives it any other command. */
  send(command: Exclude<Command, TurnStart>): void {
    if (command.type === 'turn-cancel') this.#host.cancel()
    this.#host.send(command)
  }

  /** The head of an HTTP answer. */
  head(head: CallHead): void {
    this.#host.head(head)
  }

  /** A read of what the agent wrote: `give` gives its frames, and their pieces of text are taken together. */
  read(give: () => void): void {
    this.#host.readBegins()
    give()
    this.#host.readEnds()
  }

  /** May read pieces of text that stand in a row in a read, like frames one by one. */
  decodeTexts(wire: WireText): void {
    this.#host.decodeTexts(wire)
  }

  /** A frame that the agent wrote. */
  decode(frame: Frame): void {
    this.#host.decode(frame)
  }

  /** Its call ended; a turn that runs gets its end. */
  end(end: CallEnd): void {
    this.#host.callEnded(end)
    this.#host.close()
  }

  /** Ends the turn that runs from outside. */
  abort(end: Omit<TurnEnd, 'turn' | 'type'>): void {
    const turn = this.running
    if (turn !== undefined) this.#host.abort({ ...end, type: 'turn-end', turn })
  }
}

/** Gives the events of one turn to a listener. */
class Reader implements TurnReader {
  readonly #listener: AgentListener
  closed = false

  constructor(listener: AgentListener) {
    this.#listener = listener
  }

  next(event: TurnEvent): void {
    this.#listener.event(event)
  }

  complete(): void {
    this.closed = true
  }
}

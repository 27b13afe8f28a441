import { type EventTable, writeEvent } from '../../../../src/codec-kit/index.ts'
import type { FrameRun } from '../../../../src/contract/index.ts'
import type { EventOf, Fault, JsonText, Loss, TextRun, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import type { DeclaredTools } from '../../declared-tools.ts'
import { faultOfTurn } from '../../errors.ts'
import { incompleteOf } from '../stops.ts'
import { CallItems } from './calls.ts'
import { type Envelope, type ResponseState, responseJson, type Status } from './envelope.ts'
import { foreignItem } from './foreign.ts'
import { Output, type SendEvent } from './output.ts'
import { SpeechItems } from './speech.ts'

/** Writes one response from the events of its turn: the events of its stream, and the response itself. */
export class ResponseWriter {
  static readonly #EVENTS: EventTable<ResponseWriter> = {
    'turn-accepted': null,
    'turn-started': (writer, _, view) => writer.#begin(view),
    'turn-parked': (writer, event, view) => writer.#park(event, view),
    'turn-end': (writer, event, view) => writer.#end(event, view),
    'step-start': null,
    'step-end': null,
    'message-start': (writer, event) => writer.#speech.start(event),
    'text-delta': (writer, { message, text }, view) => writer.#begin(view).text(message, text, view),
    'reasoning-delta': (writer, { message, text }, view) => writer.#begin(view).think(message, text, view),
    'reasoning-end': (writer, { message, seal }, view) => writer.#begin(view).thought(message, seal, view),
    citation: (writer, { message, ...citation }, view) => writer.#begin(view).cite(message, citation, view),
    'message-end': (writer, event, view) => writer.#begin(view).end(event, view),
    'message-retract': null,
    'tool-start': null,
    'tool-args-delta': null,
    'tool-call': null,
    'tool-progress': null,
    'tool-end': (writer, event, view) => writer.#toolEnd(event, view),
    'terminal-output': null,
    directive: null,
    plan: null,
    usage: null,
    notice: null,
    ask: null,
    // The first event of a turn that goes on.
    'ask-settled': (writer, _, view) => writer.#begin(view),
    foreign: (writer, event, view) => writer.#foreign(event, view),
  }

  readonly #envelope: Envelope
  readonly #output: Output
  readonly #speech: SpeechItems
  readonly #calls: CallItems
  readonly #losses: () => readonly Loss[]
  #begun = false
  /** The response, once it is over. */
  #response: JsonText | undefined

  /** Without `send` only the response itself is made. `losses` are those of the exchange so far. */
  constructor(
    envelope: Envelope,
    tools: DeclaredTools,
    losses: () => readonly Loss[],
    send?: SendEvent,
    sendRun?: (run: FrameRun) => void,
  ) {
    this.#envelope = envelope
    this.#losses = losses
    this.#output = new Output(send, sendRun)
    this.#speech = new SpeechItems(envelope.ref, this.#output)
    this.#calls = new CallItems(envelope.ref, tools, this.#output)
  }

  /** True once something is written: a failure can no longer be a status. */
  get begun(): boolean {
    return this.#begun
  }

  /** The response, once it is over. */
  get response(): JsonText | undefined {
    return this.#response
  }

  /** Writes what an event says. */
  write(event: TurnEvent, view: TurnView): void {
    writeEvent(ResponseWriter.#EVENTS, this, event, view)
  }

  /** Writes pieces of the text of a message. */
  texts(run: TextRun, view: TurnView): void {
    this.#begin(view).texts(run, view)
  }

  /** The response as it is now. */
  snapshot(status: Status, view: TurnView): JsonText {
    return this.#json(view, { status })
  }

  /** Ends a stream that has begun with a failure outside of any turn. */
  fail(fault: Fault, view: TurnView): void {
    this.#finish('failed', view, { fault })
  }

  #begin(view: TurnView): SpeechItems {
    if (this.#begun) return this.#speech
    this.#begun = true
    if (this.#output.streams) {
      const response = this.#json(view, { status: 'in_progress' })
      this.#output.event('response.created', () => `"response":${response}`)
      this.#output.event('response.in_progress', () => `"response":${response}`)
    }
    return this.#speech
  }

  /** Tools of the agent's own are shown with their results; those of sub-agents are not. */
  #toolEnd({ tool }: EventOf<'tool-end'>, view: TurnView): void {
    const known = view.tool(tool)
    if (!known || known.executor === 'client' || known.lane !== undefined) return
    this.#begin(view).close()
    this.#calls.own(known, view.agent)
  }

  /** An item of a type that the model has no place for is shown as it came. */
  #foreign(event: EventOf<'foreign'>, view: TurnView): void {
    const item = foreignItem(event)
    if (item === undefined) return
    this.#begin(view).close()
    this.#output.whole(item)
  }

  /** The response is complete, with what the turn asks of the client. */
  #park(event: EventOf<'turn-parked'>, view: TurnView): void {
    this.#begin(view).close()
    this.#calls.pending(event, view)
    this.#finish('completed', view, {})
  }

  #end(event: EventOf<'turn-end'>, view: TurnView): void {
    this.#begin(view).close()
    if (event.outcome !== 'completed') {
      const status = event.outcome === 'cancelled' ? 'cancelled' : 'failed'
      this.#finish(status, view, { fault: faultOfTurn(event) })
      return
    }
    const incomplete = incompleteOf(event.stop ?? 'end', view)
    this.#finish(incomplete === undefined ? 'completed' : 'incomplete', view, { incomplete })
  }

  /** Writes the last event. There is none for a cancel: a stream of a cancelled response has failed. */
  #finish(status: Status, view: TurnView, more: Partial<ResponseState>): void {
    const response = this.#json(view, { status, losses: this.#losses(), usage: view.answerUsage, ...more })
    this.#response = response
    const type = status === 'cancelled' ? 'failed' : status
    this.#output.event(`response.${type}`, () => `"response":${response}`)
  }

  #json(view: TurnView, state: Omit<ResponseState, 'output'>): JsonText {
    return responseJson(this.#envelope, view, { output: this.#output.items, ...state })
  }
}

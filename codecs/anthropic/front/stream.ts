import {
  type Cited,
  characters,
  citationsOf,
  citedPieces,
  type EventTable,
  isAnswer,
  isDropped,
  weakened,
  writeEvent,
} from '../../../src/codec-kit/index.ts'
import type { FrameRun } from '../../../src/contract/index.ts'
import {
  type Citation,
  type EventOf,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  type MessageView,
  quote,
  type Seal,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { citationJson } from '../citations.ts'
import { errorJson, faultOfTurn } from '../errors.ts'
import { usageJson } from '../usage.ts'
import { PROTOCOL } from '../wire.ts'
import { type Asked, answerJson, endOf, usageOf } from './answer.ts'
import {
  askedCalls,
  redactedBlock,
  serverResultBlock,
  serverUseBlock,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from './blocks.ts'

/** The writer's place in the wire. */
export interface StreamOutput {
  /** Writes one server-sent event. */
  event(type: string, data: JsonText): void
  /** Writes such events, whose data differ in a piece. */
  run(run: FrameRun): void
  report(loss: Loss): void
}

type BlockKind = 'text' | 'thinking'

/** Writes the events of one streamed message: blocks one after the other, exactly one end or error. */
export class EventWriter {
  static readonly #EVENTS: EventTable<EventWriter> = {
    'turn-accepted': null,
    'turn-started': (writer) => writer.#begin(),
    'turn-parked': (writer, event, view) => writer.#park(event, view),
    'turn-end': (writer, event, view) => writer.#finish(event, view),
    'step-start': null,
    'step-end': null,
    'message-start': null,
    'text-delta': (writer, { message, text }, view) => writer.#piece('text', view.message(message), text),
    'reasoning-delta': (writer, { message, text }, view) => writer.#piece('thinking', view.message(message), text),
    'reasoning-end': (writer, { message, seal }, view) => isAnswer(view.message(message)) && writer.#seal(seal),
    citation: (writer, { message, ...citation }, view) => writer.#cite(view.message(message), citation),
    'message-end': (writer, event, view) => writer.#end(event, view),
    'message-retract': null,
    'tool-start': null,
    'tool-args-delta': null,
    'tool-call': (writer, event, view) => writer.#serverUse(event, view),
    'tool-progress': null,
    'tool-end': (writer, event, view) => writer.#serverResult(event, view),
    'terminal-output': null,
    directive: null,
    plan: null,
    usage: null,
    notice: null,
    ask: null,
    'ask-settled': null,
    foreign: null,
  }

  readonly #output: StreamOutput
  readonly #asked: Asked
  #begun = false
  #blocks = 0
  #open: BlockKind | undefined
  /** The message that the open block belongs to. */
  #speaking: Id | undefined
  /** Calls of the agent's own tools that are written. */
  readonly #called = new Set<Id>()
  /** Messages whose sources are written: the end of a message repeats them. */
  readonly #cited = new Set<Id>()
  /** The open block has sources. */
  #isCited = false
  /** The place in its message where the open block of text begins. */
  #from = 0
  /** Seals that are written: the end of a message repeats them. */
  readonly #seals = new Set<string>()

  constructor(asked: Asked, output: StreamOutput) {
    this.#asked = asked
    this.#output = output
  }

  /** True once something is written: a failure can no longer be a status. */
  get begun(): boolean {
    return this.#begun
  }

  /** Writes what an event says. */
  write(event: TurnEvent, view: TurnView): void {
    writeEvent(EventWriter.#EVENTS, this, event, view)
  }

  /** Writes pieces of the text of a message. */
  texts(run: TextRun, view: TurnView): void {
    const message = view.message(run.message)
    if (!isAnswer(message)) return
    this.#openFor('text', message, run.text)
    const before = `{"type":"content_block_delta","index":${this.#blocks - 1},"delta":{"type":"text_delta","text":"`
    this.#output.run({ event: 'content_block_delta', before, pieces: run.inner, after: '"}}' })
  }

  /** Ends the stream with an error. */
  fail(fault: Fault): void {
    this.#output.event('error', errorJson(fault, this.#asked.request))
  }

  /** Writes the API's own sign of life. */
  keepAlive(): void {
    if (this.#begun) this.#output.event('ping', '{"type":"ping"}')
  }

  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    // Clients take the tokens of the request from here, before anybody has counted them.
    const message = answerJson(this.#asked, '', ['null', 'null'], { input: this.#asked.tokens })
    this.#output.event('message_start', `{"type":"message_start","message":${message}}`)
  }

  #piece(kind: BlockKind, message: MessageView | undefined, text: string): void {
    if (text === '' || !isAnswer(message)) return
    this.#openFor(kind, message, text)
    this.#delta(kind === 'text' ? `"text_delta","text":${quote(text)}` : `"thinking_delta","thinking":${quote(text)}`)
  }

  /** Opens a block for a text that its message ends with, unless one is open. */
  #openFor(kind: BlockKind, message: MessageView, text: string): void {
    if (this.#open === kind && this.#speaking === message.id && !this.#isCited) return
    this.#start(kind, message.id)
    this.#from = message.text.length - text.length
  }

  #start(kind: BlockKind, message: Id | undefined): void {
    this.#startBlock(kind === 'text' ? textBlock('') : thinkingBlock('', ''))
    this.#open = kind
    this.#isCited = false
    this.#speaking = message
  }

  #startBlock(block: JsonText): void {
    this.#begin()
    this.#close()
    this.#output.event(
      'content_block_start',
      `{"type":"content_block_start","index":${this.#blocks},"content_block":${block}}`,
    )
    this.#blocks += 1
  }

  /** Writes a piece of the newest block: the delta's type, and its other members. */
  #delta(delta: string): void {
    const index = this.#blocks - 1
    this.#output.event(
      'content_block_delta',
      `{"type":"content_block_delta","index":${index},"delta":{"type":${delta}}}`,
    )
  }

  #stop(): void {
    this.#open = undefined
    this.#output.event('content_block_stop', `{"type":"content_block_stop","index":${this.#blocks - 1}}`)
  }

  /** Ends the open block. */
  #close(): void {
    if (this.#open !== undefined) this.#stop()
  }

  /** Ends a block of reasoning. This provider cannot read a seal of another one. */
  #seal(seal: Seal | undefined): void {
    const own = seal?.provider === PROTOCOL
    if (own) this.#seals.add(seal.data)
    else if (seal) this.#output.report(weakened('reasoning.seal'))
    if (own && seal.kind === 'redacted') {
      this.#block(redactedBlock(seal.data))
      return
    }
    if (own) {
      if (this.#open !== 'thinking') this.#start('thinking', undefined)
      this.#delta(`"signature_delta","signature":${quote(seal.data)}`)
    }
    if (this.#open === 'thinking') this.#stop()
  }

  #block(block: JsonText): void {
    this.#startBlock(block)
    this.#stop()
  }

  /** Writes the reasoning and text that came only with the end of the message. */
  #end({ message, parts = [] }: EventOf<'message-end'>, view: TurnView): void {
    const known = view.message(message)
    if (!isAnswer(known)) return
    for (const part of parts) {
      if (part.type === 'reasoning' && known.thought !== true && !this.#seals.has(part.seal?.data ?? '')) {
        this.#piece('thinking', known, part.text)
        this.#seal(part.seal)
      }
      if (part.type === 'text' && !known.streamed) this.#text(known, part)
    }
    // Sources may come with the end alone.
    if (!this.#cited.has(message)) for (const citation of citationsOf(parts)) this.#cite(known, citation)
    this.#close()
  }

  /** Writes a text that did not come in pieces. */
  #text(message: MessageView, cited: Cited): void {
    for (const [at, { text, citations }] of citedPieces(cited).entries()) {
      if (at > 0) this.#close()
      this.#piece('text', message, text)
      for (const citation of citations) this.#source(citation)
    }
    if (cited.citations) this.#cited.add(message.id)
  }

  #serverUse(event: EventOf<'tool-call'>, view: TurnView): void {
    const tool = view.tool(event.tool)
    if (!tool || tool.executor === 'client' || tool.lane !== undefined || this.#called.has(tool.id)) return
    this.#called.add(tool.id)
    this.#block(serverUseBlock(tool, view.agent, event.ext))
  }

  /** A result comes after its call, whose end the agent may not have sent. */
  #serverResult(event: EventOf<'tool-end'>, view: TurnView): void {
    const tool = view.tool(event.tool)
    if (!tool || tool.executor === 'client' || tool.lane !== undefined || isDropped(tool)) return
    if (!this.#called.has(tool.id)) this.#block(serverUseBlock(tool, view.agent, undefined))
    this.#block(serverResultBlock(tool.id, event.status, event.parts, event.ext))
  }

  /**
   * Writes a source into the block of its text. Further text begins another block, because sources are those of a whole
   * block; text before the place of the source is in the same block all the same.
   */
  #cite(message: MessageView | undefined, citation: Citation): void {
    if (!isAnswer(message)) return
    this.#cited.add(message.id)
    if (this.#open !== 'text' || this.#speaking !== message.id) return
    const { start = 0 } = citation
    if (start > characters(message.text.slice(0, this.#from))) this.#output.report(weakened('citation', 'start'))
    this.#source(citation)
  }

  #source(citation: Citation): void {
    const json = citationJson(citation)
    if (json === undefined) return
    this.#delta(`"citations_delta","citation":${json}`)
    this.#isCited = true
  }

  #park({ asks, continuation }: EventOf<'turn-parked'>, view: TurnView): void {
    this.#begin()
    this.#close()
    for (const call of askedCalls(asks, continuation, view)) {
      this.#startBlock(toolUseBlock({ ...call, input: '{}' }))
      this.#delta(`"input_json_delta","partial_json":${quote(call.input)}`)
      this.#stop()
    }
    this.#finishMessage('tool_use', null, view)
  }

  #finish(event: EventOf<'turn-end'>, view: TurnView): void {
    if (event.outcome !== 'completed') {
      this.fail(faultOfTurn(event))
      return
    }
    this.#begin()
    this.#close()
    const { reason, sequence } = endOf(event, view, this.#asked)
    this.#finishMessage(reason, sequence, view)
  }

  #finishMessage(reason: string, sequence: JsonText | null, view: TurnView): void {
    const usage = usageJson(usageOf(view, this.#asked.tokens))
    const delta = `{"stop_reason":${quote(reason)},"stop_sequence":${sequence}}`
    this.#output.event('message_delta', `{"type":"message_delta","delta":${delta},"usage":${usage}}`)
    this.#output.event('message_stop', '{"type":"message_stop"}')
  }
}

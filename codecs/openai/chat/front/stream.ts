import { type EventTable, isAnswer, writeEvent } from '../../../../src/codec-kit/index.ts'
import type { FrameRun } from '../../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type JsonText,
  type Loss,
  type MessageView,
  object,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { errorJson, faultOfTurn } from '../../errors.ts'
import { MESSAGES } from '../../further.ts'
import { usageJson } from '../usage.ts'
import { type Asked, annotationsJson, type Ending, finishOf, headEntries, lossEntry } from './answer.ts'
import { callJsons } from './calls.ts'

/** The text after a piece in its chunk. */
const AFTER = '},"logprobs":null,"finish_reason":null}]}'

/** The writer's place in the wire. */
export interface StreamOutput {
  /** Writes the data of one server-sent event. */
  data(json: JsonText | '[DONE]'): void
  /** Writes such events, whose data differ in a piece. */
  run(run: FrameRun): void
  /** The losses of the exchange so far. */
  losses(): readonly Loss[]
}

/** Writes the chunks of one answer: a role, pieces of text, calls, exactly one finish or error, and `[DONE]`. */
export class ChunkWriter {
  static readonly #EVENTS: EventTable<ChunkWriter> = {
    'turn-accepted': null,
    'turn-started': (writer) => writer.#begin(),
    'turn-parked': (writer, event, view) => writer.#finish(event, view),
    'turn-end': (writer, event, view) => writer.#finish(event, view),
    'step-start': null,
    'step-end': null,
    'message-start': null,
    'text-delta': (writer, event, view) => writer.#text(view.message(event.message), event.text),
    'reasoning-delta': (writer, { message, text }, view) =>
      isAnswer(view.message(message)) && writer.#delta('reasoning_content', text),
    'reasoning-end': null,
    citation: null,
    'message-end': (writer, event, view) => writer.#end(event, view),
    'message-retract': null,
    'tool-start': null,
    'tool-args-delta': null,
    'tool-call': null,
    'tool-progress': null,
    'tool-end': null,
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
  readonly #countsUsage: boolean
  /** The beginning of every chunk, which has the same ids. */
  #head = ''
  /** The member that the last piece was, and how the chunks of its pieces begin. */
  #member = ''
  #before = ''
  #begun = false
  /** The message that text was written of; another one begins after an empty line. */
  #speaking: string | undefined

  constructor(asked: Asked, countsUsage: boolean, output: StreamOutput) {
    this.#asked = asked
    this.#countsUsage = countsUsage
    this.#output = output
  }

  /** True once something is written: a failure can no longer be a status. */
  get begun(): boolean {
    return this.#begun
  }

  /** Writes what an event says. */
  write(event: TurnEvent, view: TurnView): void {
    if (this.#head === '')
      this.#head = object(headEntries(view, 'chat.completion.chunk', this.#asked.model)).slice(0, -1)
    writeEvent(ChunkWriter.#EVENTS, this, event, view)
  }

  /** Ends the stream with an error. */
  fail(fault: Fault): void {
    this.#output.data(object([['error', errorJson(fault)], lossEntry(this.#output.losses())]))
    this.#output.data('[DONE]')
  }

  /** Writes an empty chunk, so that no proxy takes the connection for dead. */
  keepAlive(): void {
    if (this.#begun) this.#chunk('{}', 'null')
  }

  /** Writes pieces of the text of a message. */
  texts(run: TextRun, view: TurnView): void {
    const message = view.message(run.message)
    if (!isAnswer(message)) return
    const before = this.#chunkOf(this.#speak(message))
    this.#output.run({ before: `${before}"`, pieces: run.inner, after: `"${AFTER}` })
  }

  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.#chunk('{"role":"assistant","content":""}', 'null')
  }

  #text(message: MessageView | undefined, text: string): void {
    if (!isAnswer(message) || text === '') return
    this.#delta(this.#speak(message), text)
  }

  /** The member that has the text of a message from here on. */
  #speak(message: MessageView): string {
    const member = message.refuses ? 'refusal' : 'content'
    if (this.#speaking !== undefined && this.#speaking !== message.id) this.#delta(member, '\n\n')
    this.#speaking = message.id
    return member
  }

  /** Writes the text and reasoning that came only with the end of the message. */
  #end({ message, parts }: EventOf<'message-end'>, view: TurnView): void {
    const known = view.message(message)
    if (!parts || !isAnswer(known)) return
    const thoughts = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
    if (known.thought !== true && thoughts !== '') this.#delta('reasoning_content', thoughts)
    if (!known.streamed) this.#text(known, known.text)
    const further = MESSAGES.chat.of(parts)
    if (further !== undefined) this.#chunk(further, 'null')
  }

  #delta(member: string, text: string): void {
    this.#output.data(`${this.#chunkOf(member)}${quote(text)}${AFTER}`)
  }

  /** The text before a piece of this member in its chunk. */
  #chunkOf(member: string): string {
    this.#begin()
    if (member !== this.#member) this.#before = `${this.#head},"choices":[{"index":0,"delta":{"${member}":`
    this.#member = member
    return this.#before
  }

  #finish(ending: Ending, view: TurnView): void {
    if (ending.type === 'turn-end' && ending.outcome !== 'completed') {
      this.fail(faultOfTurn(ending))
      return
    }
    this.#begin()
    // Clients keep the last list that they get.
    const annotations = annotationsJson(view.messages.filter((message) => isAnswer(message) && message.text !== ''))
    if (annotations !== undefined) this.#chunk(`{"annotations":${annotations}}`, 'null')
    if (ending.type === 'turn-parked') {
      for (const call of callJsons(ending, view, this.#asked.tools, true)) {
        this.#chunk(`{"tool_calls":[${call}]}`, 'null')
      }
    }
    const losses = this.#output.losses()
    this.#chunk('{}', quote(finishOf(ending)), losses)
    const usage = this.#countsUsage ? view.answerUsage : undefined
    if (usage) this.#output.data(`${this.#head},"choices":[],"usage":${usageJson(usage)}}`)
    this.#output.data('[DONE]')
  }

  #chunk(delta: JsonText, finish: JsonText, losses: readonly Loss[] = []): void {
    const [key, report] = lossEntry(losses)
    const more = report === undefined ? '' : `,"${key}":${report}`
    this.#output.data(
      `${this.#head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${more}}`,
    )
  }
}

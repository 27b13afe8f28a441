import { dropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  type Part,
  quote,
  type TurnView,
} from '../../../src/model/index.ts'
import { contentOf, textBlock } from '../content.ts'
import { timeText } from '../wire.ts'
import type { Lines } from './lines.ts'
import type { ToolWriter } from './tools.ts'

const TIMED = new Set(['content', 'time'])

/** Writes the messages of one prompt, the prompt itself among them. */
export class MessageWriter {
  readonly #lines: Lines
  readonly #tools: ToolWriter
  /** The prompt that is not shown yet. */
  #prompt: readonly Part[] | undefined
  /** The assistant message whose deltas come. */
  streaming: Id | undefined

  /** `prompt` is shown before what the agent says, if the agent does not say it itself. */
  constructor(lines: Lines, tools: ToolWriter, prompt: readonly Part[] | undefined) {
    this.#lines = lines
    this.#tools = tools
    this.#prompt = prompt
  }

  /** Writes the prompt as it stands in the transcript, once. */
  showPrompt(view: TurnView): void {
    const prompt = this.#prompt
    this.#prompt = undefined
    if (prompt) this.#write('user_message', contentOf(prompt, undefined, unreported), view)
  }

  /** The agent says the prompt itself. */
  skipPrompt(): void {
    this.#prompt = undefined
  }

  /** A message of the agent begins. */
  start(message: Id, ext: Ext | undefined): void {
    this.streaming = message
    this.#lines.write('assistant_start', {}, ext)
  }

  delta(event: EventOf<'text-delta'>, view: TurnView): void {
    const message = view.message(event.message)
    if (message?.role !== 'assistant' || message.lane !== undefined || event.text === '') return
    this.#lines.write('text_delta', { delta: quote(event.text) }, event.ext)
  }

  end(event: EventOf<'message-end'>, view: TurnView): void {
    const message = view.message(event.message)
    if (!message || message.lane !== undefined) return
    const { role, text, streamed } = message
    if (role === 'user') this.#write('user_message', this.#content(event, text, unreported), view, event.ext)
    else if (role === 'assistant') {
      this.streaming = undefined
      this.#tools.closeDrafts()
      if (!streamed && text !== '') this.#lines.write('text_delta', { delta: quote(text) })
      // An empty message, such as that of an aborted answer, is not written.
      if (event.parts === undefined && text === '') return
      const content = this.#content(event, text, (loss) => this.#lines.report(loss))
      this.#write('assistant_message', content, view, event.ext)
    } else this.#lines.report(dropped('message-end', 'role'))
  }

  retract(event: EventOf<'message-retract'>, view: TurnView): void {
    if (event.keepText || !view.message(event.message)?.streamed) return
    this.#lines.report(weakened('message-retract', undefined, 'too-narrow'))
  }

  #content({ parts, ext }: EventOf<'message-end'>, text: string, report: Report): JsonText {
    return parts ? contentOf(parts, ext, report) : `[${textBlock(text)}]`
  }

  #write(type: string, content: JsonText, view: TurnView, ext?: Ext): void {
    this.#lines.write(type, { content, time: quote(timeText(view.at)) }, ext, TIMED)
  }
}

/** A client knows its own prompt, so an incomplete repetition is no loss. */
function unreported(): void {}

import { dropped, TurnEmitter } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Id } from '../../../../src/model/index.ts'
import { type Cap, capOf } from '../../cap.ts'
import type { AgentProcOptions } from '../../options.ts'
import type { AnswerReader } from '../../process-turn.ts'
import { INVALID_SESSION } from '../../session.ts'
import { classify, isSessionId, type Line } from '../schema.ts'

/** The source of answer text: AGENT_PARTIAL lines, or the lines of the body. */
type Channel = 'partial' | 'body'

/**
 * Reads the stdout of one run of an agent as events of its turn. Text goes on at once, in wire order; each run of
 * partials and each run of body lines is a message of its own, because an AGENT_ERROR takes the body back and leaves
 * the partials standing.
 */
export class Reply implements AnswerReader {
  readonly #options: AgentProcOptions
  readonly #out: TurnEmitter
  readonly #caps: Record<Channel, Cap>
  readonly #bodies: Id[] = []
  #channel: Channel | undefined
  /** Body lines of the open run. */
  #lines = 0
  /** The last AGENT_ERROR with a text. */
  error: string | undefined
  /** The last valid session id. */
  session: string | undefined
  /** True when no text that a reader could see was passed on. */
  blank = true

  constructor(turn: Id, options: AgentProcOptions, ports: BackPorts) {
    this.#options = options
    this.#out = new TurnEmitter(ports, turn)
    this.#caps = { partial: capOf(options), body: capOf(options) }
  }

  /** One line of stdout, without its line end. */
  line(text: string): void {
    const line = classify(text, this.#options.session_line_prefix)
    this.#on[line.kind](line.value)
  }

  /** Nothing more comes: closes the open message. */
  close(): void {
    this.#out.closeMessage()
    this.#channel = undefined
  }

  readonly #on: Record<Line['kind'], (value: string) => void> = {
    session: (id) => {
      if (isSessionId(id)) this.session = id
      else if (id !== '') this.#out.notice('warning', 'invalid-session-id', INVALID_SESSION)
    },
    partial: (text) => {
      if (text === '') return
      if (this.#options.streaming && this.error === undefined) this.#say('partial', text)
      else this.#drop('AGENT_PARTIAL')
    },
    body: (line) => {
      if (this.error !== undefined) return this.#drop('body')
      // A blank line between partials is the line end of a print, not a paragraph of the answer.
      if (line === '' && this.#channel === 'partial') return
      const followsLine = this.#channel === 'body' && this.#lines > 0
      this.#say('body', followsLine ? `\n${line}` : line)
      this.#lines += 1
    },
    error: (text) => {
      if (text === '') return
      if (this.error === undefined) this.#takeBackBody()
      this.error = text
    },
  }

  /** Adds text to the channel's message, as far as its cap allows. */
  #say(channel: Channel, text: string): void {
    if (this.#channel !== channel) {
      this.close()
      this.#channel = channel
      this.#lines = 0
    }
    const { text: kept, suffix, cut } = this.#caps[channel].take(text)
    if (cut) this.#drop('max_reply_chars')
    this.#emitText(channel, kept)
    this.#emitText(channel, suffix)
  }

  #emitText(channel: Channel, text: string): void {
    if (text === '') return
    if (this.#out.message === undefined) {
      const message = this.#out.openMessage()
      if (channel === 'body') this.#bodies.push(message)
    }
    if (this.blank && text.trim() !== '') this.blank = false
    this.#out.text(text)
  }

  #takeBackBody(): void {
    this.close()
    for (const message of this.#bodies) this.#out.emit({ type: 'message-retract', message, keepText: false })
  }

  #drop(field: string): void {
    this.#out.report(dropped('text-delta', field, 'policy'))
  }
}

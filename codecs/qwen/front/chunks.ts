import { isAnswer, weakened, withFurther } from '../../../src/codec-kit/index.ts'
import {
  append,
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  object,
  quote,
  type TurnView,
  type Usage,
} from '../../../src/model/index.ts'
import { toolCallJson } from '../messages.ts'
import { writeUsage } from '../usage.ts'
import { MESSAGE_GAP, ownMember, saidMembers } from '../wire.ts'
import type { Lines } from './lines.ts'
import type { AnswerWriter, Call, Ending } from './state.ts'

/** A call as its pieces number it. */
interface Numbered {
  index: number
  /** True once some of its arguments were written. */
  args: boolean
}

/**
 * An answer as `chat.completion.chunk` lines: the role first, pieces of text and of calls as they come, and one last
 * line without content. The wire has one text: messages are parted by a piece that
 * names the role again and whose content is an empty line.
 */
export class ChunksWriter implements AnswerWriter {
  readonly #lines: Lines
  readonly #calls = new Map<Id, Numbered>()
  /** The constant beginning of a piece of text. */
  #head = ''
  #message: Id | undefined
  /** The calls of the round that is being written. */
  readonly #round = new Set<Id>()
  #usage: Usage | undefined

  constructor(lines: Lines) {
    this.#lines = lines
  }

  begin(at: number): void {
    this.#head = `{"object":"chat.completion.chunk",${object(this.#lines.head(at)).slice(1, -1)},"choices":[{"index":0,"delta":{"content":`
    this.#lines.completion('{"index":0,"delta":{"role":"assistant"},"finish_reason":null}', { at })
  }

  before(view: TurnView): void {
    if (this.#round.size === 0) return
    this.#round.clear()
    const usage = this.#usage && writeUsage(this.#usage)
    this.#usage = undefined
    this.#lines.completion('{"index":0,"delta":{},"finish_reason":"tool_calls"}', { at: view.at, usage })
  }

  text(event: EventOf<'text-delta'>, view: TurnView): void {
    if (event.text === '') return
    if (event.message !== this.#message) {
      if (!isAnswer(view.message(event.message))) return
      this.#piece(event.message, event.text, event.ext, view)
    } else if (event.ext || this.#round.size > 0) this.#piece(event.message, event.text, event.ext, view)
    else this.#lines.send(`${this.#head}${quote(event.text)}},"finish_reason":null}]}`)
  }

  endMessage(event: EventOf<'message-end'>, view: TurnView): void {
    const message = view.message(event.message)
    // The pieces of it cannot be taken back.
    if (event.revised) this.#lines.report(weakened('message-end', 'text', 'policy'))
    if (!isAnswer(view.message(event.message)) || message?.streamed || message?.text === '') return
    this.#piece(event.message, message!.text, event.ext, view)
  }

  retract(message: Id, view: TurnView): boolean {
    return message !== this.#message && !view.message(message)?.streamed
  }

  toolStart({ tool, name, ext }: EventOf<'tool-start'>, view: TurnView): void {
    this.#open(tool)
    this.#piecesOfCall(tool, toolCallJson(tool, name, '').slice(1, -1), ext, view)
  }

  /** The wire cannot take pieces back: the round of a call that was dropped never ends with calls. */
  toolDrop(tool: Id): void {
    this.#round.delete(tool)
  }

  toolArgs({ tool, text, ext }: EventOf<'tool-args-delta'>, view: TurnView): void {
    const call = this.#calls.get(tool)
    if (!call) return
    call.args = true
    this.#piecesOfCall(tool, `"function":{"arguments":${quote(text)}}`, ext, view)
  }

  toolCall({ tool, name, args, ext }: Call, view: TurnView): void {
    const known = this.#calls.get(tool)
    if (!known) this.#open(tool)
    if (!known) this.#piecesOfCall(tool, toolCallJson(tool, name, args).slice(1, -1), ext, view)
    else if (!known.args) this.#piecesOfCall(tool, `"function":{"arguments":${quote(args)}}`, ext, view)
  }

  /** Only the line after a round of calls has room for the usage of one model call; the last line has the total. */
  usage(usage: Usage): void {
    this.#usage = usage
  }

  finish(reason: string | undefined, { usage, ext }: Ending, view: TurnView): void {
    const delta = append('{}', ownMember(ext, 'delta'))
    const choice = `{"index":0,"delta":${delta},"finish_reason":${quote(reason ?? 'stop')}}`
    this.#lines.completion(choice, { at: view.at, usage, ext })
  }

  #piece(message: Id, text: string, ext: Ext | undefined, view: TurnView): void {
    this.before(view)
    if (this.#message !== undefined && this.#message !== message) {
      this.#chunk(`{"role":"assistant","content":${quote(MESSAGE_GAP)}}`, view)
    }
    this.#message = message
    const delta = append(`{"content":${quote(text)}}`, saidMembers(ext))
    this.#chunk(delta, view, ext)
  }

  #open(tool: Id): void {
    this.#calls.set(tool, { index: this.#calls.size, args: false })
  }

  #piecesOfCall(tool: Id, members: string, ext: Ext | undefined, view: TurnView): void {
    this.#round.add(tool)
    const { index } = this.#calls.get(tool)!
    const call = withFurther(`{"index":${index},${members}}`, ownMember(ext, 'call'))
    this.#chunk(append(`{"tool_calls":[${call}]}`, saidMembers(ext)), view, ext)
  }

  #chunk(delta: JsonText, view: TurnView, ext?: Ext): void {
    this.#lines.completion(`{"index":0,"delta":${delta},"finish_reason":null}`, { at: view.at, ext })
  }
}

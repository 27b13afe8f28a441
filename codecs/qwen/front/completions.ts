import { isAnswer, withFurther } from '../../../src/codec-kit/index.ts'
import { append, type EventOf, type Ext, type Id, quote, type TurnView, type Usage } from '../../../src/model/index.ts'
import { toolCallJson } from '../messages.ts'
import { writeUsage } from '../usage.ts'
import { ownMember, saidMembers } from '../wire.ts'
import type { Lines } from './lines.ts'
import type { AnswerWriter, Call, Ending } from './state.ts'

/**
 * An answer as `chat.completion` lines, one for each message or call. A message waits until it is known whether it is
 * the last, so that only the last one has a finish reason and the usage.
 */
export class CompletionsWriter implements AnswerWriter {
  readonly #lines: Lines
  #held: { message: Id; ext: Ext | undefined } | undefined
  #usage: Usage | undefined
  /** True once the usage of a single model call was written. */
  #counted = false

  constructor(lines: Lines) {
    this.#lines = lines
  }

  begin(at: number): void {
    const metadata = this.#lines.client.greeting()
    if (!metadata) return
    const choice = '{"index":0,"message":{"role":"assistant","content":"","tool_calls":null},"finish_reason":null}'
    this.#lines.completion(choice, { at, metadata })
  }

  before(view: TurnView): void {
    const held = this.#held
    if (!held) return
    this.#held = undefined
    this.#message(view.message(held.message)!.text, null, held.ext, this.#takeUsage(), view)
  }

  text(): void {}

  endMessage(event: EventOf<'message-end'>, view: TurnView): void {
    if (!isAnswer(view.message(event.message)) || view.message(event.message)!.text === '') return
    this.before(view)
    this.#held = { message: event.message, ext: event.ext }
  }

  retract(message: Id, view: TurnView): boolean {
    if (this.#held?.message !== message) return !view.message(message)?.closed
    this.#held = undefined
    return true
  }

  toolCall({ tool, name, args, ext }: Call, view: TurnView): void {
    this.before(view)
    const call = withFurther(toolCallJson(tool, name, args), ownMember(ext, 'call'))
    const message = `{"role":"assistant","content":null,"tool_calls":[${call}]}`
    const choice = `{"index":0,"message":${append(message, saidMembers(ext))},"finish_reason":"tool_calls"}`
    this.#lines.completion(choice, { at: view.at, usage: this.#takeUsage(), ext })
  }

  usage(usage: Usage): void {
    this.#usage = usage
  }

  finish(reason: string | undefined, { usage, ext }: Ending, view: TurnView): void {
    // Without a reason what waits is no last message: it is written like those before it.
    if (reason === undefined) return
    const held = this.#held
    this.#held = undefined
    const text = held ? view.message(held.message)!.text : ''
    // The reader sums the counts of calls: the total is in the event that follows.
    this.#message(text, reason, held?.ext ?? ext, this.#takeUsage() ?? (this.#counted ? undefined : usage), view)
  }

  #takeUsage(): string | undefined {
    const usage = this.#usage
    this.#usage = undefined
    if (!usage) return undefined
    this.#counted = true
    return writeUsage(usage)
  }

  #message(text: string, reason: string | null, ext: Ext | undefined, usage: string | undefined, view: TurnView): void {
    const message = `{"role":"assistant","content":${quote(text)},"tool_calls":null}`
    const finish = reason === null ? 'null' : quote(reason)
    const choice = `{"index":0,"message":${append(message, saidMembers(ext))},"finish_reason":${finish}}`
    this.#lines.completion(choice, { at: view.at, usage, ext })
  }
}

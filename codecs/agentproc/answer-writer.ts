import { dropped, isAnswer, losesCode, TOOL_CALLS, unwritten, weakened } from '../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../src/contract/index.ts'
import type { EventOf, Ext, Id, Loss, MessageView, TurnEnd, TurnView } from '../../src/model/index.ts'
import { isFile } from './attachments.ts'
import { EXT_01 } from './ext.ts'

/** Rows of events that runners of no wire are shown. */
export const UNSHOWN = {
  ...unwritten('turn-started', 'turn-parked', 'step-start', 'step-end', 'reasoning-end', 'citation'),
  ...unwritten(...TOOL_CALLS, 'terminal-output', 'directive', 'plan', 'notice', 'foreign'),
}

/**
 * Writes one turn for a runner: what all wires do with its messages. Deltas are partials. A message that came whole is
 * held back for the reply's body; once partials were shown, a runner may pass the body over: it becomes a partial then.
 */
export abstract class AnswerWriter {
  protected readonly ports: FrontPorts
  protected readonly exchange: Id
  /** Whole messages that no partial has shown, in order. */
  protected whole: Id[] = []
  /** The message whose text was written last as a partial. */
  #last: Id | undefined

  constructor(ports: FrontPorts, exchange: Id) {
    this.ports = ports
    this.exchange = exchange
  }

  /** Writes a piece of the answer. */
  protected abstract partial(text: string, ext: Ext | undefined): void

  /** True once a partial was shown. */
  protected get began(): boolean {
    return this.#last !== undefined
  }

  /** True when a piece of this message would be written like the partial before it. */
  protected shows(message: Id): boolean {
    return message === this.#last && this.whole.length === 0
  }

  /** Partials are one text, which includes asides. */
  protected startMessage({ phase }: EventOf<'message-start'>): void {
    if (phase === 'commentary') this.report(weakened('message.phase'))
  }

  protected delta(event: EventOf<'text-delta'>, view: TurnView): void {
    if (!isAnswer(view.message(event.message))) this.report(dropped('text-delta'))
    else if (event.text !== '') {
      this.wholeAsPartials(view)
      this.#messagePartial(event.message, event.text, event.ext)
    }
  }

  /** Holds back a message that came whole. Returns the message if it is of the answer. */
  protected endMessage({ message: id }: EventOf<'message-end'>, view: TurnView): MessageView | undefined {
    const message = view.message(id)
    if (!isAnswer(message)) return undefined
    this.dropFiles(message)
    if (!message.streamed && message.text !== '') this.whole.push(message.id)
    return message
  }

  protected retract(event: EventOf<'message-retract'>, view: TurnView): void {
    if (event.keepText) return
    this.whole = this.whole.filter((id) => id !== event.message)
    const message = view.message(event.message)
    if (isAnswer(message) && message.streamed) this.report(weakened('message-retract'))
  }

  /** Shows the messages that were held back. */
  protected wholeAsPartials(view: TurnView): void {
    if (this.whole.length === 0) return
    for (const id of this.whole.splice(0)) this.#messagePartial(id, view.message(id)!.text, undefined)
  }

  /** Reports what an error line cannot say of a turn that did not complete, and returns what it says. */
  protected failure({ outcome, fault }: TurnEnd): string {
    // An agent's own exit code is the only member of an error that its runner gets.
    if (fault?.ext && fault.ext.protocol !== EXT_01) this.report(dropped('ext'))
    if (outcome === 'failed' && losesCode(fault)) this.report(weakened('fault.code'))
    return fault?.message || (outcome === 'cancelled' ? 'The turn was cancelled.' : 'The turn did not complete.')
  }

  /** Files travel from a client to its agent only: as attachments. */
  protected dropFiles({ parts = [] }: MessageView): void {
    for (const part of parts) if (isFile(part)) this.report(dropped(`part.${part.type}`))
  }

  protected report(loss: Loss): void {
    this.ports.report(loss, this.exchange)
  }

  /** Separate messages are an empty line apart. */
  #messagePartial(message: Id, text: string, ext: Ext | undefined): void {
    const gap = this.#last !== undefined && this.#last !== message ? '\n\n' : ''
    this.#last = message
    this.partial(gap + text, ext)
  }
}

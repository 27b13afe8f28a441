import {
  CANCELLED,
  type CallTurn,
  dropped,
  type Ending,
  failedWith,
  ToolCalls,
  TurnEmitter,
  weakened,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts, CallEnd, CallHead, Frame, WireText } from '../../../src/contract/index.ts'
import { type AskOption, type CommandOf, type Fault, fault, type Id, type TextRun } from '../../../src/model/index.ts'
import type { Options } from '../options.ts'
import { idHeaders, ownExt, type Raw } from '../wire.ts'
import { answerExt, capabilityExt, type EngineAnswer, type EngineDirective, isPlainList } from './answer.ts'
import { EngineCall } from './call.ts'
import { readExtension } from './extension.ts'
import { correlationOf, type Resume, requestBody, type Start } from './request.ts'
import { type StreamIds, StreamReader } from './stream.ts'

/** An approval that waits for its answer. */
interface OpenAsk extends Omit<Resume, 'reply'> {
  editable: boolean
  options: readonly AskOption[]
}

/**
 * One turn of an engine: an HTTP call, and one more for every approval of the engine that is answered. It ends with the
 * first call that fails, or with the one after which nothing is open.
 */
export class EngineTurn implements CallTurn {
  readonly #start: Start
  readonly #options: Options
  readonly #out: TurnEmitter
  readonly #asks = new Map<Id, OpenAsk>()
  readonly #replies: Resume[] = []
  readonly #ids: StreamIds
  /** The call whose answer is read; an earlier one may linger after its `response`. */
  #call: EngineCall | undefined
  /** The number of calls so far. */
  #calls = 0
  #said = false
  #ended = false

  constructor(start: Start, options: Options, ports: BackPorts) {
    this.#start = start
    this.#options = options
    this.#out = new TurnEmitter(ports, start.turn)
    this.#ids = { message: new Map(), tool: new ToolCalls(() => ports.newId()) }
    if (start.ext && ownExt(start.ext) === undefined) this.#out.report(dropped('ext', start.ext.protocol))
  }

  begin(): void {
    this.#send()
  }

  /** The answer to one of the engine's approvals; it waits for the call that is on the wire. */
  reply({ ask, reply }: CommandOf<'ask-reply'>): void {
    const open = ask === undefined ? undefined : this.#asks.get(ask)
    if (!open || reply.kind !== 'approval') return
    this.#asks.delete(ask!)
    const { approvalId, continuation } = open
    this.#replies.push({ approvalId, continuation, reply: this.#heeded(open, reply) })
    if (!this.#call) this.#send()
  }

  /** OpenHarness has no cancel: the turn ends at once, and a call that is still on the wire is ignored. */
  cancel(): void {
    const why = fault('cancelled', 'The turn was cancelled.')
    this.#end({ ...CANCELLED, fault: why }, undefined)
  }

  head(head: CallHead): void {
    this.#current(head.call)?.head(head)
  }

  /** A stream is over with its `response`, however long the engine keeps the connection. */
  frame(frame: Frame): void {
    const call = this.#current(typeof frame === 'string' ? undefined : frame.call)
    if (!call?.frame(frame)) return
    this.#begin(undefined)
    call.stream.read(frame.event, frame.data)
    if (call.stream.response !== undefined) this.#read(call, call.read())
  }

  texts(wire: WireText): TextRun | undefined {
    return this.#current(wire.call)?.stream.texts(wire)
  }

  callEnd(end: CallEnd): void {
    const call = this.#current(end.call)
    if (!call) return
    if (end.why === 'cancelled') this.cancel()
    else this.#read(call, call.readAtEnd(end))
  }

  #current(request: string | undefined): EngineCall | undefined {
    return request === undefined || request === this.#call?.request ? this.#call : undefined
  }

  /** An engine that did not show its arguments will not take others: consent to those is therefore a refusal. */
  #heeded({ editable, options }: OpenAsk, reply: Resume['reply']): Resume['reply'] {
    if (reply.edited === undefined || editable) return reply
    this.#out.report(weakened('ask-reply', 'edited'))
    const { edited: _edited, ...plain } = reply
    const refusal = options.find(({ kind }) => kind === 'deny')
    return { ...plain, option: refusal?.id ?? 'deny' }
  }

  /** Sends the request, or the next answer to an approval. */
  #send(): void {
    const { ports, turn } = this.#out
    const resume = this.#replies.shift()
    this.#calls += 1
    const requestId = `req_${turn}${this.#calls === 1 ? '' : `_${this.#calls}`}`
    this.#call = new EngineCall(requestId, new StreamReader(turn, ports, this.#ids))
    const correlation = correlationOf(this.#start)
    const ids = { request: requestId, ...(correlation !== undefined && { correlation }) }
    ports.open({
      call: requestId,
      kind: 'http',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: this.#options.streaming ? 'text/event-stream, application/json' : 'application/json',
        ...idHeaders(ids),
      },
      body: requestBody({
        start: this.#start,
        options: this.#options,
        requestId,
        ...(resume && { resume }),
        report: (loss) => this.#out.report(loss),
      }),
      answer: 'body',
    })
  }

  /** The gateway may answer an ask, or cancel, while it gets the ask: the next step is decided when all is shown. */
  #read({ stream }: EngineCall, answer: EngineAnswer | Fault): void {
    if ('code' in answer) {
      this.#fail(answer, undefined)
      return
    }
    const asks = answer.directives.some(({ kind }) => kind === 'approval')
    this.#begin(asks ? answer.json : undefined)
    for (const directive of answer.directives) if (!this.#ended) this.#show(directive, stream)
    if (this.#ended) return
    readExtension(answer.turn, this.#start, stream, this.#out.ports)
    this.#call = undefined
    this.#said ||= stream.text
    if (answer.fault) this.#fail(answer.fault, answer)
    else if (this.#replies.length > 0) this.#send()
    else if (this.#asks.size === 0) this.#complete(answer)
  }

  /** `turn-started`, once; with what an answer that asks something says of capabilities. */
  #begin(json: Raw | undefined): void {
    this.#out.started(json === undefined ? undefined : capabilityExt(json))
  }

  #show(directive: EngineDirective, stream: StreamReader): void {
    if (directive.kind === 'message') {
      if (stream.text) return
      this.#said = true
      this.#out.openMessage()
      this.#out.closeMessage(directive.parts)
    } else if (directive.kind === 'other') {
      if (stream.directives) return
      this.#out.emit({ type: 'directive', action: directive.action, json: directive.json })
    } else {
      const { approvalId, continuation, question } = directive
      const ask = this.#asks.has(approvalId) ? this.#out.ports.newId() : approvalId
      const { options, editable = false } = question
      this.#asks.set(ask, { approvalId, continuation, editable, options })
      this.#out.emit({ type: 'ask', ask, question })
    }
  }

  #complete(answer: EngineAnswer): void {
    if (!this.#said) this.#out.notice('info', 'empty-answer', 'The engine answered without text.')
    this.#end({ outcome: 'completed', stop: answer.turn.stop ?? 'end' }, answer)
  }

  #fail(found: Fault, answer: EngineAnswer | undefined): void {
    this.#end({ ...(found.code === 'cancelled' ? CANCELLED : failedWith(found)), fault: found }, answer)
  }

  /** The directives' own order and form are kept for the same protocol, as long as they are those of the whole turn. */
  #end(end: Ending, answer: EngineAnswer | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#call = undefined
    this.#asks.clear()
    const odd = answer !== undefined && !isPlainList(answer)
    if (odd && this.#calls > 1) this.#out.report(weakened('directive', 'action_directives', 'too-narrow'))
    const ext = answer && answerExt(answer, odd && this.#calls === 1)
    this.#out.emit({ type: 'turn-end', ...end }, ext)
  }
}

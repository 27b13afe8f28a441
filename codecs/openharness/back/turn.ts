import * as v from 'valibot'
import { dropped, weakened } from '../../../src/codec-kit/index.ts'
import { type BackPorts, type CallEnd, type CallHead, type Frame, faultOfEnd } from '../../../src/contract/index.ts'
import {
  type AskOption,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Stop,
} from '../../../src/model/index.ts'
import type { Options } from '../options.ts'
import { streamEvents, type TurnExtension, upstreamLoss } from '../schema.ts'
import { usageOf } from '../usage.ts'
import { idHeaders, ownExt } from '../wire.ts'
import {
  answerExt,
  capabilityExt,
  type EngineAnswer,
  type EngineDirective,
  isPlainList,
  readAnswer,
  violation,
} from './answer.ts'
import { correlationOf, type Resume, requestBody, type Start } from './request.ts'
import { type StreamIds, StreamReader } from './stream.ts'
import { ToolIds } from './tools.ts'

/** An approval that waits for its answer. */
interface OpenAsk extends Omit<Resume, 'reply'> {
  showsArgs: boolean
  options: readonly AskOption[]
}

/**
 * One turn of an engine: an HTTP call, and one more for every approval of the engine that is answered. It ends with the
 * first call that fails, or with the one after which nothing is open any more.
 */
export class EngineTurn {
  readonly turn: Id
  readonly #start: Start
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #asks = new Map<Id, OpenAsk>()
  readonly #replies: Resume[] = []
  readonly #ids: StreamIds = { message: new Map(), tool: new ToolIds() }
  #stream: StreamReader
  #status = 200
  #body = ''
  #calls = 0
  /** Names the call that is on the wire. */
  #request = ''
  #calling = false
  #started = false
  #said = false
  #ended = false

  constructor(start: Start, options: Options, ports: BackPorts) {
    this.turn = start.turn
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#stream = new StreamReader(this.turn, ports, this.#ids)
    if (start.ext && ownExt(start.ext) === undefined) {
      const loss = dropped('ext', start.ext.protocol)
      ports.report(loss, this.turn)
    }
  }

  /** Sends the request. */
  begin(): void {
    this.#call()
  }

  /** The answer to one of the engine's approvals; it waits for the call that is on the wire. */
  reply({ ask, reply }: CommandOf<'ask-reply'>): void {
    const open = ask === undefined ? undefined : this.#asks.get(ask)
    if (!open || reply.kind !== 'approval') return
    this.#asks.delete(ask!)
    const { approvalId, continuation } = open
    this.#replies.push({ approvalId, continuation, reply: this.#heeded(open, reply) })
    if (!this.#calling) this.#call()
  }

  /** OpenHarness has no cancel: the turn ends at once, and a call that is still on the wire is nobody's any more. */
  cancel(): void {
    const why = fault('cancelled', 'The turn was cancelled.')
    this.#end({ outcome: 'cancelled', stop: 'aborted', fault: why }, undefined)
  }

  head({ call, status }: CallHead): void {
    if (this.#isCurrent(call)) this.#status = status
  }

  /** A stream is over with its `response`, however long the engine keeps the connection. */
  frame(frame: Frame): void {
    if (!this.#isCurrent(typeof frame === 'string' ? undefined : frame.call)) return
    if (typeof frame === 'string' || frame.event === undefined) {
      this.#body += typeof frame === 'string' ? frame : frame.data
      return
    }
    this.#begin(undefined)
    this.#stream.read(frame.event, frame.data)
    if (this.#stream.response !== undefined) this.#read(this.#stream.response)
  }

  /**
   * A call ended: only now is an answer without a `response` event whole, or known to be cut short. An engine that holds
   * its connection open after a whole envelope has answered, too.
   */
  callEnd(end: CallEnd): void {
    if (!this.#isCurrent(end.call)) return
    const { used } = this.#stream
    const inHand = end.why === 'timeout' && !used && !('broken' in readAnswer(this.#body, this.#status))
    if (end.why === 'cancelled') this.cancel()
    else if (end.why !== 'closed' && !inHand) this.#fail(faultOfEnd(end), undefined)
    else if (used) this.#fail(violation('is a stream that was cut short', this.#status), undefined)
    else this.#read(this.#body)
  }

  /** True when this is the call whose answer is read; an earlier one may linger after its `response`. */
  #isCurrent(call = this.#request): boolean {
    return this.#calling && call === this.#request
  }

  /** An engine that did not show its arguments will not take others: consent to those is therefore a refusal. */
  #heeded({ showsArgs, options }: OpenAsk, reply: Resume['reply']): Resume['reply'] {
    if (reply.edited === undefined || showsArgs) return reply
    this.#ports.report(weakened('ask-reply', 'edited'), this.turn)
    const { edited: _edited, ...plain } = reply
    const refusal = options.find(({ kind }) => kind === 'deny')
    return { ...plain, option: refusal?.id ?? 'deny' }
  }

  #call(): void {
    const resume = this.#replies.shift()
    this.#calls += 1
    this.#calling = true
    this.#status = 200
    this.#body = ''
    this.#stream = new StreamReader(this.turn, this.#ports, this.#ids)
    const requestId = `req_${this.turn}${this.#calls === 1 ? '' : `_${this.#calls}`}`
    this.#request = requestId
    const correlation = correlationOf(this.#start)
    const ids = { request: requestId, ...(correlation !== undefined && { correlation }) }
    this.#ports.open({
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
        report: (loss) => this.#ports.report(loss, this.turn),
      }),
      answer: 'body',
    })
  }

  /** The gateway may answer an ask, or cancel, while it gets the ask: the next step is decided when all is shown. */
  #read(json: string): void {
    const answer = readAnswer(json, this.#status)
    if ('broken' in answer) {
      this.#fail(answer.broken, undefined)
      return
    }
    const asks = answer.directives.some(({ kind }) => kind === 'approval')
    this.#begin(asks ? json : undefined)
    for (const directive of answer.directives) if (!this.#ended) this.#show(directive)
    if (this.#ended) return
    this.#readExtension(answer.turn)
    this.#calling = false
    if (answer.fault) this.#fail(answer.fault, answer)
    else if (this.#replies.length > 0) this.#call()
    else if (this.#asks.size === 0) this.#complete(answer)
  }

  /** `turn-started`, once; with what an answer that asks something says of capabilities. */
  #begin(json: JsonText | undefined): void {
    if (this.#started) return
    this.#started = true
    const ext = json === undefined ? undefined : capabilityExt(json)
    this.#ports.emit({ type: 'turn-started', turn: this.turn, ...(ext && { ext }) })
  }

  #show(directive: EngineDirective): void {
    const { turn } = this
    if (directive.kind === 'message') {
      if (this.#stream.text) return
      const message = this.#ports.newId()
      this.#said = true
      this.#ports.emit({ type: 'message-start', turn, message, role: 'assistant' })
      this.#ports.emit({ type: 'message-end', turn, message, parts: directive.parts })
    } else if (directive.kind === 'other') {
      if (this.#stream.directives) return
      this.#ports.emit({ type: 'directive', turn, action: directive.action, json: directive.json })
    } else {
      const { approvalId, continuation, question, showsArgs } = directive
      const ask = this.#asks.has(approvalId) ? this.#ports.newId() : approvalId
      this.#asks.set(ask, { approvalId, continuation, showsArgs, options: question.options })
      this.#ports.emit({ type: 'ask', turn, ask, question })
    }
  }

  /** Reads the extension of another gateway: usage, notices, losses, its own session. */
  #readExtension({ usage, notices = [], loss = [], session }: TurnExtension): void {
    for (const given of loss) if (v.is(upstreamLoss, given)) this.#ports.report(given, this.turn)
    const { session: sent } = this.#start
    if (session !== undefined && session !== (sent?.bound ?? sent?.id)) {
      this.#ports.emit({ type: 'session-bound', turn: null, agentSession: session })
    }
    if (!this.#stream.used) {
      for (const given of notices) {
        const notice = v.safeParse(streamEvents.notice, given)
        if (!notice.success) continue
        const { severity, code, text } = notice.output
        this.#ports.emit({ type: 'notice', turn: this.turn, severity, code, text })
      }
    }
    const counted = this.#stream.usage ? undefined : usageOf(usage, (loss) => this.#ports.report(loss, this.turn))
    if (counted) this.#ports.emit({ type: 'usage', turn: this.turn, scope: 'turn', ...counted })
  }

  #complete(answer: EngineAnswer): void {
    const { turn } = this
    if (!this.#said && !this.#stream.text) {
      const text = 'The engine answered without text.'
      this.#ports.emit({ type: 'notice', turn, severity: 'info', code: 'empty-answer', text })
    }
    this.#end({ outcome: 'completed', stop: answer.turn.stop ?? 'end' }, answer)
  }

  #fail(found: Fault, answer: EngineAnswer | undefined): void {
    const cancelled = found.code === 'cancelled'
    this.#end(
      { outcome: cancelled ? 'cancelled' : 'failed', stop: cancelled ? 'aborted' : 'error', fault: found },
      answer,
    )
  }

  /** The directives' own order and form are kept for the same protocol, as long as they are those of the whole turn. */
  #end(
    end: { outcome: 'completed' | 'failed' | 'cancelled'; stop: Stop; fault?: Fault },
    answer: EngineAnswer | undefined,
  ): void {
    if (this.#ended) return
    this.#ended = true
    this.#calling = false
    this.#asks.clear()
    const odd = answer !== undefined && !isPlainList(answer)
    if (odd && this.#calls > 1) {
      const loss = weakened('directive', undefined, 'too-narrow')
      this.#ports.report({ ...loss, field: 'action_directives' }, this.turn)
    }
    const ext = answer && answerExt(answer, odd && this.#calls === 1)
    this.#ports.emit({ type: 'turn-end', turn: this.turn, ...end, ...(ext && { ext }) })
  }
}

import { dropped, isJsonType } from '../../../src/codec-kit/index.ts'
import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Denial,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  type TextRun,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { invalidRequest } from '../errors.ts'
import { idHeaders, ownExt, PROTOCOL, STREAMING } from '../wire.ts'
import { capabilityMembers } from './capabilities.ts'
import { approvalDirective, shownDirectives } from './directives.ts'
import { type AnswerParts, envelope, reportUnshown, turnJson } from './envelope.ts'
import { headerIds, type Ids, readRequest, type ShellRequest } from './request.ts'
import { StreamWriter } from './stream.ts'

/** The side of a shell: one envelope in, one out, or the streaming profile in between. */
export class OpenHarnessFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** True once a request came or an answer was written: the end of the input then needs no answer. */
  #taken = false
  #ids: Ids
  #asked: readonly string[] = []
  /** Writes the streaming profile, where the shell asked for it. */
  #stream: StreamWriter | undefined
  #denied: readonly Denial[] = []
  /** The answer is that of an earlier request under the same id. */
  #replayed = false
  /** The last members of the engine that the model has no place for. */
  #own: JsonText | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#ids = headerIds(context)
  }

  decode(frame: Frame): void {
    if (this.#taken) return
    this.#taken = true
    if (!isJsonType(this.#context.headers['content-type'])) {
      const text = 'The body must be JSON; send it as Content-Type: application/json.'
      this.#ports.fault(invalidRequest(text), 'ends', undefined, 415)
      return
    }
    const read = readRequest(frameText(frame), this.#context)
    this.#ids = read.ids
    if ('fault' in read) this.#ports.fault(read.fault, 'ends')
    else this.#begin(read.request)
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    if (this.#taken) return
    const code = why === 'eof' ? 'invalid-request' : why === 'idle' ? 'timeout' : 'cancelled'
    this.#ports.fault(fault(code, 'No request came; send one OpenHarness envelope.'), 'ends')
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.ext) this.#takeExt(event.ext.protocol, ownExt(event.ext), exchange)
    if (event.type === 'turn-accepted') {
      this.#denied = event.denials ?? []
      this.#replayed = event.how === 'replayed'
    } else if (event.type === 'turn-end') this.#end(event, exchange, view)
    else if (event.type === 'turn-parked') this.#park(event, exchange, view)
    else this.#stream?.write(event, view)
  }

  encodeTexts(run: TextRun, _exchange: Id, view: TurnView): void {
    this.#stream?.texts(run, view)
  }

  encodeFault(found: Fault, exchange: Id | undefined): void {
    this.#taken = true
    const losses = exchange === undefined ? [] : this.#ports.losses(exchange)
    const turn = losses.length === 0 ? undefined : `{"loss":${JSON.stringify(losses)}}`
    this.#answer({ directives: [], fault: found, ...(turn && { turn }) })
  }

  keepAlive(): void {
    this.#stream?.keepAlive()
  }

  #begin(request: ShellRequest): void {
    const { asked, session, ext, reply, start } = request
    this.#asked = asked
    const exchange = this.#ports.newId()
    const common = { exchange, session, ...(ext && { ext }) }
    const accepts = this.#context.headers['accept'] ?? ''
    const streams = this.#http && asked.includes(STREAMING) && acceptsStream(accepts)
    if (streams) this.#stream = new StreamWriter(this.#ports, exchange)
    const answer: Answer = {
      form: streams ? 'stream' : 'whole',
      framing: streams ? 'sse' : 'body',
      headers: idHeaders(this.#ids),
      onDisconnect: 'cancel',
      // A program that takes one envelope may be the whole gateway, so nothing can wait for its next one.
      asks: this.#http ? 'next-request' : 'never',
    }
    if (reply) {
      const { continuation, ...said } = reply
      this.#ports.command({ ...common, type: 'ask-reply', target: { continuation }, ...said }, answer)
      if (start.environment) this.#ports.report(dropped('start.environment', undefined, 'policy'), exchange)
    } else {
      const { locale, ...rest } = start
      const options = { ...(streams && { streaming: true }), ...(locale !== undefined && { locale }) }
      const turn = this.#ports.newId()
      this.#ports.command({ ...common, type: 'turn-start', turn, task: 'prompt', ...rest, options }, answer)
    }
    const count = request.droppedAuth
    if (count > 0) this.#ports.report({ ...dropped('ext', 'auth', 'policy'), count }, exchange)
  }

  /** A turn's last word: the whole answer. Failures that come before anything was streamed are plain error bodies. */
  #end(event: TurnEnd, exchange: Id, view: TurnView): void {
    const failed = event.outcome !== 'completed'
    const found = failed ? (event.fault ?? missingFault(event.outcome)) : undefined
    if (found?.ext && found.ext.protocol !== PROTOCOL) this.#takeExt(found.ext.protocol, undefined, exchange)
    const directives = this.#directives(view, ownExt(event.ext), exchange)
    this.#answerTurn(view, exchange, { directives, ...(found && { fault: found }) }, event)
  }

  /** The turn waits for the shell's next request: what there is so far, then what is asked. */
  #park(event: TurnEvent & { type: 'turn-parked' }, exchange: Id, view: TurnView): void {
    const { turn, continuation, deadline } = event
    const asks = event.asks.flatMap(
      (ask) => approvalDirective(ask, { turn, continuation, leftMs: deadline - view.at }) ?? [],
    )
    this.#answerTurn(view, exchange, { directives: [...this.#directives(view, undefined, exchange), ...asks] })
  }

  /** The directives of the envelope. A stream has written them already, and has reported its losses. */
  #directives(view: TurnView, own: JsonText | undefined, exchange: Id): JsonText[] {
    if (this.#stream) return shownDirectives(view, own, () => {})
    const report = (loss: Loss): void => this.#ports.report(loss, exchange)
    reportUnshown(view, report)
    return shownDirectives(view, own, report)
  }

  #answerTurn(view: TurnView, exchange: Id, parts: Pick<AnswerParts, 'directives' | 'fault'>, end?: TurnEnd): void {
    const turn = turnJson(view, this.#ports.losses(exchange), end, this.#replayed)
    const latencyMs = Math.max(0, view.at - view.startedAt)
    this.#answer({ ...parts, turn, latencyMs, ...(this.#own !== undefined && { own: this.#own }) })
  }

  #answer(parts: Omit<AnswerParts, 'ids' | 'capabilities'>): void {
    const about = { asked: this.#asked, http: this.#http, denied: this.#denied, own: parts.own }
    const json = envelope({ ...parts, ids: this.#ids, capabilities: capabilityMembers(about) })
    const asBody = !this.#stream || (parts.fault !== undefined && !this.#stream.opened)
    this.#ports.send(asBody ? json : { event: 'response', data: json })
    if (parts.fault && this.#context.transport === 'stdio') this.#ports.close(1)
  }

  get #http(): boolean {
    return this.#context.transport === 'http'
  }

  #takeExt(protocol: string, own: JsonText | undefined, exchange: Id): void {
    if (own !== undefined) this.#own = own
    else this.#ports.report(dropped('ext', protocol), exchange)
  }
}

function missingFault(outcome: TurnEnd['outcome']): Fault {
  if (outcome === 'cancelled') return fault('cancelled', 'The turn was cancelled.')
  return fault('agent-crashed', 'The agent failed without saying why; see the gateway log.')
}

/** True when an `Accept` header names `text/event-stream` itself, with a weight above zero. */
function acceptsStream(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((piece) => piece.trim().toLowerCase())
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

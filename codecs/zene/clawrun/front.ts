import * as v from 'valibot'
import { dropped, isLineType, keysOf, wellFormed } from '../../../src/codec-kit/index.ts'
import {
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  isRecord,
  type Loss,
  object,
  parse,
  quote,
  rest,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { errors, safeMessage } from '../errors.ts'
import { emptyAnswer, failureOf } from '../front/ending.ts'
import { JSON_TYPE } from '../front/start.ts'
import { isBlank } from '../text.ts'
import { respondSchema } from './schema.ts'

const KNOWN = keysOf(respondSchema)

/** clawrun gives up after 30 seconds, the body included: the turn must end before. */
const TOTAL_MS = 28_000

/** A client of `POST /v1/respond`: one request and its answer, `{"text"}`, or `{"error"}` with a status of 4xx, 502 or 504. */
export class ClawrunFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(frame: Frame): void {
    const body = frameText(frame)
    const json = parse(body)
    const read = v.safeParse(respondSchema, json)
    if (!isLineType(this.#context.headers['content-type'])) this.#refuse('send content-type application/json', 415)
    else if (json === undefined) this.#refuse('the body is not valid JSON', 400)
    else if (!isRecord(json)) this.#refuse('the body must be a JSON object', 422)
    else if (!read.success) this.#refuse(read.issues[0].message, 422)
    else this.#start(read.output, body)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.type !== 'turn-end') return
    const failed = failureOf(view) ?? (isBlank(view.text) ? emptyAnswer : undefined)
    const report = (loss: Loss): void => this.#ports.report(loss, exchange)
    if (failed) this.#fail(failed, exchange, view)
    else this.#answer('text', wellFormed(view.text, report, 'text'))
  }

  encodeFault(failed: Fault): void {
    this.#answer('error', safeMessage(failed))
  }

  #fail(failed: Fault, exchange: Id, view: TurnView): void {
    if (view.text !== '') this.#ports.report(dropped('text-delta', 'text', 'policy'), exchange)
    this.#ports.fault(failed, 'ends', exchange, statusOf(failed))
  }

  #start(request: v.InferOutput<typeof respondSchema>, body: string): void {
    const { agent, prompt, session_id, channel_id, system_prompt: systemPrompt } = request
    const exchange = this.#ports.newId()
    this.#ports.command(
      {
        exchange,
        type: 'turn-start',
        turn: this.#ports.newId(),
        task: 'prompt',
        agent,
        input: [{ type: 'text', text: prompt }],
        options: { totalMs: TOTAL_MS, ...(systemPrompt && !isBlank(systemPrompt) && { systemPrompt }) },
        session: { id: session_id, channel: channel_id },
      },
      { form: 'whole', framing: 'body', headers: JSON_TYPE, onDisconnect: 'cancel', asks: 'never' },
    )
    if (rest(body, KNOWN) !== undefined) this.#ports.report(dropped('ext'), exchange)
  }

  #refuse(message: string, http: number): void {
    this.#ports.fault(fault('invalid-request', message), 'ends', undefined, http)
  }

  #answer(member: 'text' | 'error', text: string): void {
    this.#ports.send(object({ [member]: quote(text) }))
    this.#ports.close(0)
  }
}

/** The status of a turn that has no answer. What the client did keeps its 4xx; all else is 502, or 504 for time. */
function statusOf({ code }: Fault): number {
  const { http } = errors[code]
  return http < 500 || http === 504 ? http : 502
}

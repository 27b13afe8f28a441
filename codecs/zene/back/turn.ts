import * as v from 'valibot'
import {
  CANCELLED,
  dropped,
  type Ending,
  failedWith,
  type KnownMembers,
  PlainDeltas,
  reportFurther,
  TurnEmitter,
  unparsed,
  valuesOf,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../../src/contract/index.ts'
import { fault, type Id, isRecord, type Loss, messagePattern, type TextRun } from '../../../src/model/index.ts'
import { ackSchema, eventSchema } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { type AgentAnswer, readAnswer, readError } from './answer.ts'

/** A piece of text as it is nearly always written; the members stand as in the text's own example. */
const PLAIN_DELTA = messagePattern(
  '{"protocol_version":#,"type":"event","request_id":*,"session_id":*,"ts_ms":#,"event_type":"TEXT_DELTA","seq":#,"payload":{"delta":*}}',
)
/** The members of it that each one has with another value. */
const CHANGING = valuesOf('ts_ms', 'seq')

/** The members of a line that have a place, or only say which line it is. */
const HEAD = { protocol_version: true, type: true, request_id: true, session_id: true, ts_ms: true } as const
const ACCEPTED: KnownMembers = { ...HEAD, status: true, request_ts_ms: true }
const EVENT = { ...HEAD, event_type: true, seq: true } as const
const STARTED: KnownMembers = { ...EVENT, payload: {} }
const DELTA: KnownMembers = { ...EVENT, payload: { delta: true } }
const FINISHED: KnownMembers = { ...EVENT, payload: { status: true } }

/** One run of the agent: its lines as the events of its turn. */
export class ZeneTurn {
  /** The ids that its lines have. */
  readonly request: string
  readonly session: string
  cancelled = false
  ended = false
  /** Its pieces of text. */
  readonly deltas = new PlainDeltas(PLAIN_DELTA, CHANGING)
  readonly #out: TurnEmitter

  constructor(ports: BackPorts, turn: Id, request: string, session: string) {
    this.#out = new TurnEmitter(ports, turn)
    this.request = request
    this.session = session
  }

  /** A line of the run, with its parsed value. */
  read(line: string, json: Record<string, unknown>): void {
    const report = (loss: Loss): void => this.#out.report(loss)
    const { type } = json
    if (type === 'event') this.#event(line, json)
    else if (type === 'ack') this.#ack(line, json)
    else if (type === 'error') this.#answered(readError(line, json, report))
    else if (type === 'final' || 'ok' in json) this.#answered(readAnswer(line, json, report))
    else this.#foreign(line)
  }

  /** A piece of the answer. */
  text(text: string): void {
    this.#out.started()
    this.#out.text(text)
  }

  /** Pieces of the answer that stand in a row on the wire. */
  texts(wire: WireText): TextRun | undefined {
    const texts = this.deltas.textsIn(wire)
    if (texts.length === 0) return undefined
    this.#out.started()
    return this.#out.run(texts)
  }

  unparsed(): void {
    this.#out.report(unparsed('foreign'))
  }

  /** Ends the turn. */
  end(ending: Ending): void {
    this.ended = true
    this.#out.emit({ type: 'turn-end', ...ending })
  }

  #ack(line: string, json: Record<string, unknown>): void {
    const { success, output } = v.safeParse(ackSchema, json)
    if (!success) this.unparsed()
    else if (output.status === 'ACCEPTED') this.#begun(json, ACCEPTED)
    else if (output.status !== 'DUPLICATE_IN_PROGRESS') this.#foreign(line)
    else this.end(failedWith(fault('session-busy', 'The agent is still at this run; try again later.')))
  }

  #event(line: string, json: Record<string, unknown>): void {
    const payload = json['payload']
    if (json['event_type'] === 'TEXT_DELTA' && isRecord(payload) && typeof payload['delta'] === 'string') {
      this.#further(json, DELTA)
      this.text(payload['delta'])
      return
    }
    const { success, output } = v.safeParse(eventSchema, json)
    if (!success) this.unparsed()
    else if (output.event_type === 'REQUEST_ACCEPTED' || output.event_type === 'RUN_STARTED') this.#begun(json, STARTED)
    else if (output.event_type === 'RUN_FINISHED') this.#further(json, FINISHED)
    else this.#foreign(line)
  }

  #begun(json: Record<string, unknown>, known: KnownMembers): void {
    this.#further(json, known)
    this.#out.started()
  }

  /** Members of a line without a place: the lines that clients get are the gateway's own. */
  #further(json: Record<string, unknown>, known: KnownMembers): void {
    reportFurther(json, known, (loss) => this.#out.report(loss))
  }

  #answered({ fault: why, text, usage, estimated, ext }: AgentAnswer): void {
    const out = this.#out
    if (!why) {
      out.started()
      if (out.message === undefined) out.openMessage()
      out.closeMessage([{ type: 'text', text }])
    } else if (text !== '') out.report(dropped('message-end', 'text', 'policy'))
    // Nothing may be shown of a run that is tried again.
    if (usage && !why?.retry) {
      out.started()
      out.emit({ type: 'usage', scope: 'turn', usage, ...(estimated && { estimated }) })
    }
    // A run that was asked to end, or reports that, is cancelled whatever its end looks like.
    const ending = this.cancelled || why?.code === 'cancelled' ? CANCELLED : why ? failedWith(why) : COMPLETED
    this.end({ ...ending, ...(ext && { ext }) })
  }

  #foreign(frame: string): void {
    this.#out.started()
    this.#out.emit({ type: 'foreign', protocol: PROTOCOL, frame })
  }
}

const COMPLETED: Ending = { outcome: 'completed', stop: 'end' }

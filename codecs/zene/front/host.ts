import { isLineType } from '../../../src/codec-kit/index.ts'
import {
  type Frame,
  type Framing,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { safeMessage } from '../errors.ts'
import { Admission } from './admission.ts'
import { type Mode, wholeNumber } from './args.ts'
import { ackLine, errorLine } from './lines.ts'
import { type Ids, NO_IDS, type Request, readRequest } from './request.ts'
import { type Form, Runs } from './runs.ts'
import { answerOf } from './start.ts'

/** A command for the gateway itself whose answer is due. `target` is the run that a cancel names. */
interface Asked {
  ids: Ids
  target?: string
}

/** A command line that asks for `host`, or for something unsupported. */
export type HostMode = Exclude<Mode, { kind: 'self-test' }>

const DEFAULT_STDIN_MS = 15_000

/** Exit codes (section "Exit Code Semantics"): every answer to a request that could be read is 0. */
const EXIT = { answered: 0, input: 2, configuration: 3 } as const
type Exit = (typeof EXIT)[keyof typeof EXIT]

/** Faults of the wire itself that are the client's doing. */
const INPUT_FAULTS: ReadonlySet<Fault['code']> = new Set(['invalid-request', 'payload-too-large'])

const NOT_RUNNING = fault('invalid-request', 'target_request_id is not running')

/** `zene host`: one request, or in stream mode as many as come. */
export class HostFront implements FrontLink {
  readonly idleMs?: number
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  readonly #mode: HostMode
  readonly #form: Form
  readonly #runs: Runs
  readonly #asked = new Map<Id, Asked>()
  /** Something was read, or the wire failed. */
  #taken = false
  /** At least one request could be read. */
  #readable = false
  #inputEnded = false
  /** The request that a fault found by this link itself answers. */
  #refusing: { ids: Ids; exit: Exit } | undefined
  #at = 0

  constructor(context: FrontContext, ports: FrontPorts, mode: HostMode) {
    this.#context = context
    this.#ports = ports
    this.#mode = mode
    const http = context.transport === 'http'
    const single = mode.kind === 'refused' || !mode.stream
    const lines = http ? acceptsLines(context.headers['accept']) : !single
    this.#form = { http, single, lines, shape: http && lines ? 'protocol' : mode.shape }
    this.#runs = new Runs(ports, this.#form, new Admission(context.env, single))
    if (mode.kind === 'host' && !http) {
      this.idleMs = mode.stdinMs ?? wholeNumber(context.env['ZENE_STDIN_TIMEOUT_MS']) ?? DEFAULT_STDIN_MS
    }
  }

  /** A client that asks for no lines gets one body, whatever it says. */
  get framing(): Framing | undefined {
    return this.#form.http && !this.#form.lines ? 'body' : undefined
  }

  open(): void {
    if (this.#mode.kind === 'refused') this.#refuse(NO_IDS, fault('invalid-request', this.#mode.message), EXIT.input)
    else if (this.#form.http && !isLineType(this.#context.headers['content-type'])) {
      this.#refuse(NO_IDS, fault('invalid-request', 'expected content-type application/json'), EXIT.input, 415)
    }
  }

  decode(frame: Frame): void {
    if (this.#form.single && this.#taken) return
    this.#taken = true
    const reading = readRequest(frameText(frame))
    if (reading.fault) {
      this.#readable ||= !reading.unreadable
      this.#refuse(reading.ids, reading.fault, reading.unreadable ? EXIT.input : EXIT.answered)
    } else {
      this.#readable = true
      this.#serve(reading.ids, reading.request)
    }
  }

  /** Readers of lines skip empty ones. */
  keepAlive(): void {
    if (this.#form.http && this.#form.lines) this.#ports.send('')
  }

  #serve(ids: Ids, request: Request): void {
    switch (request.type) {
      case 'run': {
        const refused = this.#runs.start(ids, request)
        if (refused) this.#refuse(ids, refused, EXIT.answered)
        break
      }
      case 'ping':
        this.#ports.send(ackLine(ids, this.#now(), 'PONG'))
        this.#settle(EXIT.answered)
        break
      case 'cancel':
        if (this.#form.single) this.#cancelElsewhere(ids, request.target)
        else this.#cancel(ids, request.target)
        break
      case 'session_close': {
        if (request.session.trim() === '') {
          this.#ports.send(ackLine(ids, this.#now(), 'SESSION_CLOSED'))
          this.#settle(EXIT.answered)
          return
        }
        const exchange = this.#ports.newId()
        this.#ask({ ids }, { exchange, type: 'session-close', session: { id: request.session } })
      }
    }
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    if (why === 'signal') return
    this.#inputEnded = true
    if (this.#taken) {
      if (!this.#form.single) this.#settle(EXIT.answered)
      return
    }
    const idle = `no request line came on stdin within ${this.idleMs} ms`
    const message = why === 'idle' ? idle : 'stdin ended before a request came'
    this.#refuse(NO_IDS, fault('invalid-request', message), EXIT.input)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#at = view.at
    if (this.#runs.encode(event, exchange, view)) this.#settle(EXIT.answered)
  }

  encodeTexts(run: TextRun, exchange: Id, view: TurnView): void {
    this.#at = view.at
    this.#runs.texts(run, exchange, view)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    const asked = this.#answered(event.exchange)
    if (!asked) return
    const { ids, target } = asked
    const at = this.#now()
    if (event.fault)
      this.#ports.send(errorLine(this.#form.shape, ids, target === undefined ? event.fault : NOT_RUNNING, at))
    else this.#ports.send(target === undefined ? ackLine(ids, at, 'SESSION_CLOSED') : cancelLine(ids, at, target))
    this.#settle(EXIT.answered)
  }

  encodeFault(failed: Fault, exchange: Id | undefined): void {
    this.#taken = true
    if (this.#runs.answerFault(failed, exchange)) {
      this.#settle(EXIT.answered)
      return
    }
    const ids =
      exchange === undefined ? this.#refusing?.ids : (this.#runs.drop(exchange) ?? this.#answered(exchange)?.ids)
    this.#ports.send(errorLine(this.#form.shape, ids ?? NO_IDS, failed, this.#now()))
    const unasked = INPUT_FAULTS.has(failed.code) ? EXIT.input : EXIT.configuration
    const exit = exchange === undefined ? (this.#refusing?.exit ?? unasked) : EXIT.answered
    if (exit !== EXIT.answered) this.#ports.warn(safeMessage(failed))
    this.#settle(exit)
  }

  /** Stream mode knows its own runs: the acknowledgement goes out before the run can end. */
  #cancel(ids: Ids, target: string): void {
    const turn = this.#runs.turnOf(target)
    if (turn === undefined) this.#refuse(ids, NOT_RUNNING, EXIT.answered)
    else {
      this.#ports.send(cancelLine(ids, this.#now(), target))
      this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-cancel', target: { turn } })
    }
  }

  /** A single request cannot have a run of its own to cancel: the gateway may know it. */
  #cancelElsewhere(ids: Ids, target: string): void {
    const session = ids.session === undefined ? {} : { session: { id: ids.session } }
    const exchange = this.#ports.newId()
    this.#ask({ ids, target }, { exchange, ...session, type: 'turn-cancel', target: { request: target } })
  }

  /** The command of this exchange, which has its answer now. */
  #answered(exchange: Id): Asked | undefined {
    const asked = this.#asked.get(exchange)
    this.#asked.delete(exchange)
    return asked
  }

  #ask(asked: Asked, command: Command): void {
    this.#asked.set(command.exchange, asked)
    this.#ports.command(command, answerOf(this.#form.http, false, false))
  }

  /** The ids are not known to the engine: they wait here until it hands the fault back. */
  #refuse(ids: Ids, failed: Fault, exit: Exit, http?: number): void {
    this.#refusing = { ids, exit }
    this.#ports.fault(failed, this.#form.single ? 'ends' : 'continues', undefined, http)
    this.#refusing = undefined
  }

  /** Something was answered: closes the wire when that was all. */
  #settle(exit: Exit): void {
    if (this.#form.single || exit === EXIT.configuration) this.#ports.close(exit)
    else if (this.#inputEnded && this.#runs.idle && this.#asked.size === 0) {
      this.#ports.close(this.#readable ? EXIT.answered : EXIT.input)
    }
  }

  #now(): number {
    return this.#ports.now?.() ?? this.#at
  }
}

/** True when the client asks for an answer of lines. */
function acceptsLines(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*application\/x-ndjson\s*(;|,|$)/i.test(accept)
}

function cancelLine(ids: Ids, at: number, target: string): string {
  return ackLine(ids, at, 'CANCEL_ACCEPTED', { target_request_id: quote(target) })
}

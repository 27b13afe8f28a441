import { isLineType } from '../../../src/codec-kit/index.ts'
import {
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { safeMessage } from '../errors.ts'
import { acceptsLines } from '../http.ts'
import { Admission, type Admitted } from './admission.ts'
import { type Mode, type Shape, wholeNumber } from './args.ts'
import { type Ended, endingOf, faultOf, lostExt } from './ending.ts'
import { ackLine, errorLine, finalLine } from './lines.ts'
import { type Ids, NO_IDS, type Request, type RunRequest, readRequest } from './request.ts'
import { RunStream } from './run.ts'
import { answerOf, startCommand } from './start.ts'

/** A run in flight; `stream` writes its lines and is undefined when only its answer is written. */
interface Run extends Ended, Admitted {
  ids: Ids
  exchange: Id
  turn: Id
  stream: RunStream | undefined
}

/** A command for the gateway itself whose answer is due. `target` is the run that a cancel names. */
interface Asked {
  ids: Ids
  target?: string
}

/** A command line that asks for `host`, or for nothing that can be done. */
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
  readonly #http: boolean
  /** One request and its answer are all. */
  readonly #single: boolean
  readonly #admission: Admission
  readonly #runs = new Map<Id, Run>()
  readonly #asked = new Map<Id, Asked>()
  #shape: Shape
  /** Answers are lines: stream mode, or what an HTTP client asks for. */
  #lines: boolean
  /** Something was read, or the wire failed. */
  #taken = false
  /** At least one request could be read. */
  #readable = false
  #inputEnded = false
  #refusing: { ids: Ids; exit: Exit } | undefined
  #ending: { run: Run; view: TurnView } | undefined
  #at = 0

  constructor(context: FrontContext, ports: FrontPorts, mode: HostMode) {
    this.#context = context
    this.#ports = ports
    this.#mode = mode
    this.#http = context.transport === 'http'
    this.#single = mode.kind === 'refused' || !mode.stream
    this.#lines = this.#http ? acceptsLines(context.headers['accept']) : !this.#single
    this.#shape = this.#http && this.#lines ? 'protocol' : mode.shape
    this.#admission = new Admission(context.env, this.#single)
    if (mode.kind === 'host' && !this.#http) {
      this.idleMs = mode.stdinMs ?? wholeNumber(context.env['ZENE_STDIN_TIMEOUT_MS']) ?? DEFAULT_STDIN_MS
    }
  }

  open(): void {
    if (this.#mode.kind === 'refused') this.#refuse(NO_IDS, fault('invalid-request', this.#mode.message), EXIT.input)
    else if (this.#http && !isLineType(this.#context.headers['content-type'])) {
      this.#refuse(NO_IDS, fault('invalid-request', 'expected content-type application/json'), EXIT.input, 415)
    }
  }

  decode(frame: Frame): void {
    if (this.#single && this.#taken) return
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
    if (this.#http && this.#lines) this.#ports.send('')
  }

  #serve(ids: Ids, request: Request): void {
    switch (request.type) {
      case 'run':
        this.#run(ids, request)
        break
      case 'ping':
        this.#ports.send(ackLine(ids, this.#now(), 'PONG'))
        this.#settle(EXIT.answered)
        break
      case 'cancel':
        if (this.#single) this.#cancelElsewhere(ids, request.target)
        else this.#cancel(ids, request.target)
        break
      case 'session_close': {
        if (request.session.trim() === '') {
          this.#ports.send(ackLine(ids, this.#now(), 'SESSION_CLOSED'))
          this.#settle(EXIT.answered)
          return
        }
        const exchange = this.#ask({ ids })
        const session = { id: request.session }
        this.#ports.command({ exchange, type: 'session-close', session }, answerOf(this.#http, false, false))
      }
    }
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    if (why === 'signal') return
    this.#inputEnded = true
    if (this.#taken) {
      if (!this.#single) this.#settle(EXIT.answered)
      return
    }
    const idle = `no request line came on stdin within ${this.idleMs} ms`
    const message = why === 'idle' ? idle : 'stdin ended before a request came'
    this.#refuse(NO_IDS, fault('invalid-request', message), EXIT.input)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#at = view.at
    const run = this.#runs.get(exchange)
    if (!run) return
    if (event.type === 'turn-accepted') this.#accepted(run, event, view)
    else if (event.type === 'turn-end') this.#ended(run, view)
    else if (run.stream) run.stream.show(event, view)
    else if (event.ext) this.#ports.report(lostExt, exchange)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    const asked = this.#asked.get(event.exchange)
    if (!asked) return
    this.#asked.delete(event.exchange)
    const { ids, target } = asked
    const at = this.#now()
    if (event.fault) this.#ports.send(errorLine(this.#shape, ids, target === undefined ? event.fault : NOT_RUNNING, at))
    else this.#ports.send(target === undefined ? ackLine(ids, at, 'SESSION_CLOSED') : cancelLine(ids, at, target))
    this.#settle(EXIT.answered)
  }

  encodeFault(failed: Fault, exchange: Id | undefined): void {
    this.#taken = true
    if (this.#ending && this.#ending.run.exchange === exchange) {
      this.#answer(this.#ending.run, this.#ending.view, failed)
      return
    }
    const open = exchange === undefined ? this.#refusing : (this.#runs.get(exchange) ?? this.#asked.get(exchange))
    this.#ports.send(errorLine(this.#shape, open?.ids ?? NO_IDS, failed, this.#now()))
    const exit = exchange === undefined ? (this.#refusing?.exit ?? exitOf(failed)) : EXIT.answered
    if (exit !== EXIT.answered) this.#ports.warn(safeMessage(failed))
    if (exchange !== undefined) {
      this.#runs.delete(exchange)
      this.#asked.delete(exchange)
    }
    this.#settle(exit)
  }

  #run(ids: Ids, request: RunRequest): void {
    const { key } = request
    const unit = key === undefined ? undefined : JSON.stringify([request.session, key])
    const admitted = this.#admission.admit(ids.request, unit, [...this.#runs.values()])
    if ('code' in admitted) {
      this.#refuse(ids, admitted, EXIT.answered)
      return
    }
    if (this.#http && request.stream === true) {
      this.#lines = true
      this.#shape = 'protocol'
    }
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const deltas = request.stream !== false
    this.#runs.set(exchange, {
      ids,
      exchange,
      turn,
      unit,
      free: admitted.free,
      shape: this.#shape,
      promptLength: request.prompt.length,
      replayed: false,
      stream: this.#lines ? new RunStream(this.#ports, exchange, ids, deltas, request.sentAt) : undefined,
    })
    const once = key === undefined ? undefined : this.#admission.once(key, unit!)
    const answer = answerOf(this.#http, this.#lines, key !== undefined)
    this.#ports.command(startCommand(exchange, turn, ids, request, once), answer)
  }

  /** Stream mode knows its own runs: the acknowledgement goes out before the run can end. */
  #cancel(ids: Ids, target: string): void {
    const run = [...this.#runs.values()].find((running) => running.ids.request === target)
    if (!run) this.#refuse(ids, NOT_RUNNING, EXIT.answered)
    else {
      this.#ports.send(cancelLine(ids, this.#now(), target))
      this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-cancel', target: { turn: run.turn } })
    }
  }

  /** A single request cannot have a run of its own to cancel: the gateway may know it. */
  #cancelElsewhere(ids: Ids, target: string): void {
    const exchange = this.#ask({ ids, target })
    const session = ids.session === undefined ? {} : { session: { id: ids.session } }
    const command = { exchange, ...session, type: 'turn-cancel', target: { request: target } } as const
    this.#ports.command(command, answerOf(this.#http, false, false))
  }

  #ask(asked: Asked): Id {
    const exchange = this.#ports.newId()
    this.#asked.set(exchange, asked)
    return exchange
  }

  #accepted(run: Run, event: EventOf<'turn-accepted'>, view: TurnView): void {
    if (event.how === 'replayed') {
      run.replayed = this.#admission.marksReplays
      run.free = true
      run.stream = undefined
      // The original answers a replay in protocol shape also where its other answers are flat.
      if (!this.#single && run.shape === 'flat') run.shape = 'both'
    } else if (event.how === 'joined' && !this.#single) {
      const first = [...this.#runs.values()].find((other) => other !== run && other.unit === run.unit)
      const existing = quote(first?.ids.request ?? event.request ?? NO_IDS.request)
      this.#ports.send(ackLine(run.ids, view.at, 'DUPLICATE_IN_PROGRESS', [['existing_request_id', existing]]))
      this.#runs.delete(run.exchange)
      this.#settle(EXIT.answered)
    } else run.stream?.accepted(view.at)
  }

  #ended(run: Run, view: TurnView): void {
    const failed = faultOf(view, run.shape)
    run.stream?.finished(view.at, failed)
    if (failed && view.end?.outcome === 'completed') {
      // What this protocol cannot give as a success is a failure of ours, with a status of its own over HTTP.
      this.#ending = { run, view }
      this.#ports.fault(failed, this.#single ? 'ends' : 'continues', run.exchange)
      this.#ending = undefined
    } else this.#answer(run, view, failed)
  }

  #answer(run: Run, view: TurnView, failed: Fault | undefined): void {
    const ending = endingOf(run, view, failed, (loss) => this.#ports.report(loss, run.exchange))
    this.#ports.send(finalLine(run.shape, ending))
    this.#runs.delete(run.exchange)
    if (run.unit !== undefined) this.#admission.remember(run.unit)
    this.#settle(EXIT.answered)
  }

  /** The ids are not known to the engine: they wait here until it hands the fault back. */
  #refuse(ids: Ids, failed: Fault, exit: Exit, http?: number): void {
    this.#refusing = { ids, exit }
    this.#ports.fault(failed, this.#single ? 'ends' : 'continues', undefined, http)
    this.#refusing = undefined
  }

  /** Something was answered: closes the wire when that was all. */
  #settle(exit: Exit): void {
    if (this.#single || exit === EXIT.configuration) this.#ports.close(exit)
    else if (this.#inputEnded && this.#runs.size === 0 && this.#asked.size === 0) {
      this.#ports.close(this.#readable ? EXIT.answered : EXIT.input)
    }
  }

  #now(): number {
    return this.#ports.now?.() ?? this.#at
  }
}

function cancelLine(ids: Ids, at: number, target: string): string {
  return ackLine(ids, at, 'CANCEL_ACCEPTED', [['target_request_id', quote(target)]])
}

function exitOf(failed: Fault): Exit {
  return INPUT_FAULTS.has(failed.code) ? EXIT.input : EXIT.configuration
}

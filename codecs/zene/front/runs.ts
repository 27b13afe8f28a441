import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type Id,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import type { Admission } from './admission.ts'
import type { Shape } from './args.ts'
import { faultOf, finalLine, lostExt } from './ending.ts'
import { ackLine } from './lines.ts'
import { type Ids, NO_IDS, type RunRequest } from './request.ts'
import { type Run, RunStream } from './run.ts'
import { answerOf, startCommand } from './start.ts'

/** The form in which a wire is answered. */
export interface Form {
  readonly http: boolean
  /** One request and its answer are all. */
  readonly single: boolean
  shape: Shape
  /** Answers are lines: stream mode, or what an HTTP client asks for. */
  lines: boolean
}

/** The runs of one wire. */
export class Runs {
  readonly #ports: FrontPorts
  readonly #form: Form
  readonly #admission: Admission
  readonly #runs = new Map<Id, Run>()
  /** An ended run whose answer is passed to the engine as a fault. */
  #ending: { run: Run; view: TurnView } | undefined

  constructor(ports: FrontPorts, form: Form, admission: Admission) {
    this.#ports = ports
    this.#form = form
    this.#admission = admission
  }

  /** True when none runs. */
  get idle(): boolean {
    return this.#runs.size === 0
  }

  /** The turn of the run that the client calls by this request id. */
  turnOf(request: string): Id | undefined {
    return [...this.#runs.values()].find(({ ids }) => ids.request === request)?.turn
  }

  /** The ids of the exchange's run, which is over without a turn's end. */
  drop(exchange: Id): Ids | undefined {
    const run = this.#runs.get(exchange)
    this.#runs.delete(exchange)
    return run?.ids
  }

  /** Starts a run; returns why it is refused. */
  start(ids: Ids, request: RunRequest): Fault | undefined {
    const form = this.#form
    const { session_id, idempotency_key, prompt, stream } = request.run
    const key = idempotency_key?.trim() ? idempotency_key : undefined
    const unit = key === undefined ? undefined : JSON.stringify([session_id, key])
    const admitted = this.#admission.admit(ids.request, unit, [...this.#runs.values()])
    if ('code' in admitted) return admitted
    if (form.http && stream === true) {
      form.lines = true
      form.shape = 'protocol'
    }
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    this.#runs.set(exchange, {
      ids,
      exchange,
      turn,
      unit,
      free: admitted.free,
      shape: form.shape,
      promptLength: prompt.length,
      replayed: false,
      stream: form.lines ? new RunStream(this.#ports, exchange, ids, stream !== false, request.sentAt) : undefined,
    })
    const once = key === undefined ? undefined : this.#admission.once(key, unit!)
    const answer = answerOf(form.http, form.lines, key !== undefined)
    this.#ports.command(startCommand(exchange, turn, request, once), answer)
    return undefined
  }

  /** Writes an event of a run. True when that was its answer. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): boolean {
    const run = this.#runs.get(exchange)
    if (!run) return false
    if (event.type === 'turn-accepted') return this.#accepted(run, event, view)
    if (event.type === 'turn-end') return this.#ended(run, view)
    if (run.stream) run.stream.show(event, view)
    else if (event.ext) this.#ports.report(lostExt, exchange)
    return false
  }

  /** Writes pieces of text of a run. */
  texts(run: TextRun, exchange: Id, view: TurnView): void {
    this.#runs.get(exchange)?.stream?.texts(run, view)
  }

  /** Writes the answer of the run that the engine has as a fault. False for a fault of another kind. */
  answerFault(failed: Fault, exchange: Id | undefined): boolean {
    if (this.#ending?.run.exchange !== exchange || !this.#ending) return false
    this.#answer(this.#ending.run, this.#ending.view, failed)
    return true
  }

  #accepted(run: Run, event: EventOf<'turn-accepted'>, view: TurnView): boolean {
    const { single } = this.#form
    if (event.how === 'replayed') {
      run.replayed = this.#admission.marksReplays
      run.free = true
      run.stream = undefined
      // The original answers a replay in protocol shape also where its other answers are flat.
      if (!single && run.shape === 'flat') run.shape = 'both'
    } else if (event.how === 'joined' && !single) {
      const first = [...this.#runs.values()].find((other) => other !== run && other.unit === run.unit)
      const existing = quote(first?.ids.request ?? event.request ?? NO_IDS.request)
      this.#ports.send(ackLine(run.ids, view.at, 'DUPLICATE_IN_PROGRESS', { existing_request_id: existing }))
      this.#runs.delete(run.exchange)
      return true
    } else run.stream?.accepted(view.at)
    return false
  }

  #ended(run: Run, view: TurnView): boolean {
    const failed = faultOf(view, run.shape)
    run.stream?.finished(view.at, failed)
    if (!failed || view.end?.outcome !== 'completed') {
      this.#answer(run, view, failed)
      return true
    }
    // A success that this protocol cannot express is a failure of the gateway, with its own status over HTTP.
    this.#ending = { run, view }
    this.#ports.fault(failed, this.#form.single ? 'ends' : 'continues', run.exchange)
    this.#ending = undefined
    return false
  }

  #answer(run: Run, view: TurnView, failed: Fault | undefined): void {
    this.#ports.send(finalLine(run, view, failed, (loss) => this.#ports.report(loss, run.exchange)))
    this.#runs.delete(run.exchange)
    if (run.unit !== undefined) this.#admission.remember(run.unit)
  }
}

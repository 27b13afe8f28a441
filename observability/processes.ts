/** The spans of one agent process: one for each turn that it serves. */

import { basename } from 'node:path'
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { CallEnd, CallScope, Carrier } from '../src/contract/index.ts'
import { ATTR, EVENT, OTHER } from './attributes.ts'
import { carrierOf } from './context.ts'

/** Exit code 128 + 15: a process that ended itself properly on SIGTERM. */
const EXIT_TERMINATED = 143

/** Where a call belongs. */
export interface CallPlace {
  parent: Context
  baggage: string | undefined
  /** It is started for no turn, and of no interest after that. */
  ahead?: true
  /** Whether the turn has ended: a process that is then told to stop did nothing wrong. */
  turnEnded(): boolean
}

/**
 * A process as spans. The first one begins with the process. It ends with it, or, when the process outlives the turn,
 * with the turn; every later turn on it has one of its own, linked to the first.
 */
export class ProcessSpans implements CallScope {
  readonly carrier: Carrier
  readonly #tracer: Tracer
  readonly #name: string
  readonly #first: Span
  #place: CallPlace
  #span: Span
  #pid: number | undefined
  #outlives = false

  constructor(tracer: Tracer, command: string, place: CallPlace) {
    this.#tracer = tracer
    this.#name = basename(command)
    this.#place = place
    this.#span = this.#first = this.#begin(place.parent)
    this.carrier = carrierOf(this.#span, place.baggage)
  }

  started({ pid }: { pid?: number }): void {
    this.#pid = pid
    if (pid !== undefined) this.#span.setAttribute(ATTR.pid, pid)
  }

  head(): void {}

  ready(): void {
    this.#outlives = true
    if (this.#place.ahead) this.#span.end()
    else this.#span.addEvent(EVENT.ready)
  }

  /** It takes the place of earlier ones of the same turn or session. */
  restarted(times: number): void {
    this.#span.setAttribute(ATTR.restarts, times)
  }

  /** Another turn runs on it. */
  serve(place: CallPlace): void {
    this.#span.end()
    this.#place = place
    this.#span = this.#begin(place.parent)
    this.#span.addLink({ context: this.#first.spanContext() })
    if (this.#pid !== undefined) this.#span.setAttribute(ATTR.pid, this.#pid)
  }

  /** The turn is over; a process that serves only one is waited for. */
  turnEnded(): void {
    if (this.#outlives) this.#span.end()
  }

  end(end: CallEnd): void {
    const span = this.#span
    if (!span.isRecording()) return
    if (end.exitCode !== undefined) span.setAttribute(ATTR.exitCode, end.exitCode)
    if (end.signal !== undefined) span.setAttribute(ATTR.signal, end.signal)
    finish(span, errorOf(end) ?? exitError(end, this.#place.turnEnded()))
  }

  #begin(parent: Context): Span {
    const attributes = { [ATTR.executableName]: this.#name }
    return this.#tracer.startSpan(this.#name, { kind: SpanKind.CLIENT, attributes }, parent)
  }
}

/** What is wrong with how a process closed, as `error.type`: the signal or the exit code that says so. */
function exitError(end: CallEnd, turnEnded: boolean): string | undefined {
  if (end.why !== 'closed') return undefined
  if (turnEnded && (end.signal !== undefined || end.exitCode === EXIT_TERMINATED)) return undefined
  return end.signal ?? (end.exitCode ? String(end.exitCode) : undefined)
}

/** What went wrong with any call; a cancelled one did what it was told. */
export function errorOf(end: CallEnd): string | undefined {
  if (end.why === 'timeout') return 'timeout'
  return end.why === 'failed' ? (end.fault?.code ?? OTHER) : undefined
}

/** Ends a span, as failed when there is an error. */
export function finish(span: Span, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute(ATTR.errorType, errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

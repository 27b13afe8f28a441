/** The spans of one agent process: one for each turn that it serves. */

import { basename } from 'node:path'
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { CallEnd, CallScope, Carrier } from '../src/contract/index.ts'
import { ATTR, EVENT, OTHER } from './attributes.ts'
import { carrierOf } from './context.ts'

/** Exit code 128 + 15: a process that exited properly on SIGTERM. */
const EXIT_TERMINATED = 143

/** The turn or link that a call belongs to. */
export interface CallPlace {
  parent: Context
  baggage: string | undefined
  /** It starts outside of a turn and is not observed after its start. */
  ahead?: true
  /** True when the turn has ended: stopping the process is then no failure. */
  turnEnded(): boolean
}

/**
 * The spans of a process. The first one begins with the process. It ends with the process, or with the turn when the
 * process outlives it. Every later turn on the process has its own span, linked to the first.
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
    if (this.#place.ahead) endOnce(this.#span)
    else this.#span.addEvent(EVENT.ready)
  }

  /** It replaces earlier ones of the same turn or session. */
  restarted(times: number): void {
    this.#span.setAttribute(ATTR.restarts, times)
  }

  /** Another turn runs on it. */
  serve(place: CallPlace): void {
    endOnce(this.#span)
    this.#place = place
    this.#span = this.#begin(place.parent)
    this.#span.addLink({ context: this.#first.spanContext() })
    if (this.#pid !== undefined) this.#span.setAttribute(ATTR.pid, this.#pid)
  }

  /** The turn has ended; the end of a process that serves only one turn is awaited. */
  turnEnded(): void {
    if (this.#outlives) endOnce(this.#span)
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

/** The processes that one turn runs on: each further one of its own replaces the one before. */
export class TurnProcesses {
  readonly #processes: ProcessSpans[] = []
  #restarts = 0
  /** The turn has ended. */
  over = false

  /** Adds a process that was running before. */
  add(process: ProcessSpans): void {
    this.#processes.push(process)
  }

  /** Adds a process that was started for the turn. */
  started(process: ProcessSpans): ProcessSpans {
    this.add(process)
    if (this.#processes.length > 1) this.reset()
    return process
  }

  /** The newest one begins the session again. */
  reset(): void {
    const newest = this.#processes.at(-1)
    if (!newest) return
    this.#restarts += 1
    newest.restarted(this.#restarts)
  }

  /** The turn has ended. */
  turnEnded(): void {
    this.over = true
    for (const process of this.#processes) process.turnEnded()
  }
}

/** The failure of a closed process, as `error.type`: its signal or exit code. */
function exitError(end: CallEnd, turnEnded: boolean): string | undefined {
  if (end.why !== 'closed') return undefined
  if (turnEnded && (end.signal !== undefined || end.exitCode === EXIT_TERMINATED)) return undefined
  return end.signal ?? (end.exitCode ? String(end.exitCode) : undefined)
}

/** The failure of any call; a cancelled call did not fail. */
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

/** Ends a span that may have ended: for a second end the SDK makes an error with a stack trace. */
export function endOnce(span: Span): void {
  if (span.isRecording()) span.end()
}

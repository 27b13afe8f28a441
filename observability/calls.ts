/** The span of one process or HTTP call of a turn. */

import { basename } from 'node:path'
import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { CallEnd, CallInfo, CallScope } from '../src/contract/index.ts'
import { ATTR, methodAttributes, methodName, OTHER } from './attributes.ts'
import { carrierOf } from './context.ts'

/** Where a call belongs. */
export interface CallPlace {
  parent: Context
  baggage: string | undefined
  /** Whether the turn has ended: a process that is then told to stop did nothing wrong. */
  turnEnded(): boolean
}

/** Starts the span of a call. It ends when the call does, or when a process that outlives the turn is ready. */
export function callScope(tracer: Tracer, info: CallInfo, place: CallPlace): CallScope {
  return info.kind === 'process' ? processScope(tracer, info.command, place) : httpScope(tracer, info, place)
}

function processScope(tracer: Tracer, command: string, place: CallPlace): CallScope {
  const name = basename(command)
  const attributes = { [ATTR.executableName]: name }
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, place.parent)
  return {
    carrier: carrierOf(span, place.baggage),
    started: ({ pid }) => {
      if (pid !== undefined) span.setAttribute(ATTR.pid, pid)
    },
    head() {},
    ready: () => span.end(),
    end: (end) => {
      if (!span.isRecording()) return
      if (end.exitCode !== undefined) span.setAttribute(ATTR.exitCode, end.exitCode)
      finish(span, errorOf(end) ?? exitError(end, place.turnEnded()))
    },
  }
}

/** Exit code 128 + 15: a process that ended itself properly on SIGTERM. */
const EXIT_TERMINATED = 143

/** What is wrong with how a process closed, as `error.type`: the signal or the exit code that says so. */
function exitError(end: CallEnd, turnEnded: boolean): string | undefined {
  if (end.why !== 'closed') return undefined
  if (turnEnded && (end.signal !== undefined || end.exitCode === EXIT_TERMINATED)) return undefined
  return end.signal ?? (end.exitCode ? String(end.exitCode) : undefined)
}

function httpScope(tracer: Tracer, info: { method: string; url: string }, place: CallPlace): CallScope {
  const attributes = { ...methodAttributes(info.method), ...urlAttributes(info.url) }
  const span = tracer.startSpan(methodName(info.method), { kind: SpanKind.CLIENT, attributes }, place.parent)
  let status: number | undefined
  return {
    carrier: carrierOf(span, place.baggage),
    started() {},
    head: (head) => {
      status = head.status
      span.setAttribute(ATTR.httpStatus, status)
    },
    ready() {},
    end: (end) => finish(span, errorOf(end) ?? (status !== undefined && status >= 400 ? String(status) : undefined)),
  }
}

/** A URL as attributes. Query, fragment and credentials may hold secrets and are removed. */
function urlAttributes(text: string): Attributes {
  const url = URL.parse(text)
  if (!url) return {}
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { [ATTR.urlFull]: url.href, [ATTR.serverAddress]: url.hostname, [ATTR.serverPort]: port }
}

/** What went wrong with any call; a cancelled one did what it was told. */
function errorOf(end: CallEnd): string | undefined {
  if (end.why === 'timeout') return 'timeout'
  return end.why === 'failed' ? (end.fault?.code ?? OTHER) : undefined
}

function finish(span: Span, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute(ATTR.errorType, errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** The gateway's own log: JSON lines (or readable ones) on stderr; secrets are removed before anything is formatted. */

import { isatty } from 'node:tty'
import { pino } from 'pino'
import { LineWriter } from './line-writer.ts'
import { formatTraceparent, parseTraceparent } from './propagation.ts'
import { type Redactor, redactor } from './redaction.ts'

/** The log levels; a level includes everything more serious. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** One of the closed list of levels. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * The fields of a log line. Any value is allowed; it is cleaned and bounded. A `traceparent` is written as `trace_id`
 * and `span_id`, the names that OpenTelemetry has for logs of other formats.
 */
export type LogFields = Readonly<Record<string, unknown>>

/** A log. No method throws or waits for the reader. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Resolves when the reader has all lines, or has gone, and at the latest after a second. */
  flushed(): Promise<void>
}

/** The destination of lines: a Node stream, or anything that takes text. */
export interface LogDestination {
  write(text: string): unknown
  /** Resolves when the reader has what was written, at the latest after `ms` milliseconds. */
  drained?(ms: number): Promise<void>
  readonly isTTY?: boolean
}

/** A written line, without secrets, for a second receiver. */
export interface LogEntry {
  level: Exclude<LogLevel, 'silent'>
  message: string
  /** Plain data. */
  fields: Record<string, LogValue>
  /** The span that it belongs to. */
  traceparent?: string
}

/** The cleaned form of a logged value. */
export type LogValue = string | number | boolean | null | undefined | LogValue[] | { [key: string]: LogValue }

/** Options of a log. */
export interface LogOptions {
  level: LogLevel
  /** Lines for people instead of JSON. Default: yes when the lines go to a terminal. */
  pretty?: boolean
  /** Default: stderr. */
  destination?: LogDestination
  /** Default: one that knows no secret values. */
  redact?: Redactor
  /** Also receives every line. */
  also?: (entry: LogEntry) => void
}

/** When the reader of stderr stalls, up to this many bytes are buffered; then new lines are dropped. */
const MAX_WAITING = 1_048_576

/** The longest wait for the reader of stderr when the process ends, in milliseconds. */
const FLUSH_MS = 1000

/** Names that pino writes itself; a field of such a name gets an underscore: JSON with one key twice is ambiguous. */
const RESERVED = new Set(['level', 'time', 'pid', 'msg'])

/** Makes a log. Secrets are removed from messages and fields alike, whether they are written as JSON or for people. */
export function createLog(options: LogOptions): Log {
  const redact = options.redact ?? redactor()
  const destination = options.destination ?? stderr()
  const pretty = options.pretty ?? destination.isTTY === true
  const sink = pretty ? prettySink(destination) : destination
  const logger = pino(
    {
      level: options.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void sink.write(line) },
  )
  const write = (level: Exclude<LogLevel, 'silent'>, message: string, fields?: LogFields): void => {
    if (!logger.isLevelEnabled(level)) return
    const { traceparent, ...said } = fields ?? {}
    const context = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
    const clean = safeFields(redact, said)
    const text = redact.text(message)
    logger[level](context ? { trace_id: context.traceId, span_id: context.spanId, ...clean } : clean, text)
    options.also?.({
      level,
      message: text,
      fields: clean as Record<string, LogValue>,
      ...(context && { traceparent: formatTraceparent(context) }),
    })
  }
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    flushed: async () => destination.drained?.(FLUSH_MS),
  }
}

function stderr(): LogDestination {
  const writer = new LineWriter(2, MAX_WAITING)
  process.once('exit', () => writer.flush())
  return { write: (text) => writer.write(text), drained: (ms) => writer.drained(ms), isTTY: isatty(2) }
}

function safeFields(redact: Redactor, fields: LogFields): Record<string, unknown> {
  const clean = redact.value(fields)
  // A string replaces fields that could not be read.
  if (typeof clean !== 'object' || clean === null) return { fields: clean }
  return Object.fromEntries(Object.entries(clean).map(([key, value]) => [RESERVED.has(key) ? `${key}_` : key, value]))
}

const COLOUR: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 }

/** JSON lines of pino as `12:34:56.789 WARN message key=value`, coloured on a terminal unless NO_COLOR is set. */
function prettySink(destination: LogDestination): LogDestination {
  const colour = destination.isTTY === true && !process.env['NO_COLOR']
  return {
    write(line) {
      const { level, time, pid: _pid, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
      const label = String(level).toUpperCase().padEnd(5)
      const painted = colour ? `\u001b[${COLOUR[String(level)]}m${label}\u001b[0m` : label
      const pairs = Object.entries(fields).map(([key, value]) => ` ${visible(key)}=${shown(value)}`)
      return destination.write(`${String(time).slice(11, 23)} ${painted} ${visible(String(msg))}${pairs.join('')}\n`)
    },
  }
}

function shown(value: unknown): string {
  const bare = typeof value === 'string' && /^[\w./:@+-]+$/.test(value)
  return bare ? value : visible(JSON.stringify(value))
}

/** Escapes control characters: an agent's output must not move the cursor or clear the screen. */
function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

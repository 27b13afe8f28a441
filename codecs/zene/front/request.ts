import * as v from 'valibot'
import { keysOf } from '../../../src/codec-kit/index.ts'
import { type Ext, type Fault, fault, isRecord, member, members, parse } from '../../../src/model/index.ts'
import { cancelSchema, closeSchema, runSchema } from '../schema.ts'
import { entriesExt } from '../wire.ts'

/** The ids to answer under: `unknown` and undefined where the request did not say them as strings. */
export interface Ids {
  request: string
  session: string | undefined
}

/** The ids of what could not be read. */
export const NO_IDS: Ids = { request: 'unknown', session: undefined }

/** A request to run a prompt. `sentAt` is the client's own time stamp, `ext` what Zene has no name for. */
export interface RunRequest {
  type: 'run'
  run: v.InferOutput<typeof runSchema>
  sentAt: number | undefined
  ext: Ext | undefined
}

/** A request of any type. */
export type Request =
  | RunRequest
  | { type: 'ping' }
  | { type: 'cancel'; target: string }
  | { type: 'session_close'; session: string }

/** A request, or the fault that refuses it. `unreadable`: it was not even a Zene request (exit code 2). */
export type Reading = { ids: Ids } & (
  | { request: Request; fault?: undefined }
  | { request?: undefined; fault: Fault; unreadable: boolean }
)

/** Members of a run that the model has a place for. */
const KNOWN: ReadonlySet<string> = new Set(['protocol_version', 'type', ...keysOf(runSchema)])

/** Named by the protocol, without a meaning here: null is no loss. */
const IDLE: ReadonlySet<string> = new Set(['ts_ms', 'metadata', 'target_request_id', 'cancel_request_id'])

/** Reads one request line (section "Request Schema", with the types that the real program adds). */
export function readRequest(line: string): Reading {
  const json = parse(line)
  if (json === undefined) return unreadable(NO_IDS, 'invalid JSON payload: the request is not valid JSON')
  if (!isRecord(json)) return unreadable(NO_IDS, 'invalid JSON payload: the request is not a JSON object')
  const ids: Ids = {
    request: typeof json['request_id'] === 'string' ? json['request_id'] : NO_IDS.request,
    session: typeof json['session_id'] === 'string' ? json['session_id'] : undefined,
  }
  const version = json['protocol_version'] ?? 1
  if (version !== 1) {
    // The text of the request: a value may be too deep to be written again.
    const named = member(line, 'protocol_version')!.slice(0, 40)
    const message = `unsupported protocol_version (expected 1): the request has ${named}; send 1 or leave it out`
    return { ids, fault: fault('unsupported-version', message), unreadable: true }
  }
  switch (json['type'] ?? 'run') {
    case 'run':
      return readRun(line, json, ids)
    case 'ping':
      return { ids, request: { type: 'ping' } }
    case 'cancel': {
      const target = v.safeParse(cancelSchema, json)
      return target.success ? { ids, request: { type: 'cancel', target: target.output } } : refused(ids, target.issues)
    }
    case 'session_close': {
      const close = v.safeParse(closeSchema, json)
      if (!close.success) return refused(ids, close.issues)
      return { ids, request: { type: 'session_close', session: close.output.session_id } }
    }
    default:
      return unreadable(ids, 'unsupported request type')
  }
}

function readRun(line: string, json: Record<string, unknown>, ids: Ids): Reading {
  const { success, output: run, issues } = v.safeParse(runSchema, json)
  if (!success) return refused(ids, issues)
  const sentAt = Number.isSafeInteger(json['ts_ms']) ? (json['ts_ms'] as number) : undefined
  const extra = members(line).filter(([key, value]) => !KNOWN.has(key) && !(IDLE.has(key) && value === 'null'))
  return { ids, request: { type: 'run', run, sentAt, ext: entriesExt(extra) } }
}

function refused(ids: Ids, issues: readonly { message: string }[]): Reading {
  return { ids, fault: fault('invalid-request', issues[0]!.message), unreadable: false }
}

function unreadable(ids: Ids, message: string): Reading {
  return { ids, fault: fault('invalid-request', message), unreadable: true }
}

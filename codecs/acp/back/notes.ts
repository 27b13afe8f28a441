import * as v from 'valibot'
import { dropped, type TurnEmitter, unparsed } from '../../../src/codec-kit/index.ts'
import { type Item, type JsonText, member, rest } from '../../../src/model/index.ts'
import { CompactionUpdate, Notice, UsageUpdate } from '../update-schema.ts'
import { toExt, unknownExt } from '../wire.ts'

const USAGE: ReadonlySet<string> = new Set(['sessionUpdate', 'cost'])
const PLAN: ReadonlySet<string> = new Set(['sessionUpdate', 'entries'])

/** Takes an update that is neither of a message nor of a tool; `json` is raw. False for one of an unknown kind. */
export function takeNote(out: TurnEmitter, update: { sessionUpdate: string }, json: JsonText): boolean {
  switch (update.sessionUpdate) {
    case 'plan':
      plan(out, update, json)
      return true
    case 'usage_update':
      usage(out, update, json)
      return true
    case 'notice':
      notice(out, update)
      return true
    case 'compaction_update':
      compaction(out, update)
      return true
    case 'compaction_summary_chunk':
      out.report(dropped('notice', 'summary'))
      return true
    default:
      return false
  }
}

/** An update as its schema has it; undefined, and a loss, for one of another shape. */
export function readUpdate<S extends v.GenericSchema>(
  out: TurnEmitter,
  schema: S,
  update: unknown,
  item: Item,
): v.InferOutput<S> | undefined {
  const { success, output } = v.safeParse(schema, update)
  if (!success) out.report(unparsed(item))
  return success ? output : undefined
}

function plan(out: TurnEmitter, update: object, json: JsonText): void {
  const entries = member(json, 'entries')
  if (entries?.startsWith('['))
    out.emit({ type: 'plan', json: `{"entries":${entries}}` }, unknownExt(json, update, PLAN))
  else out.report(unparsed('plan'))
}

/** The content of the context window is not a usage of tokens: it is passed in the fields of this protocol. */
function usage(out: TurnEmitter, update: unknown, json: JsonText): void {
  const read = readUpdate(out, UsageUpdate, update, 'usage')
  if (!read) return
  const { cost } = read
  const isKnown = cost?.currency === 'USD'
  if (cost && !isKnown) out.report(dropped('usage.costUsd', 'currency'))
  const counts = isKnown ? { costUsd: cost.amount } : {}
  out.emit({ type: 'usage', scope: 'session', usage: counts }, toExt(rest(json, USAGE)))
}

function notice(out: TurnEmitter, update: unknown): void {
  const read = readUpdate(out, Notice, update, 'notice')
  if (!read) return
  const { severity, title, description } = read
  const known = severity === 'warning' || severity === 'error' ? severity : 'info'
  out.notice(known, 'agent-notice', description ? `${title}: ${description}` : title)
}

function compaction(out: TurnEmitter, update: unknown): void {
  const read = readUpdate(out, CompactionUpdate, update, 'notice')
  if (!read) return
  const { status, error } = read
  const failed = status === 'failed'
  const said = COMPACTION[status] ?? `The compaction of the conversation is: ${status}`
  out.notice(failed ? 'warning' : 'info', 'compaction', failed && error ? `${said} (${error}).` : `${said}.`)
}

const COMPACTION: Readonly<Record<string, string>> = {
  in_progress: 'The agent compacts its conversation',
  completed: 'The agent has compacted its conversation',
  failed: 'The agent could not compact its conversation',
  cancelled: 'The compaction of the conversation was cancelled',
}

import {
  type JsonText,
  type Members,
  member,
  object,
  parse,
  quote,
  type TurnEnd,
  type TurnView,
} from '../../../src/model/index.ts'
import { errors } from '../errors.ts'
import { CANCELLED_TEXT } from '../wire.ts'
import type { Client, Refused } from './client.ts'
import { usageJson } from './lines.ts'

/** The end of a turn, as a result shows it. */
export type Ending = Pick<TurnEnd, 'outcome' | 'stop' | 'fault'>

/** The counts of a result. */
export interface Counts {
  /** Milliseconds from the request to its end. */
  durationMs: number
  /** Model calls of the turn. */
  answers: number
}

/** The members of a `result` line; those that `extra` (the agent's own result) has are left to it. */
export function resultEntries(
  ending: Ending,
  text: string,
  counts: Counts,
  client: Client,
  extra: JsonText | undefined,
): Members {
  const failed = ending.outcome !== 'completed'
  const has = (key: string): boolean => extra !== undefined && member(extra, key) !== undefined
  return {
    type: '"result"',
    subtype: quote(subtypeOf(ending)),
    uuid: quote(client.ids.next()),
    session_id: quote(client.session),
    is_error: String(failed),
    duration_ms: String(counts.durationMs),
    duration_api_ms: has('duration_api_ms') ? undefined : '0',
    num_turns: has('num_turns') ? undefined : String(counts.answers),
    result: failed ? undefined : quote(text),
    usage: usageJson(client.totals.usage),
    permission_denials: has('permission_denials') ? undefined : `[${client.totals.refused.map(denial).join(',')}]`,
    structured_result: failed ? undefined : structured(text, client),
    error: failed ? errorJson(ending) : undefined,
  }
}

/** The text that a result repeats: that of the last message of the main lane that has any. */
export function lastText(view: TurnView): string {
  const said = view.messages.findLast(
    ({ role, lane, text }) => role === 'assistant' && lane === undefined && text !== '',
  )
  return said?.text ?? ''
}

/** The exit code of a program that was started for this turn alone. */
export function exitCodeOf({ outcome, stop }: Ending): number {
  if (outcome === 'completed') return 0
  if (outcome === 'cancelled') return 130
  return stop === 'max-turns' ? 53 : 1
}

/** The message of the failure. */
export function messageOf({ outcome, fault }: Ending): string {
  if (outcome === 'cancelled') return CANCELLED_TEXT
  return fault?.message ?? 'The turn failed.'
}

function subtypeOf({ outcome, stop }: Ending): string {
  if (outcome === 'completed') return 'success'
  return stop === 'max-turns' ? 'error_max_turns' : 'error_during_execution'
}

function errorJson(ending: Ending): JsonText {
  const known = ending.outcome === 'failed' ? ending.fault : undefined
  return object({ message: quote(messageOf(ending)), code: known && quote(errors[known.code].code) })
}

/** An answer of the shape that the client asked for; undefined when it asked for none, or the text is no JSON. */
function structured(text: string, { args }: Client): JsonText | undefined {
  return args.options.outputSchema !== undefined && parse(text) !== undefined ? text : undefined
}

function denial({ name, id, args }: Refused): JsonText {
  return object({ tool_name: quote(name), tool_use_id: quote(id), tool_input: parse(args) === undefined ? '{}' : args })
}

import * as v from 'valibot'
import { type JsonLine, type Reading, wordTable } from '../../../src/codec-kit/index.ts'
import { isRecord, member } from '../../../src/model/index.ts'
import { SystemRetry } from '../schema.ts'
import { entriesExt } from '../wire.ts'
import type { TurnDecoder } from './turn.ts'

type Data = Record<string, unknown>

/** The notices for clients that cannot read a `system` line, by its subtype. */
const NOTICES = wordTable<['info' | 'warning', (data: Data) => string]>({
  task_started: ['info', (data) => `A sub-agent started: ${word(data, 'description')}`],
  task_notification: ['info', (data) => `A sub-agent is done: ${word(data, 'status')}`],
  model_fallback: [
    'warning',
    (data) => `The agent goes on with the model ${word(data, 'toModel')} instead of ${word(data, 'fromModel')}.`,
  ],
  continue_turn_failed: ['warning', (data) => word(data, 'error')],
  vision_routing: ['info', (data) => word(data, 'notice')],
  vision_bridge: ['info', (data) => word(data, 'notice')],
  vision_bridge_failed: ['warning', (data) => word(data, 'notice')],
})

function word(data: Data, key: string): string {
  const value = data[key]
  return typeof value === 'string' ? value : ''
}

/** A `system` line of a running turn other than `init`: a retry takes text back, the known ones are notices. */
export function readSystem(turn: TurnDecoder, { value, json }: JsonLine): Reading {
  const { subtype, data } = value
  // The fields by which a client of the same dialect gets the line again.
  const ext = entriesExt(['subtype', 'data'].map((key) => [key, member(json, key)] as const))
  if (subtype === 'retry') {
    const { success, output } = v.safeParse(SystemRetry, value)
    if (!success) return 'misfit'
    turn.main.out.notice('warning', 'retrying', 'The agent asks its model once more.', ext)
    turn.main.retry(output.data.preserveText)
    return 'read'
  }
  const [severity, textOf] = NOTICES.get(subtype) ?? []
  if (!severity || !textOf || !isRecord(data)) return 'foreign'
  const code = String(subtype).replaceAll('_', '-')
  const task = data['tool_use_id']
  const { out } = turn.lane(typeof task === 'string' ? task : undefined)
  out.notice(severity, code, textOf(data), ext)
  return 'read'
}

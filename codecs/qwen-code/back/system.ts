import * as v from 'valibot'
import { isRecord, member, object } from '../../../src/model/index.ts'
import { SystemRetry } from '../schema.ts'
import type { Line, Reading } from './lines.ts'
import type { TurnDecoder } from './turn.ts'

/** The notices for clients that cannot read a `system` line, by its subtype. */
const NOTICES: ReadonlyMap<unknown, { severity: 'info' | 'warning'; text(data: Record<string, unknown>): string }> =
  new Map<unknown, { severity: 'info' | 'warning'; text(data: Record<string, unknown>): string }>([
    ['task_started', { severity: 'info', text: (data) => `A sub-agent started: ${word(data, 'description')}` }],
    ['task_notification', { severity: 'info', text: (data) => `A sub-agent is done: ${word(data, 'status')}` }],
    [
      'model_fallback',
      {
        severity: 'warning',
        text: (data) =>
          `The agent goes on with the model ${word(data, 'toModel')} instead of ${word(data, 'fromModel')}.`,
      },
    ],
    ['continue_turn_failed', { severity: 'warning', text: (data) => word(data, 'error') }],
    ['vision_routing', { severity: 'info', text: (data) => word(data, 'notice') }],
    ['vision_bridge', { severity: 'info', text: (data) => word(data, 'notice') }],
    ['vision_bridge_failed', { severity: 'warning', text: (data) => word(data, 'notice') }],
  ])

function word(data: Record<string, unknown>, key: string): string {
  const value = data[key]
  return typeof value === 'string' ? value : ''
}

/** A `system` line of a running turn other than `init`: a retry takes text back, the known ones are notices. */
export function readSystem(turn: TurnDecoder, { value, json }: Line): Reading {
  const { subtype, data } = value
  if (subtype === 'retry') {
    const { success, output } = v.safeParse(SystemRetry, value)
    if (!success) return 'misfit'
    const { answer, out } = turn.main
    out.emit(
      { type: 'notice', severity: 'warning', code: 'retrying', text: 'The agent asks its model once more.' },
      systemFields(json),
    )
    answer.retry(output.data.preserveText)
    return 'read'
  }
  const known = NOTICES.get(subtype)
  if (!known || !isRecord(data)) return 'foreign'
  const code = String(subtype).replaceAll('_', '-')
  const task = data['tool_use_id']
  const { out } = turn.lane(typeof task === 'string' ? task : undefined)
  out.emit({ type: 'notice', severity: known.severity, code, text: known.text(data) }, systemFields(json))
  return 'read'
}

/** The fields by which a client of the same dialect gets the line again. */
function systemFields(json: string): string {
  return object([
    ['subtype', member(json, 'subtype')],
    ['data', member(json, 'data')],
  ])
}

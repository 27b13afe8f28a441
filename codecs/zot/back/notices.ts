import { wordTable } from '../../../src/codec-kit/index.ts'
import type { AgentEvent, Id } from '../../../src/model/index.ts'
import { unknownExt } from '../wire.ts'

const NOTIFY = new Set(['type', 'message'])
const DISPLAY = new Set(['type', 'text'])
const SEVERITIES = wordTable<'warning' | 'error'>({ warn: 'warning', warning: 'warning', error: 'error' })

/**
 * `ext_notify` and `ext_display`, what an extension of the agent says to its user, as a notice; undefined for another
 * shape. The extension's name and its own level ride in `ext`. Both may come while no prompt runs.
 */
export function noticeOf(turn: Id | null, value: Record<string, unknown>, line: string): AgentEvent | undefined {
  const display = value['type'] === 'ext_display'
  const text = value[display ? 'text' : 'message']
  if (typeof text !== 'string') return undefined
  const severity = display ? 'info' : (SEVERITIES.get(value['level']) ?? 'info')
  const ext = unknownExt(line, value, display ? DISPLAY : NOTIFY)
  return { turn, type: 'notice', severity, code: display ? 'ext-display' : 'ext-notify', text, ...(ext && { ext }) }
}

/** An `error` that no prompt owns. */
export function strayError(value: Record<string, unknown>): AgentEvent | undefined {
  const text = value['message']
  if (typeof text !== 'string') return undefined
  return { turn: null, type: 'notice', severity: 'error', code: 'agent-error', text }
}

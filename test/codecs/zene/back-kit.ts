/** Helpers for the agent side of Zene. */
import { codec } from '../../../codecs/zene/index.ts'
import { driveBack } from '../../kit/drive.ts'

/** A configured process. */
export const process = (args?: readonly string[]) => ({
  process: { command: 'zene', env: {}, cwd: '/', ...(args && { args }) },
})
/** A flat answer. */
export const flat = (more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    ok: true,
    request_id: 't1',
    session_id: 's1',
    text: 'Task 1: Completed\n',
    error_code: null,
    error_message: null,
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    ...more,
  })
/** A final line. */
export const final = (more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    protocol_version: 1,
    type: 'final',
    request_id: 't1',
    session_id: 's1',
    ts_ms: 1,
    status: 'OK',
    text: 'done',
    error: null,
    latency_ms: 3,
    usage: {},
    ...more,
  })

/** A started one-shot turn. */
export const started = (more = {}) => {
  const drive = driveBack(codec)
  drive.start('hi', more)
  return drive
}
/** A one-shot turn that was answered with these lines. */
export const ended = (...lines: string[]) => {
  const drive = started()
  drive.feed(...lines)
  return drive
}

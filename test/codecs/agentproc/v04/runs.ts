import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import type { AgentEvent } from '../../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../../kit/drive.ts'

/** The process ended well. */
export const OK: CallEnd = { why: 'closed', exitCode: 0 }
const PROCESS = { command: 'my agent', env: {}, cwd: '/work' }

/** Opens a back with these settings and differences of its process. */
export function open(options: Record<string, unknown> = {}, process: Record<string, unknown> = {}): BackDrive {
  return driveBack(codec, { dialect: '0.4', options, process: { ...PROCESS, ...process }, env: { KEY: 'host-key' } })
}

const json = (value: unknown): string => JSON.stringify(value)
/** A line of type partial. */
export const partial = (text: unknown, more: object = {}): string => json({ type: 'partial', text, ...more })
/** A line of type result. */
export const result = (text: unknown, more: object = {}): string => json({ type: 'result', text, ...more })
/** A line of type error. */
export const error = (message: unknown, more: object = {}): string => json({ type: 'error', message, ...more })
/** A line of type request. */
export const request = (id: unknown, more: object = {}): string =>
  json({ type: 'permission_request', request_id: id, tool_name: 'Bash', input: { command: 'ls' }, ...more })

/** A turn from its stdout and the end of its process. */
export function run(lines: readonly string[], end: CallEnd = OK, options: Record<string, unknown> = {}): BackDrive {
  const back = open(options)
  back.start('hello')
  back.feed(...lines)
  back.link.decodeEnd(end)
  return back
}

/** What a turn came to. */
export function outcome(events: readonly AgentEvent[]) {
  const deltas: string[] = []
  let said: string | undefined
  let session = ''
  for (const event of events) {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') deltas.push(event.text)
    if (event.type === 'message-end' && event.parts?.[0]?.type === 'text') said = event.parts[0].text
    if (event.type === 'session-bound') session = event.agentSession
  }
  const end = events.at(-1)
  if (end?.type !== 'turn-end') throw new Error('no end')
  const usage = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))
  return { deltas, said, session, usage, outcome: end.outcome, fault: end.fault, ext: end.ext }
}

/** The codes of a turn's notices. */
export const codes = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.code] : []))

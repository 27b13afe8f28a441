import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import type { AgentEvent } from '../../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../../kit/drive.ts'

/** The process ended well. */
export const OK: CallEnd = { why: 'closed', exitCode: 0 }

/** A turn from its stdout, the end of its process, and the profile. */
export function run(lines: readonly string[], end: CallEnd = OK, options: Record<string, unknown> = {}): BackDrive {
  const back = driveBack(codec, {
    options,
    process: { command: 'agent', args: [], env: { KEY: 'hunter2-hunter2', S: 'x' }, cwd: '/work' },
    env: { ALLOWED: 'allowed-value' },
  })
  back.start('hello')
  back.feed(...lines)
  back.link.decodeEnd(end)
  return back
}

/** What a turn came to: the text that stands by source, the session, the fault. */
export function outcome(events: readonly AgentEvent[]) {
  const texts = new Map<string, string>()
  const deltas: string[] = []
  let session = ''
  for (const event of events) {
    if (event.type === 'message-start') texts.set(event.message, '')
    if (event.type === 'text-delta') {
      texts.set(event.message, texts.get(event.message) + event.text)
      deltas.push(event.text)
    }
    if (event.type === 'message-retract') texts.delete(event.message)
    if (event.type === 'session-bound') session = event.agentSession
  }
  const end = events.at(-1)
  if (end?.type !== 'turn-end') throw new Error('no end')
  return { texts: [...texts.values()], deltas, session, outcome: end.outcome, fault: end.fault }
}

import * as v from 'valibot'
import type { BackPorts } from '../../../src/contract/index.ts'
import { streamEvents, type TurnExtension, upstreamLoss } from '../schema.ts'
import { usageOf } from '../usage.ts'
import type { Start } from './request.ts'
import type { StreamReader } from './stream.ts'

/** Reads the extension of another gateway: its losses and its own session, and what its stream has not shown of the rest. */
export function readExtension(
  { usage, notices = [], loss = [], session }: TurnExtension,
  { turn, session: sent }: Start,
  stream: StreamReader,
  ports: BackPorts,
): void {
  for (const given of loss) if (v.is(upstreamLoss, given)) ports.report(given, turn)
  if (session !== undefined && session !== (sent?.bound ?? sent?.id)) {
    ports.emit({ type: 'session-bound', turn: null, agentSession: session })
  }
  for (const given of stream.used ? [] : notices) {
    const notice = v.safeParse(streamEvents.notice, given)
    if (!notice.success) continue
    const { severity, code, text } = notice.output
    ports.emit({ type: 'notice', turn, severity, code, text })
  }
  const counted = stream.usage ? undefined : usageOf(usage, (given) => ports.report(given, turn))
  if (counted) ports.emit({ type: 'usage', turn, scope: 'turn', ...counted })
}

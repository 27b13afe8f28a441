import type { Stop } from '../../src/model/index.ts'

/** The stop reasons of the protocol, and the canonical one of each. */
const STOPS = {
  end_turn: 'end',
  max_tokens: 'max-tokens',
  max_turn_requests: 'max-turns',
  refusal: 'refusal',
  cancelled: 'aborted',
} as const satisfies Readonly<Record<string, Stop>>

type StopReason = keyof typeof STOPS

const REASONS = Object.fromEntries(Object.entries(STOPS).map(([reason, stop]) => [stop, reason])) as Partial<
  Record<Stop, StopReason>
>

/** The canonical stop of a reason; undefined for one that is not known. */
export function stopOf(reason: string): Stop | undefined {
  return Object.hasOwn(STOPS, reason) ? STOPS[reason as StopReason] : undefined
}

/** The reason of a turn that completed; `exact` is false when the protocol has no word for it. */
export function reasonOf(stop: Stop | undefined): { reason: StopReason; exact: boolean } {
  const reason = stop === undefined ? 'end_turn' : REASONS[stop]
  if (reason !== undefined) return { reason, exact: true }
  return { reason: stop === 'content-filter' ? 'refusal' : 'end_turn', exact: false }
}

import type { ToolView } from '../model/index.ts'

/**
 * True for a call that never ran: the agent dropped it while its arguments streamed, because the turn was cancelled or
 * failed. A front shows the part that came, and does not invent the call or its result.
 */
export function isDropped({ called, status, parts }: ToolView): boolean {
  return !called && parts.length === 0 && (status === 'cancelled' || status === 'error')
}

import type { Id } from '../../model/index.ts'

/** Audit entry of an answered question. It has no content but the tool's name. */
export interface AskAudit {
  ask: Id
  about: string
  how: 'answered' | 'timeout' | 'cancelled'
  option?: string
  by: string
}

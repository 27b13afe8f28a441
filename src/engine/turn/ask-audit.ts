import type { Id } from '../../model/index.ts'

/** Who answered a question, and how. Nothing in it is content but the tool's name. */
export interface AskAudit {
  ask: Id
  about: string
  how: 'answered' | 'timeout' | 'cancelled'
  option?: string
  by: string
}

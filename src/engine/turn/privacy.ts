import type { Turn } from './turn.ts'

/** True when the content of a turn may be written down: its route says so, and its client does not call it secret. */
export function keepsContent({ route, command }: Pick<Turn, 'route' | 'command'>): boolean {
  return route.journal !== 'shape' && command.environment?.privacy !== 'secret'
}

import type { TurnRow } from '../logic/types.ts'

/** The state of a turn, or its phase while it runs, as a word with a coloured dot. */
export function State({ turn }: { turn: Pick<TurnRow, 'state' | 'phase'> }) {
  return <span class={`state ${turn.state}`}>{turn.phase ?? turn.state}</span>
}

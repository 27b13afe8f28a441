import { silentTurn, type TurnScope } from '../../contract/index.ts'

/** The scope of links that belong to no turn: it ignores every report. */
export const SILENT_SCOPE: TurnScope = silentTurn({})

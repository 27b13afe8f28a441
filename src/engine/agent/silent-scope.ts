import { silentHooks, type TurnScope } from '../../contract/index.ts'

/** The scope of links that belong to no turn: it ignores every report. */
export const SILENT_SCOPE: TurnScope = silentHooks
  .request({ transport: 'stdio', front: '', method: '', path: '', carrier: {} })
  .turn({ turn: '', agent: '', back: '', session: '' })

import { silentHooks, type TurnScope } from '../../contract/index.ts'

/** What links that belong to no turn report to: nothing. */
export const SILENT_SCOPE: TurnScope = silentHooks
  .request({ transport: 'stdio', front: '', method: '', path: '', carrier: {} })
  .turn({ turn: '', agent: '', back: '', session: '' })

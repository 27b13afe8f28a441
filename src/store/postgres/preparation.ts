import { TAKE_SESSION } from './take-session.ts'
import { TURN_WRITES } from './turn-writes.ts'

/** The statements that prepare a connection, as one text. A server process may have served another connection before. */
export const PREPARATION = [
  'DEALLOCATE ALL',
  ...[TAKE_SESSION, ...TURN_WRITES].map(({ preparation }) => preparation),
].join(';\n')

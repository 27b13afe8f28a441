/** The version of a session in memory whose record has to be read again before its next turn: no store is at it. */
export const STALE = -1

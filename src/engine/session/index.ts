export type { LiveSession, SessionOwner } from './live-session.ts'
export { LiveTurns } from './live-turns.ts'
export { Sessions } from './sessions.ts'
export { Watches } from './watch.ts'

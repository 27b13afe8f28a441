export { placeOf } from './agent-place.ts'
export { elapsed, inStep, steadyFrom, stepTime } from './clock.ts'
export { AWAY, DRAINING, LOST, logMistake, MOVED, UNWRITABLE } from './faults.ts'
export {
  addHistogram,
  count,
  type Histogram,
  newHistogram,
  type Percentiles,
  percentilesOf,
} from './histogram.ts'
export { newId } from './ids.ts'
export { type Cluster, type EngineLog, type EngineParts, type HandOver, waitMs } from './parts.ts'
export { type SessionNames, sessionNames } from './session-names.ts'
export { type AgentSettings, type CurrentSettings, type EngineSettings, limitsOf, type TurnLimits } from './settings.ts'
export { STALE } from './stale.ts'
export { digestOf, randomId } from './startup.ts'
export { Tape, type Wire, type WireFrame } from './tape.ts'
export { type AbortSignalLike, timeoutUntil } from './timeout.ts'

export type { Limits, Pool, Route } from '../contract/index.ts'
export { type Carriage, predictPair } from './carry/index.ts'
export {
  type ClientAccess,
  ClientLink,
  type ClientOptions,
  StandIn,
  type StandInOptions,
} from './client/index.ts'
export {
  type AgentSettings,
  AWAY,
  type Cluster,
  type EngineLog,
  type EngineParts,
  type EngineSettings,
  type HandOver,
  waitMs,
} from './common/index.ts'
export { mayUse, type TurnWire } from './dispatch/index.ts'
export { Engine } from './engine.ts'
export type { AgentStatus, Insight, InsightShare, Observer, Overview } from './insight.ts'

export { ClientLink, type ClientOptions } from './client-link.ts'
export { Engine, type EngineLog, type EngineParts } from './engine.ts'
export type { AgentSettings, EngineSettings, Limits, PoolSettings, Route } from './settings.ts'
export { StandIn, type StandInOptions } from './stand-in.ts'

export { createApp } from './app.ts'
export type { HttpEnv, HttpParts } from './fronts.ts'
export { type KeyRule, LOCAL_TENANT } from './keys.ts'
export type { MetricsText } from './metrics.ts'

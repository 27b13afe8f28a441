export { createApp } from './app.ts'
export type { HttpEnv, HttpParts } from './fronts.ts'
export { isLoopback } from './hosts.ts'
export { type KeyRule, LOCAL_TENANT } from './keys.ts'

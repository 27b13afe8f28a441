export { Dispatcher } from './dispatcher.ts'
export type { Viewer } from './lists.ts'
export { mayUse } from './router.ts'
export { commandTakers, type Memory } from './takers.ts'

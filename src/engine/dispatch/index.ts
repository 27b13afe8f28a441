export { Dispatcher } from './dispatcher.ts'
export { mayUse } from './router.ts'
export { commandTakers } from './takers.ts'

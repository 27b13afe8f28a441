export * from './judges.ts'
export * from './misbehaviours.ts'
export * from './suite.ts'

import type { Operations } from '../src/contract/index.ts'

/** The descriptions of each protocol's endpoints, loaded when they are asked for. */
const OPERATIONS: readonly (() => Promise<{ operations: Operations }>)[] = [
  () => import('./native/operations.ts'),
  () => import('./openai/operations.ts'),
  () => import('./anthropic/operations.ts'),
  () => import('./zene/operations.ts'),
  () => import('./zot/operations.ts'),
  () => import('./openharness/operations.ts'),
  () => import('./agentproc/operations.ts'),
  () => import('./qwen/operations.ts'),
  () => import('./qwen-code/operations.ts'),
]

/** The descriptions of the endpoints of all protocols. */
export async function loadOperations(): Promise<Operations[]> {
  const loaded = await Promise.all(OPERATIONS.map((load) => load()))
  return loaded.map(({ operations }) => operations)
}

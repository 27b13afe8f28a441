import { StoreError } from '../../src/contract/index.ts'

/** The error of a store that cannot be used. */
export function storeFailure(why = 'away'): StoreError {
  return new StoreError('unreachable', 'test', why)
}

import { describe } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { storeFollowsModel } from './steps.ts'

describe('a store in SQLite', () => {
  storeFollowsModel(() => openStore({ kind: 'sqlite', path: ':memory:' }), { numRuns: 100 })
})

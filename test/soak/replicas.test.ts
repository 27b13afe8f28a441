import { expect, test } from 'vitest'
import { POSTGRES_BIN } from '../kit/postgres.ts'
import { soakReplicas } from './replicas.ts'

const SECONDS = 30
const SEED = 7

test.skipIf(POSTGRES_BIN === undefined)(
  'replicas that are killed, paused, cut off and restarted at random lose no turn, and run none twice',
  { timeout: 180_000 },
  async () => {
    const { wrong, requests, faults } = await soakReplicas(SECONDS, SEED)
    expect(wrong).toEqual([])
    expect(requests).toBeGreaterThan(0)
    expect(faults.length).toBeGreaterThan(0)
  },
)

import { expect, test } from 'vitest'
import type { Replica } from '../../src/contract/index.ts'
import { PeerChecks } from '../../src/engine/peer-checks.ts'
import { notingLog } from '../kit/plain.ts'

const replica = (owner: string, more: Partial<Replica> = {}): Replica => ({
  owner,
  epoch: 1,
  address: `http://${owner}`,
  version: '1',
  agents: {},
  draining: false,
  expired: false,
  ...more,
})

test('each replica is asked once while it is there, and complained of once', async () => {
  const asked: string[] = []
  const logged: unknown[] = []
  const check = async ({ owner, epoch }: Replica): Promise<string | undefined> => {
    asked.push(`${owner} ${epoch}`)
    return owner === 'bad' ? 'it is bad' : undefined
  }
  const log = notingLog((message, fields) => void logged.push([message, fields]))
  const checks = new PeerChecks({ leaseMs: 1, handOver: async () => 'kept', gone() {}, check }, log)
  const [good, bad] = [replica('good'), replica('bad')]
  for (const others of [[good], [good, bad], [good, bad], [bad], [good, bad], [replica('bad', { epoch: 2 })]])
    checks.heard(others)
  checks.heard([replica('gone', { expired: true })])
  await new Promise(setImmediate)
  expect(asked).toEqual(['good 1', 'bad 1', 'good 1', 'bad 2'])
  const complaint = [
    'requests cannot be sent on to a replica',
    { replica: 'bad', address: 'http://bad', why: 'it is bad' },
  ]
  expect(logged).toEqual([complaint, complaint])
})

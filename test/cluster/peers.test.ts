import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterPeers, openPeers } from '../../src/cluster/peers.ts'
import type { Replica, Store } from '../../src/contract/index.ts'

/** Another replica, which notes what it is asked and answers with a status. */
let there: Server
let asked: string[]
let status: number
let peers: ClusterPeers[]

beforeEach(async () => {
  asked = []
  status = 204
  peers = []
  there = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    outgoing.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(there, 'listening')
})
afterEach(() => {
  for (const { forwarder } of peers) forwarder.close()
  there.closeAllConnections()
  there.close()
})

const CONFIG = { secrets: [] as string[], lease: 8000, labels: [] }

/** A store that replicas share, as far as they share it: a secret, and a time. */
function shared(time = () => 1_000_000) {
  const offered: string[] = []
  const replicas = {
    secret: async (secret: string) => {
      offered.push(secret)
      return offered[0]!
    },
    time,
  }
  return { store: { replicas } as unknown as Store, offered }
}

async function open(store: Store, secrets: string[] = []): Promise<ClusterPeers> {
  const made = (await openPeers({ ...CONFIG, secrets }, store))!
  peers.push(made)
  return made
}

const replica = (more: Partial<Replica> = {}): Replica =>
  ({
    owner: 'host http://127.0.0.1:1',
    epoch: 1,
    address: `http://127.0.0.1:${(there.address() as AddressInfo).port}`,
    ...more,
  }) as Replica

const PASSAGE = { method: 'POST', path: '/x', caller: '' }

describe('the secret of replicas', () => {
  test('is one that the store keeps, where none is configured', async () => {
    const { store, offered } = shared()
    const [one, other] = [await open(store), await open(store)]
    expect(offered).toHaveLength(2)
    expect(new Set(offered).size).toBe(2)
    for (const secret of offered) expect(Buffer.from(secret, 'base64url').length).toBeGreaterThanOrEqual(16)
    expect(other.passport.check(one.passport.sign(PASSAGE), 'POST', '/x')).toBe('')
  })

  test('is the configured one, and the store is not asked', async () => {
    const { store, offered } = shared()
    const [one, same, other] = [await open(store, ['s']), await open(store, ['t', 's']), await open(store, ['u'])]
    const signed = one.passport.sign(PASSAGE)
    expect([other.passport.check(signed, 'POST', '/x'), same.passport.check(signed, 'POST', '/x')]).toEqual([
      undefined,
      '',
    ])
    expect(offered).toEqual([])
  })

  test('counts for a time that the store tells, not the machine', async () => {
    const [early, late] = [await open(shared(() => 0).store, ['s']), await open(shared(() => 60_000).store, ['s'])]
    expect(late.passport.check(early.passport.sign(PASSAGE), 'POST', '/x')).toBeUndefined()
  })
})

test('a store that replicas cannot share has none', async () => {
  expect(await openPeers(CONFIG, {} as Store)).toBeUndefined()
})

test('the time after which a replica is given up is that of the configuration', async () => {
  expect((await open(shared().store)).cluster.leaseMs).toBe(8000)
})

describe('another replica', () => {
  test.each([
    [204, 'given'],
    [200, 'kept'],
    [404, 'kept'],
    [421, 'kept'],
    [500, 'kept'],
  ])('that answers %i has the session %s', async (answer, handedOver) => {
    status = answer
    const { cluster } = await open(shared().store)
    expect(await cluster.handOver(replica(), 'a/b ü')).toBe(handedOver)
    expect(asked).toEqual(['POST /v1/cluster/sessions/a%2Fb%20%C3%BC/hand-over'])
  })

  test.each<[number, string | undefined]>([
    [204, undefined],
    [200, undefined],
    [404, undefined],
    [421, 'another one answers there: cluster.address of each replica has to be its own'],
    [401, 'it does not accept this one: cluster.secret differs'],
  ])('that answers %i to the question who it is has the trouble: %s', async (answer, trouble) => {
    status = answer
    const { cluster } = await open(shared().store)
    expect(await cluster.check(replica())).toBe(trouble)
    expect(asked).toEqual(['POST /v1/cluster/replicas/host%20http%3A%2F%2F127.0.0.1%3A1'])
  })

  test('that does not listen cannot be reached, and hands nothing over', async () => {
    const { cluster } = await open(shared().store)
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const address = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`
    gone.close()
    await once(gone, 'close')
    expect(await cluster.check(replica({ address }))).toBe(
      'it cannot be reached there: cluster.address of that replica, or the network',
    )
    expect(await cluster.handOver(replica({ address }), 's')).toBe('unreached')
    cluster.gone(replica({ address }))
  })
})

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { detourOf, type Travelling } from '../../routes/peers.ts'
import { RequestBody } from '../../routes/request-body.ts'
import type { ForwardedFate } from '../../src/cluster/index.ts'
import type { Begun, Replica } from '../../src/contract/index.ts'
import { AWAY } from '../../src/engine/index.ts'
import type { Fault } from '../../src/model/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const WAIT_MS = 5000

/** A request on its way to a replica that cannot be reached, and is there or is not. */
function travelling(isThere: boolean) {
  const fates: ((fate: ForwardedFate) => void)[] = []
  const refreshed: (() => void)[] = []
  const outgoing = { destroyed: false }
  const again: (Fault | undefined)[] = []
  const forget = vi.fn()
  const forward = (_: Replica, { failed }: { failed(fate: ForwardedFate): void }) => {
    fates.push(failed)
    return { push() {}, end() {}, abort() {} }
  }
  const refresh = (): Promise<void> => new Promise((resolve) => refreshed.push(resolve))
  const of = {
    engine: { replication: { replicas: { refresh }, forwarding: { forget }, isThere: () => isThere } },
    peers: { forwarder: { forward }, cluster: { leaseMs: WAIT_MS } },
    bindings: { incoming: {}, outgoing },
    body: new RequestBody(new PassThrough(), true),
    from: { caller: { tenant: 'local', role: 'user' }, forwarded: false },
    again: (refusal?: Fault) => void again.push(refusal),
  } as unknown as Travelling
  detourOf(of).to({ owner: 'there', epoch: 1 } as Replica, true, {} as Begun)
  /** The replica is not reached, and the others are read again; meanwhile `happens`. */
  const missed = async (happens = (): void => {}, fate: ForwardedFate = 'unreached'): Promise<void> => {
    fates.at(-1)!(fate)
    vi.advanceTimersByTime(200)
    happens()
    refreshed.at(-1)!()
    await new Promise(setImmediate)
  }
  return { missed, again, outgoing, forget, fail: fates[0]!, sent: () => fates.length }
}

test('a request to a replica that is gone begins again, a few times', async () => {
  const { missed, again, sent } = travelling(false)
  for (let times = 0; times < 4; times += 1) await missed()
  expect([again, sent()]).toEqual([[undefined, undefined, undefined, AWAY], 1])
})

test.each(['misdirected', 'unreached', 'broken'] as const)('who has sessions is looked up again: %s', (fate) => {
  const { fail, forget } = travelling(true)
  fail(fate)
  expect(forget).toHaveBeenCalledOnce()
})

test('a request that may have arrived begins again, as another one', async () => {
  const { missed, again, sent } = travelling(true)
  await missed(() => {}, 'broken')
  expect([again, sent()]).toEqual([[undefined], 1])
})

test('a request to a replica that is there is sent again, and refused when that has lasted for long', async () => {
  const { missed, again, sent } = travelling(true)
  await missed()
  expect([again, sent()]).toEqual([[], 2])
  await missed(() => vi.advanceTimersByTime(10 * WAIT_MS))
  expect([again, sent()]).toEqual([[AWAY], 2])
})

test.each([true, false])(
  'nothing begins for a client that has left meanwhile; the replica is there: %s',
  async (there) => {
    const { missed, again, outgoing, sent } = travelling(there)
    await missed(() => {
      outgoing.destroyed = true
      vi.advanceTimersByTime(10 * WAIT_MS)
    })
    expect([again, sent()]).toEqual([[], 1])
  },
)

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Connection } from '../../src/store/postgres/connection.ts'
import { Lane, type Way } from '../../src/store/postgres/lane.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A lane with a patience of 10 s to a server that can be away, and what became of its work, with the seconds it took. */
async function lane() {
  const server = { away: false }
  const ran: string[][] = []
  const connection: Pick<Connection, 'usable' | 'transaction' | 'end'> = {
    usable: true,
    async transaction(statements) {
      if (server.away) throw new Error('away')
      ran.push([...statements])
      return statements.map((n) => [{ n }])
    },
    async end() {},
  }
  const it = new Lane(async () => connection as Connection, connection as Connection, 10_000)
  const ended: Record<string, string> = {}
  const give = (name: string, way?: Way): void => {
    const from = performance.now()
    const note = (what: string) => (): void => {
      ended[name] = `${what} after ${Math.floor((performance.now() - from) / 1000)} s`
    }
    void it.run([name], way).then(note('done'), note('failed'))
  }
  /** Lets the time go on, and what is due with it. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) {
      await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(50)
    }
  }
  return { it, server, ran, ended, give, pass }
}

describe('work for a server that is away', () => {
  test('is done when it is back in time, in the order in which it was given', async () => {
    const { server, ran, ended, give, pass } = await lane()
    server.away = true
    give('a')
    await pass(4000)
    give('b')
    give('c')
    await pass(5000)
    server.away = false
    await pass(1000)
    expect(ended).toEqual({ a: 'done after 9 s', b: 'done after 5 s', c: 'done after 5 s' })
    expect(ran).toEqual([['a'], ['b', 'c']])
  })

  test('fails when the patience with the server is over, however late it was given, until something succeeds', async () => {
    const { server, ended, give, pass } = await lane()
    server.away = true
    give('a')
    await pass(3000)
    give('b')
    await pass(6000)
    expect(ended).toEqual({})
    await pass(2500)
    expect(ended).toEqual({ a: 'failed after 10 s', b: 'failed after 7 s' })
    give('c')
    await pass(100)
    expect(ended['c']).toBe('failed after 0 s')
    server.away = false
    give('d')
    await pass(100)
    expect(ended['d']).toBe('done after 0 s')
    server.away = true
    give('e')
    await pass(9000)
    expect(ended['e']).toBeUndefined()
    server.away = false
    await pass(1000)
    expect(ended['e']).toMatch(/^done/)
  })

  test('is tried again also when something that is tried once has failed before it', async () => {
    const { server, ended, give, pass } = await lane()
    server.away = true
    give('probe', { once: true })
    await pass(100)
    expect(ended).toEqual({ probe: 'failed after 0 s' })
    give('a')
    await pass(5000)
    server.away = false
    await pass(1000)
    expect(ended['a']).toMatch(/^done/)
  })
})

test('is closed when everything is done', async () => {
  const { it, give, ended } = await lane()
  give('a')
  give('b')
  await it.close()
  expect(ended).toEqual({ a: 'done after 0 s', b: 'done after 0 s' })
})

test('work about rows that others lock too comes last, in one order', async () => {
  const { ran, give, pass } = await lane()
  give('a', { shares: 'z' })
  give('b')
  give('c', { shares: 'y' })
  give('d', { shares: 'z' })
  give('e')
  await pass(50)
  expect(ran).toEqual([['b', 'e', 'c', 'a', 'd']])
})

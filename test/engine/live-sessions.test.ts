import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SessionKey } from '../../src/contract/index.ts'
import type { LiveSession } from '../../src/engine/session/live-session.ts'
import { LiveSessions, MAX_RESTING } from '../../src/engine/session/live-sessions.ts'

const POOL = { agent: { name: 'a' } }

interface Made {
  pool?: object
  occupied?: boolean
  link?: { persistent: boolean; ready: boolean }
  idleSince?: number
}

/** A session as far as the shelf knows it, which notes what is asked of it. */
function sessionOf(id: string, key: Partial<SessionKey> = {}, more: Made = {}) {
  const asked: string[] = []
  const session = {
    record: { id, tenant: 't', agent: 'a', session: id, conversation: '', ...key },
    pool: POOL,
    occupied: false,
    link: undefined,
    idleSince: 0,
    close: () => void asked.push('close'),
    release: () => void asked.push('release'),
    ...more,
  }
  return { session: session as unknown as LiveSession, asked }
}
const READY = { persistent: true, ready: true }

describe('sessions in memory', () => {
  test('are found by their id and by their key', () => {
    const shelf = new LiveSessions()
    const { session } = sessionOf('1')
    shelf.add(session)
    expect(shelf.get('1')).toBe(session)
    expect(shelf.find({ tenant: 't', agent: 'a', session: '1', conversation: '' })).toBe(session)
    expect(shelf.get('2')).toBeUndefined()
    expect([...shelf.values()]).toEqual([session])
    shelf.delete(session)
    expect([shelf.get('1'), shelf.find(session.record), [...shelf.values()]]).toEqual([undefined, undefined, []])
  })

  test('law: no two different keys are the same, wherever one part of them ends', () => {
    const part = fc.string({ unit: fc.constantFrom('a', ' ', '1', '\n'), maxLength: 4 })
    const key = fc.record({ tenant: part, agent: part, session: part, conversation: part })
    fc.assert(
      fc.property(key, key, (one, other) => {
        const shelf = new LiveSessions()
        const { session } = sessionOf('1', one)
        shelf.add(session)
        const same = JSON.stringify(one) === JSON.stringify(other)
        expect(shelf.find(other)).toBe(same ? session : undefined)
        expect(shelf.find(one)).toBe(session)
      }),
    )
  })

  test('that have taken the place of another one stay when that is forgotten', () => {
    const shelf = new LiveSessions()
    const [first, second] = [sessionOf('1'), sessionOf('1')]
    const renewed = sessionOf('2', { session: '1' })
    for (const { session } of [first, second, renewed]) shelf.add(session)
    shelf.delete(first.session)
    expect([shelf.get('1'), shelf.find(first.session.record)]).toEqual([second.session, renewed.session])
    shelf.delete(second.session)
    expect([shelf.get('1'), shelf.find(first.session.record)]).toEqual([undefined, renewed.session])
  })
})

describe('sessions that may leave', () => {
  const rest = (shelf: LiveSessions, count: number) => {
    const all = Array.from({ length: count }, (_, at) => sessionOf(String(at)))
    for (const { session } of all) {
      shelf.add(session)
      shelf.mayLeave(session)
    }
    return all
  }
  const closed = (all: ReturnType<typeof rest>): string[] =>
    all.flatMap(({ session, asked }) => (asked.includes('close') ? session.record.id : []))

  test('stay up to their number; then the one that has rested for longest goes', () => {
    const shelf = new LiveSessions()
    const all = rest(shelf, MAX_RESTING)
    expect(closed(all)).toEqual([])
    expect(closed([...all, ...rest(shelf, 0)])).toEqual([])
    const more = sessionOf('more')
    shelf.add(more.session)
    shelf.mayLeave(more.session)
    expect(closed(all)).toEqual(['0'])
  })

  test('rest from the last time that they were said to', () => {
    const shelf = new LiveSessions()
    const all = rest(shelf, MAX_RESTING)
    shelf.mayLeave(all[0]!.session)
    const more = sessionOf('more')
    shelf.add(more.session)
    shelf.mayLeave(more.session)
    expect(closed(all)).toEqual(['1'])
  })

  test('are not closed once they have work, or are gone', () => {
    const shelf = new LiveSessions()
    const all = rest(shelf, MAX_RESTING)
    shelf.stays(all[0]!.session)
    shelf.delete(all[1]!.session)
    const more = [sessionOf('x'), sessionOf('y'), sessionOf('z')]
    for (const { session } of more) {
      shelf.add(session)
      shelf.mayLeave(session)
    }
    expect(closed([...all, ...more])).toEqual(['2'])
  })

  test('are none that have left before', () => {
    const shelf = new LiveSessions()
    const gone = sessionOf('gone')
    shelf.mayLeave(gone.session)
    const all = rest(shelf, MAX_RESTING)
    expect([closed(all), gone.asked]).toEqual([[], []])
  })
})

describe('idle processes', () => {
  const other = { agent: { name: 'b' } }
  const table: readonly (readonly [string, Made])[] = [
    ['idle', { link: READY, idleSince: 5 }],
    ['starting', { link: { persistent: true, ready: false }, idleSince: 1 }],
    ['busy', { link: READY, occupied: true, idleSince: 0 }],
    ['of one turn', { link: { persistent: false, ready: true }, idleSince: 0 }],
    ['none', { idleSince: 0 }],
    ['of another pool', { link: READY, pool: other, idleSince: 0 }],
  ]
  const filled = () => {
    const shelf = new LiveSessions()
    const all = table.map(([id, made]) => sessionOf(id, {}, made))
    for (const { session } of all) shelf.add(session)
    const released = (): string[] =>
      all.flatMap(({ session, asked }) => (asked.includes('release') ? session.record.id : []))
    return { shelf, released }
  }

  test('are counted by their pool', () => {
    const { shelf } = filled()
    expect([shelf.idleIn(POOL as never), shelf.idleIn(other as never), shelf.idleIn({} as never)]).toEqual([2, 1, 0])
  })

  test('can be asked by their agent when they are ready', () => {
    const { shelf } = filled()
    expect(shelf.idleOf(POOL.agent as never)?.record.id).toBe('idle')
    expect(shelf.idleOf(other.agent as never)?.record.id).toBe('of another pool')
    expect(shelf.idleOf({ name: 'a' } as never)).toBeUndefined()
  })

  test('are given up from the one that has been idle for longest', () => {
    const { shelf, released } = filled()
    expect([shelf.evictIdle(POOL as never), released()]).toEqual([true, ['starting']])
    expect([shelf.evictIdle({} as never), released()]).toEqual([false, ['starting']])
    shelf.delete(shelf.get('starting')!)
    expect([shelf.evictIdle(POOL as never), released()]).toEqual([true, ['idle', 'starting']])
  })
})

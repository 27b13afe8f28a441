import { beforeEach, describe, expect, test } from 'vitest'
import type { Awaitable, LeaseRef, Store, TurnRecord } from '../../src/contract/index.ts'
import { MOVED } from '../../src/engine/common/faults.ts'
import { STALE } from '../../src/engine/common/stale.ts'
import { PageWriter } from '../../src/engine/record/page-writer.ts'
import { addEvent, endOf, newPage, type TurnPage } from '../../src/engine/record/turn-page.ts'
import { WriteQueue } from '../../src/engine/record/write-queue.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { Fault, TurnEvent } from '../../src/model/index.ts'
import { plainTurn, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const LEASE: LeaseRef = { owner: 'here', epoch: 3 }
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let asked: unknown[]
beforeEach(() => {
  asked = []
})

interface Setting {
  /** The store is one that replicas share. */
  shared?: boolean
  /** How the store answers: at once, later, or not as it should. */
  begin?: () => Awaitable<boolean>
  append?: () => Awaitable<void>
  end?: () => Awaitable<boolean>
  lease?: Awaitable<LeaseRef>
}

/** A writer, and what its store was asked for. */
function writing({ shared, begin = () => true, append = () => {}, end = () => true, lease = LEASE }: Setting = {}) {
  const failures: unknown[] = []
  const lost = new Set<string>()
  const store = {
    beginTurn: (record: TurnRecord, claim?: string) => {
      asked.push(['begin', record.turn, record.owner, claim])
      return begin()
    },
    appendEvents: (blocks: readonly { turn: string }[]) => {
      asked.push(['append', ...blocks.map(({ turn }) => turn)])
      return append()
    },
    endTurn: (record: TurnRecord, additions: object) => {
      asked.push(['end', record.turn, record.outcome, ...('by' in additions ? [additions.by] : [])])
      return end()
    },
    ...(shared && { replicas: {} }),
  } as unknown as Store
  const writes = new WriteQueue<Turn>((error, of) => failures.push([String(error), of?.id]))
  const watch = { keeps: ({ id }: Turn) => !lost.has(id) } as never
  const it = new PageWriter(store, writes, watch, { hold: () => lease } as never)
  /** A turn with its page, and what it was told. */
  const open = (id = 't', more: Parameters<typeof start>[0] = {}) => {
    const { turn } = plainTurn({ command: start({ turn: id, ...more }) })
    const page: TurnPage = newPage(turn, { turn: id, owner: '', epoch: 0 } as TurnRecord)
    const refusals: Fault[] = []
    turn.refuse = (why) => void refusals.push(why)
    let cuts = 0
    turn.audience.cut = () => {
      cuts += 1
    }
    const say = (): void => {
      const event: TurnEvent = { type: 'turn-started', turn: id }
      turn.take(event)
      addEvent(page, event)
    }
    const ended = (outcome: 'completed' | 'failed' = 'completed') => {
      turn.take({ type: 'turn-end', turn: id, outcome })
      return endOf(page)
    }
    return { turn, page, refusals, cuts: () => cuts, say, ended }
  }
  return { it, open, failures, lost, writes }
}

describe('the beginning of a turn', () => {
  test('is written under the lease, with the claim of its key', () => {
    const { it, open } = writing()
    const { page } = open()
    expect(it.begin(page, 'key')).toBe(true)
    expect([asked, page.begun, page.record]).toEqual([[['begin', 't', 'here', 'key']], true, { turn: 't', ...LEASE }])
  })

  test('waits for the lease, and holds up what is written after it', async () => {
    const { promise, resolve } = Promise.withResolvers<LeaseRef>()
    const { it, open } = writing({ lease: promise })
    const { page } = open()
    const other = open('u')
    const begun = it.begin(page)
    const ended = it.end(other.page, other.ended())
    await tick()
    expect(asked).toEqual([['end', 'u', 'completed']])
    resolve(LEASE)
    expect([await begun, await ended, page.record.owner]).toEqual([true, undefined, 'here'])
    expect(asked[1]).toEqual(['begin', 't', 'here', undefined])
  })

  test.each([
    ['at once', () => false],
    ['later', async () => false],
  ])('that the store refuses %s refuses the turn: another process has its session or request', async (_when, begin) => {
    const { it, open } = writing({ begin })
    const { page, refusals } = open()
    await it.begin(page)
    expect([refusals, page.turn.session.asOf]).toEqual([[MOVED], STALE])
  })

  test('that fails is told, and the turn is not refused for it', async () => {
    const { it, open, failures } = writing({ begin: () => Promise.reject(storeFailure('full')) })
    const { page, refusals } = open()
    expect(await it.begin(page)).toBe(false)
    expect([refusals, failures]).toEqual([[], [[String(storeFailure('full')), 't']]])
  })
})

describe('events', () => {
  /** Pages of which the first two have events. */
  const pages = (setting: Setting = {}) => {
    const made = writing(setting)
    const all = ['a', 'b', 'c'].map((id) => made.open(id))
    for (const one of all.slice(0, 2)) one.page.begun = true
    return { ...made, all }
  }

  test('of several turns are one write, after the beginnings that are missing', () => {
    const { it, all } = pages()
    for (const { say } of all) say()
    it.write(all.map(({ page }) => page))
    expect(asked).toEqual([
      ['begin', 'c', 'here', undefined],
      ['append', 'a', 'b', 'c'],
    ])
    expect(all.every(({ page }) => page.begun && page.lines.text === '')).toBe(true)
  })

  test('are a write for each turn where replicas share the store: one that is refused concerns no other', async () => {
    let writes = 0
    const append = async (): Promise<void> => {
      writes += 1
      if (writes === 1) throw storeFailure('refused')
    }
    const { it, all, failures } = pages({ shared: true, append })
    for (const { say } of all.slice(0, 2)) say()
    it.write(all.slice(0, 2).map(({ page }) => page))
    expect(asked).toEqual([
      ['append', 'a'],
      ['append', 'b'],
    ])
    const [refused, written] = await Promise.all(all.slice(0, 2).map(({ page }) => page.writing))
    expect([refused, written, failures]).toEqual([false, true, [[String(storeFailure('refused')), 'a']]])
  })

  test('of a turn whose record is incomplete are left out, and none begins for it', () => {
    const { it, all, lost } = pages()
    for (const { turn, say } of all) {
      say()
      lost.add(turn.id)
    }
    it.write(all.map(({ page }) => page))
    expect([asked, all[2]!.page.begun, all[0]!.page.lines.text]).toEqual([[], false, ''])
  })

  test('are none where none wait', () => {
    const { it, all } = pages()
    it.write(all.slice(0, 2).map(({ page }) => page))
    it.write([])
    expect(asked).toEqual([])
  })
})

describe('the end of a turn', () => {
  test('is written at once where nothing of it is under way', () => {
    const { it, open } = writing()
    const { page, ended, cuts } = open()
    expect(it.end(page, ended())).toBeUndefined()
    expect([asked, cuts()]).toEqual([[['end', 't', 'completed']], 0])
  })

  test('names the lease that its session belongs to', async () => {
    const { it, open } = writing()
    const { page, ended, turn } = open()
    turn.session.record.owner = LEASE
    await it.end(page, ended())
    expect(asked).toEqual([['end', 't', 'completed', LEASE]])
  })

  test.each<['completed' | 'failed', answer: boolean | 'later', cuts: number]>([
    ['completed', true, 0],
    ['completed', false, 1],
    ['completed', 'later', 1],
    ['failed', false, 0],
    ['failed', 'later', 0],
  ])('of one that has %s, which counts: %s, cuts its clients %i times', async (outcome, answer, expected) => {
    const end = (): Awaitable<boolean> => (answer === 'later' ? Promise.resolve(false) : answer)
    const { it, open } = writing({ end })
    const { page, ended, cuts } = open()
    await it.end(page, ended(outcome))
    expect(cuts()).toBe(expected)
  })

  const once = { key: 'k', duplicate: 'join', replay: 'success' } as const
  test.each([
    ['here', {}, {}, 0],
    ['here, under a key', {}, { once }, 1],
    ['in a store that replicas share', { shared: true }, {}, 1],
  ])('that cannot be written %s cuts its clients %4$i times, and is told', async (_where, setting, more, expected) => {
    for (const end of [() => Promise.reject(storeFailure('full')), () => Promise.reject(new TypeError('mistake'))]) {
      const { it, open } = writing({ ...setting, end })
      const { page, ended, cuts } = open('t', more)
      await expect(it.end(page, ended())).rejects.toThrow()
      expect(cuts()).toBe(expected)
    }
    const { it, open } = writing({
      ...setting,
      end: () => {
        throw storeFailure('full')
      },
    })
    const { page, ended, cuts } = open('t', more)
    expect(() => it.end(page, ended())).toThrow()
    expect(cuts()).toBe(expected)
  })
})

describe('a store that replicas share', () => {
  test('is given the end once it has what was written before', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { it, open } = writing({ shared: true, begin: () => promise })
    const { page, ended, cuts } = open()
    const begun = it.begin(page)
    expect(page.writing).toBeInstanceOf(Promise)
    const end = it.end(page, ended())
    await tick()
    expect(asked.map((one) => (one as string[])[0])).toEqual(['begin'])
    resolve(true)
    await begun
    await end
    expect([asked.at(-1), cuts(), page.writing]).toEqual([['end', 't', 'completed'], 0, undefined])
  })

  test.each([
    ['completed', [], 1],
    ['failed', [['end', 't', 'failed']], 0],
  ] as const)('that lost a write before is given no end but a failure: %s', async (outcome, ends, expected) => {
    const { it, open } = writing({ shared: true, begin: () => Promise.reject(storeFailure('full')) })
    const { page, ended, cuts } = open()
    void it.begin(page)
    await it.end(page, ended(outcome))
    expect([asked.slice(1), cuts()]).toEqual([ends, expected])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentPool } from '../../src/engine/agent/agent-pool.ts'
import { TurnLine } from '../../src/engine/session/turn-line.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

const POOL = new AgentPool(plainAgent(''), () => false)

/** A line whose server notes what it serves, and serves each turn until it is told to stop. */
function line() {
  const begun: string[] = []
  let open = 0
  let most = 0
  let rests = 0
  let stop: ((how: 'done' | 'throws') => void) | undefined
  const turns = new TurnLine({
    async serve(turn) {
      begun.push(turn.id)
      most = Math.max(most, ++open)
      const how = await new Promise<'done' | 'throws'>((resolve) => {
        stop = resolve
      })
      stop = undefined
      open -= 1
      if (how === 'throws') throw new Error('broken')
      turn.take({ type: 'turn-end', turn: turn.id, outcome: 'completed' })
    },
    rest: () => {
      rests += 1
    },
  })
  const made = (id: string): Turn => {
    const { turn } = plainTurn({ command: start({ turn: id }) })
    return turn
  }
  const finish = async (how: 'done' | 'throws'): Promise<void> => {
    stop?.(how)
    await new Promise((after) => setImmediate(after))
  }
  return { turns, made, finish, seen: () => ({ begun, most, rests }) }
}

describe('the line of a session', () => {
  test('runs no turn before it is ready, and none before the one in front of it', async () => {
    const { turns, made, finish, seen } = line()
    const [first, second] = [made('1'), made('2')]
    turns.enqueue(first, POOL)
    turns.enqueue(second, POOL)
    turns.ready(second)
    expect([seen().begun, turns.length, turns.running]).toEqual([[], 2, undefined])
    turns.ready(first)
    expect([seen().begun, turns.length, turns.running]).toEqual([['1'], 2, first])
    await finish('done')
    expect([seen().begun, turns.length, turns.running]).toEqual([['1', '2'], 1, second])
    await finish('done')
    expect([turns.length, turns.running, seen().rests]).toEqual([0, undefined, 1])
  })

  test('goes on when the turn in front leaves before it is ready, and rests when it was the last', async () => {
    const { turns, made, finish, seen } = line()
    const [first, second] = [made('1'), made('2')]
    turns.enqueue(first, POOL)
    turns.enqueue(second, POOL)
    turns.ready(second)
    turns.remove(first)
    expect(seen().begun).toEqual(['2'])
    await finish('done')
    const third = made('3')
    turns.enqueue(third, POOL)
    turns.remove(third)
    expect([seen().rests, turns.length]).toEqual([2, 0])
  })

  test('ends a turn whose server fails, and goes on', async () => {
    const { turns, made, finish, seen } = line()
    const [first, second] = [made('1'), made('2')]
    for (const turn of [first, second]) {
      turns.enqueue(turn, POOL)
      turns.ready(turn)
    }
    await finish('throws')
    expect(first.view.end).toMatchObject({ outcome: 'failed', fault: { code: 'internal' } })
    expect(seen().begun).toEqual(['1', '2'])
    await finish('done')
  })

  test('whatever happens: one turn at a time, first come, first served, no place leaked', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('enqueue' as const) }),
      fc.record({ do: fc.constantFrom('ready' as const, 'remove' as const), which: fc.nat({ max: 9 }) }),
      fc.record({ do: fc.constant('finish' as const), how: fc.constantFrom('done' as const, 'throws' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { turns, made, finish, seen } = line()
        const all: Turn[] = []
        const left = new Set<string>()
        for (const one of steps) {
          if (one.do === 'enqueue') {
            const turn = made(String(all.length))
            all.push(turn)
            turns.enqueue(turn, POOL)
          } else if (one.do === 'finish') await finish(one.how)
          else {
            const turn = all[one.which]
            if (!turn) continue
            if (one.do === 'ready') turns.ready(turn)
            else {
              if (!seen().begun.includes(turn.id)) left.add(turn.id)
              turns.remove(turn)
            }
          }
        }
        for (const turn of all) turns.ready(turn)
        for (let more = 0; more <= all.length; more += 1) await finish('done')
        const stayed = all.map(({ id }) => id).filter((id) => !left.has(id))
        expect(seen().begun).toEqual(stayed)
        expect(all.filter(({ id, ended }) => !ended && stayed.includes(id))).toEqual([])
        expect([turns.length, turns.running, seen().most]).toEqual([0, undefined, Math.min(1, stayed.length)])
        expect(seen().rests).toBeGreaterThanOrEqual(Math.min(1, all.length))
      }),
    )
  })
})

describe('a turn that finds no room in the line', () => {
  /** A line with so many turns, of which the first one runs. */
  const lineOf = (count: number) => {
    const it = line()
    for (let id = 0; id < count; id += 1) {
      const turn = it.made(String(id))
      it.turns.enqueue(turn, POOL)
      it.turns.ready(turn)
    }
    return it
  }
  const message = (turns: TurnLine, ...asked: Parameters<TurnLine['refusal']>): string | undefined => {
    const refused = turns.refusal(...asked)
    if (refused) expect(refused).toMatchObject({ code: 'session-busy', retryable: true })
    return refused?.message
  }
  const RUNS = 'A turn of this session runs; try again when it is done.'
  const waits = (what: string): string => `${what} for this session already; try again later.`

  test.each([
    [0, 0, undefined],
    [1, 0, RUNS],
    [2, 0, RUNS],
    [1, 1, undefined],
    [2, 1, waits('A turn waits')],
    [2, 2, undefined],
    [3, 2, waits('2 turns wait')],
    [4, 2, waits('2 turns wait')],
    [64, 64, undefined],
    [65, 64, waits('64 turns wait')],
  ])('behind %i turns, of which %i may wait, is told: %s', (count, limit, told) => {
    expect(message(lineOf(count).turns, limit)).toBe(told)
  })

  test.each([
    [0, 1, 0, RUNS],
    [0, 1, 1, undefined],
    [1, 1, 1, waits('A turn waits')],
    [1, 1, 2, undefined],
    [1, 2, 2, waits('2 turns wait')],
  ])('behind %i turns here and %i elsewhere, of which %i may wait, is told: %s', (count, more, limit, told) => {
    expect(message(lineOf(count).turns, limit, more)).toBe(told)
  })

  test('does not count one that has its end and whose process still exits', async () => {
    const { turns, made } = lineOf(1)
    expect(turns.length).toBe(1)
    turns.running!.take({ type: 'turn-end', turn: '0', outcome: 'completed' })
    expect([turns.length, message(turns, 0)]).toEqual([0, undefined])
    // It runs all the same: the next one waits for its process.
    turns.enqueue(made('1'), POOL)
    expect([turns.running?.id, turns.length, message(turns, 0)]).toEqual(['0', 1, RUNS])
  })
})

test('a turn that is not in the line leaves it as it is', () => {
  const { turns, made, seen } = line()
  const waiting = made('1')
  turns.enqueue(waiting, POOL)
  turns.remove(made('2'))
  turns.ready(made('3'))
  expect([turns.length, seen().begun, seen().rests]).toEqual([1, [], 0])
  turns.ready(waiting)
  turns.remove(waiting)
  expect([turns.running, seen().rests]).toEqual([waiting, 0])
})

test('a server that fails says why', async () => {
  const { turns, made, finish } = line()
  const turn = made('1')
  turns.enqueue(turn, POOL)
  turns.ready(turn)
  await finish('throws')
  expect(turn.view.end?.fault).toEqual({
    code: 'internal',
    message: 'The turn was stopped by an internal error (Error: broken).',
    retryable: false,
  })
})

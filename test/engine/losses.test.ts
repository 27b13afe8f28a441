import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { turnInfo } from '../../src/engine/turn/index.ts'
import { join, steer } from '../../src/engine/turn/joining.ts'
import { type Id, type Loss, mergedLosses, type SidedLoss } from '../../src/model/index.ts'
import { ANSWER, PlainHost, plainAgent, plainTurn, start } from '../kit/plain.ts'

/** Something that happens to a turn and its exchanges. Exchange 0 is the first one. */
type Step =
  | { what: 'agent-loss'; loss: Loss }
  | { what: 'client-loss'; loss: Loss; exchange: number }
  | { what: 'join'; after: number }
  | { what: 'steer' }
  | { what: 'retry' }
  | { what: 'failover' }

const loss: fc.Arbitrary<Loss> = fc.record({
  kind: fc.constantFrom('dropped' as const, 'weakened' as const),
  item: fc.constantFrom('plan' as const, 'usage' as const, 'ext' as const),
  why: fc.constantFrom('no-place' as const, 'policy' as const),
  count: fc.integer({ min: 1, max: 3 }),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('agent-loss' as const), loss }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('client-loss' as const), loss, exchange: fc.nat(3) }) },
  fc.record({ what: fc.constant('join' as const), after: fc.nat(2) }),
  fc.constant<Step>({ what: 'steer' }),
  fc.constant<Step>({ what: 'retry' }),
  fc.constant<Step>({ what: 'failover' }),
)

/** Losses by their kind, item and reason, whatever their order. */
function counted(losses: readonly Loss[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind, item, why, count } of losses) {
    const key = `${kind} ${item} ${why}`
    counts[key] = (counts[key] ?? 0) + count
  }
  return counts
}

const ofSide = (losses: readonly SidedLoss[], wanted: SidedLoss['side']) => losses.filter(({ side }) => side === wanted)

const newExchange = (id: Id): Exchange => new Exchange(start({ turn: id }, id), ANSWER, new PlainHost())

/** What should have been lost: by the turn's agent in the attempt that counts, and by each exchange. */
interface Expected {
  agent: Loss[]
  own: Loss[][]
}

/** Plays the steps after the losses of the request, which are there before the turn is. */
async function played(request: readonly Loss[], steps: readonly Step[]) {
  const { turn, exchange, told } = plainTurn({ requestLosses: request })
  const exchanges = [exchange]
  const expected: Expected = { agent: [], own: [[...request]] }
  const add = (one: Exchange): void => {
    exchanges.push(one)
    expected.own.push([])
  }
  for (const { what, ...of } of steps as readonly (Step & Partial<{ loss: Loss; exchange: number; after: number }>)[]) {
    if (what === 'agent-loss') {
      turn.loss(of.loss!)
      expected.agent.push(of.loss!)
    } else if (what === 'client-loss') {
      const at = of.exchange! % exchanges.length
      exchanges[at]!.lost(of.loss!)
      expected.own[at]!.push(of.loss!)
    } else if (what === 'join') {
      add(newExchange(`j${exchanges.length}`))
      await join(turn, exchanges.at(-1)!, of.after!)
    } else if (what === 'steer') {
      add(newExchange(`s${exchanges.length}`))
      steer(turn, exchanges.at(-1)!, start({}, `s${exchanges.length}`))
    } else {
      if (what === 'retry') turn.losses.clear()
      else turn.moveTo(plainAgent('', { name: 'other' }))
      expected.agent = []
    }
  }
  return { turn, exchanges, expected, told }
}

test('law: every exchange reports the losses of its turn towards the agent, and its own towards its client', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(loss, { maxLength: 3 }), fc.array(step, { maxLength: 20 }), async (request, steps) => {
      const { turn, exchanges, expected } = await played(request, steps)
      exchanges.forEach((exchange, at) => {
        expect(counted(exchange.losses)).toEqual(counted([...expected.agent, ...expected.own[at]!]))
        expect(counted(exchange.ownLosses)).toEqual(counted(expected.own[at]!))
      })
      const record = turn.recordedLosses
      expect(counted(ofSide(record, 'agent'))).toEqual(counted(expected.agent))
      expect(counted(ofSide(record, 'client'))).toEqual(counted(expected.own[0]!))
    }),
  )
})

test('law: a replay from the record reports what was lost towards the agent, and its own', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.array(loss, { maxLength: 4 }), async (steps, own) => {
      const { turn, expected } = await played([], steps)
      const replay = newExchange('r')
      replay.past = { turn: turn.id, agent: 'a', losses: JSON.parse(JSON.stringify(turn.recordedLosses)) }
      for (const one of own) replay.lost(one)
      expect(counted(replay.losses)).toEqual(counted([...expected.agent, ...own]))
    }),
  )
})

test('law: the turn is listed with the same losses while it runs and from its record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { turn } = await played([], steps)
      const { id: turnId, recordedLosses: losses } = turn
      const about = { session: 'S', tenant: 'local', agent: 'a', front: 'plain', owner: 'o', epoch: 1 }
      const record = { ...about, turn: turnId, startedAt: 1, delivered: false, losses }
      const listed = { live: turnInfo(record, 's', turn).losses, recorded: turnInfo(record, 's', undefined).losses }
      expect(listed.live ?? []).toEqual(mergedLosses(losses))
      expect(listed.recorded).toEqual(mergedLosses(losses))
    }),
  )
})

test('the losses of the first client and of the agent are counted for the observers, once each', async () => {
  const lost = (item: 'plan' | 'usage' | 'ext'): Loss => ({ kind: 'dropped', item, why: 'no-place', count: 1 })
  const { told } = await played(
    [lost('ext')],
    [
      { what: 'join', after: 0 },
      { what: 'client-loss', loss: lost('plan'), exchange: 0 },
      { what: 'client-loss', loss: lost('plan'), exchange: 1 },
      { what: 'agent-loss', loss: lost('usage') },
    ],
  )
  const observed = told.flatMap(([what, about]) => (what === 'loss' ? [(about as Loss).item] : []))
  expect(observed).toEqual(['ext', 'plan', 'usage'])
})

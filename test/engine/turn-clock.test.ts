import { expect, test } from 'vitest'
import { type CallScope, silentHooks, type TurnScope } from '../../src/contract/index.ts'
import { TurnClock } from '../../src/engine/turn/turn-clock.ts'
import { liveInfo, turnInfo } from '../../src/engine/turn/turn-info.ts'
import { plainTurn, start } from '../kit/plain.ts'

const info = { turn: 't', agent: 'a', back: 'zot', session: 's' }

/** A clock that is moved, what its observers heard, and how often it said that the turn got further. */
function clocked(route?: string) {
  const heard: unknown[][] = []
  const time = { now: 100, changes: 0 }
  const call: CallScope = {
    carrier: { traceparent: 'call' },
    started: (about) => heard.push(['started', about]),
    head: ({ status }) => heard.push(['head', status]),
    ready: () => heard.push(['ready']),
    end: ({ why }) => heard.push(['call end', why]),
  }
  const silent = silentHooks.request({ transport: 'stdio', front: '', method: '', path: '', carrier: {} }).turn(info)
  const inner: TurnScope = {
    ...silent,
    carrier: { traceparent: 'turn' },
    call: () => call,
    linked: (origin, process) => heard.push(['linked', origin, process?.scope === call]),
    queued: (ms) => heard.push(['queued', ms]),
    note: (what, about) => heard.push(['note', what, about]),
    moved: (to) => heard.push(['moved', to]),
    loss: ({ item }) => heard.push(['loss', item]),
    tool: ({ type }) => heard.push(['tool', type]),
  }
  const clock = new TurnClock({
    inner,
    info: { ...info, ...(route !== undefined && { route }) },
    front: 'zene',
    now: () => time.now,
    changed: () => {
      time.changes += 1
    },
  })
  return { clock, heard, time }
}

test('the stretches of a turn are measured from the one before', () => {
  const { clock, heard, time } = clocked('channel=x')
  expect([clock.phase, clock.front, clock.carrier]).toEqual(['queued', 'zene', { traceparent: 'turn' }])
  time.now = 130
  clock.queued(30)
  expect(clock.phase).toBe('starting')
  const call = clock.call({ kind: 'process', command: 'x' })
  time.now = 150
  call.started({ pid: 1 })
  time.now = 175
  clock.firstEvent({ type: 'turn-started', turn: 't' })
  expect(clock.phase).toBe('working')
  expect(clock.measures).toEqual({
    back: 'zot',
    route: 'channel=x',
    timings: { queue: 30, agentStart: 20, firstEvent: 45 },
  })
  expect([heard, time.changes]).toEqual([
    [
      ['queued', 30],
      ['started', { pid: 1 }],
    ],
    3,
  ])
})

test('an agent that says later that it is ready has started only then', () => {
  const { clock, time } = clocked()
  const call = clock.call({ kind: 'process', command: 'x' })
  time.now = 110
  call.started({})
  time.now = 160
  call.ready()
  expect(clock.measures.timings.agentStart).toBe(60)
})

test('a turn that moves waits again, and both waits count', () => {
  const { clock, time } = clocked()
  time.now = 110
  clock.queued(10)
  time.now = 200
  clock.moved({ agent: 'b', back: 'qwen' })
  expect(clock.phase).toBe('queued')
  time.now = 205
  clock.queued(105)
  expect(clock.measures).toEqual({ back: 'qwen', timings: { queue: 15 } })
})

test.each([
  ['asked', 'asking'],
  ['settled', 'working'],
  ['parked', 'parked'],
  ['cancel', 'queued'],
] as const)('after the note %s a turn is %s', (note, phase) => {
  const { clock, heard } = clocked()
  clock.note(note, 'about')
  expect(clock.phase).toBe(phase)
  expect(heard).toEqual([['note', note, 'about']])
})

test('a process that outlives its turn measures it no more, and is still observed', () => {
  const { clock, heard, time } = clocked()
  const call = clock.call({ kind: 'process', command: 'x' })
  const { turn } = plainTurn()
  turn.view.apply({ type: 'usage', turn: turn.id, scope: 'turn', usage: { input: 3 } }, 0)
  clock.end(turn.view)
  time.now = 500
  call.ready()
  call.end({ why: 'closed' })
  expect(clock.measures).toEqual({ back: 'zot', timings: {}, usage: { input: 3 } })
  expect(heard).toEqual([['ready'], ['call end', 'closed']])
})

test('observers see the scope of their own call, also of a process that another turn has started', () => {
  const { clock, heard } = clocked()
  const scope = clock.call({ kind: 'process', command: 'x' })
  clock.linked('kept', { scope, pid: 4 })
  clock.linked('new')
  expect(heard).toEqual([
    ['linked', 'kept', true],
    ['linked', 'new', false],
  ])
})

test('a running turn is listed with its phase, an ended one with its end', () => {
  const { turn } = plainTurn({ command: start({ request: 'r' }) })
  const base = { turn: 't', agent: 'plain', front: 'plain', session: 's', request: 'r', startedAt: 5, back: 'plain' }
  expect(liveInfo(turn)).toEqual({ ...base, state: 'running', phase: 'queued' })
  turn.fail({ code: 'overloaded', message: 'x', retryable: true })
  const ended = { ...base, state: 'failed', endedAt: 5, code: 'overloaded', error: 'x', timings: { total: 0 } }
  expect(liveInfo(turn)).toEqual(ended)
})

test('a recorded turn is listed as it is kept, unless it runs here', () => {
  const record = {
    turn: 't',
    session: 'kept',
    tenant: 'local',
    agent: 'a',
    front: 'zot',
    owner: 'o',
    epoch: 1,
    startedAt: 1,
    delivered: false,
  }
  const base = { turn: 't', agent: 'a', front: 'zot', session: 's', startedAt: 1 }
  expect(turnInfo(record, 's', undefined)).toEqual({ ...base, state: 'running' })
  const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const
  const losses = [{ ...loss, side: 'agent' }] as const
  const measures = { back: 'zene', timings: { queue: 2 }, shape: true } as const
  expect(
    turnInfo({ ...record, endedAt: 9, outcome: 'failed', code: 'timeout', losses, measures }, 's', undefined),
  ).toEqual({
    ...base,
    state: 'failed',
    endedAt: 9,
    code: 'timeout',
    losses: [loss],
    back: 'zene',
    timings: { queue: 2, total: 8 },
  })
  const { turn } = plainTurn()
  expect(turnInfo(record, 'other', turn)).toEqual(liveInfo(turn))
  turn.cancel()
  expect(turnInfo(record, 's', turn).state).toBe('running')
})

import { describe, expect, test } from 'vitest'
import type { TurnRecord } from '../../src/contract/index.ts'
import {
  heardBy,
  listedTurn,
  requestCount,
  sessionRecord,
  spentSum,
  turnRecord,
  turnRow,
} from '../../src/store/rows.ts'

const SESSION = {
  id: 'S1',
  tenant: 'acme',
  agent: 'coder',
  session: 's',
  conversation: '',
  bound: null,
  created_at: 1,
  used_at: 2,
  epoch: 0,
  settings: null,
  renamed: 0,
  last: null,
}
const RECORD = { id: 'S1', tenant: 'acme', agent: 'coder', session: 's', conversation: '', createdAt: 1, usedAt: 2 }

describe('the record of a session', () => {
  test('leaves out what its row has not', () => {
    expect(sessionRecord(SESSION)).toEqual(RECORD)
    expect(Object.keys(sessionRecord(SESSION)).sort()).toEqual(Object.keys(RECORD).sort())
  })

  test.each([
    [{ bound: 'mine' }, { bound: 'mine' }],
    [{ bound: '' }, { bound: '' }],
    [{ epoch: 7 }, { epoch: 7 }],
    [{ renamed: 1 }, { renamed: true }],
    [{ settings: '{"model":"big"}' }, { settings: { model: 'big' } }],
    [{ last: '["t1","host:1",0]' }, { last: { turn: 't1', owner: 'host:1', ended: false } }],
    [{ last: '["t1","host:1",1]' }, { last: { turn: 't1', owner: 'host:1', ended: true } }],
    [
      { session: '\ufdd0"a\\u0000"', conversation: '\ufdd0"\\ud800"' },
      { session: 'a\0', conversation: '\ud800' },
    ],
  ])('of a row with %j has %j', (columns, members) => {
    expect(sessionRecord({ ...SESSION, ...columns })).toEqual({ ...RECORD, ...members })
  })
})

const TURN: TurnRecord = {
  turn: 't1',
  session: 'S1',
  tenant: 'acme',
  agent: 'coder',
  front: 'zot',
  owner: 'host:1',
  epoch: 3,
  startedAt: 10,
  delivered: false,
}
const RUNNING = {
  turn: 't1',
  session: 'S1',
  tenant: 'acme',
  agent: 'coder',
  front: 'zot',
  owner: 'host:1',
  epoch: 3,
  request: null,
  started_at: 10,
}

describe('the record of a turn', () => {
  test('that runs has what its row has', () => {
    expect(turnRecord(RUNNING)).toEqual(TURN)
    expect(turnRecord({ ...RUNNING, request: 'r-7' })).toEqual({ ...TURN, request: 'r-7' })
  })

  test('that has ended has its end', () => {
    const row = {
      ...RUNNING,
      ended_at: 20,
      outcome: 'failed',
      code: 'timeout',
      delivered: 1,
      losses: '[{"kind":"dropped","item":"plan","why":"no-place","count":2,"side":"client"}]',
      measures: '{"back":"zot","timings":{}}',
      usage: '{"input":3}',
    }
    expect(turnRecord(row)).toEqual({
      ...TURN,
      endedAt: 20,
      outcome: 'failed',
      code: 'timeout',
      delivered: true,
      losses: [{ kind: 'dropped', item: 'plan', why: 'no-place', count: 2, side: 'client' }],
      measures: { back: 'zot', timings: {}, usage: { input: 3 } },
    })
  })

  test('has the usage that rows of earlier versions keep among the measures', () => {
    const measures = '{"back":"zot","timings":{},"usage":{"input":1}}'
    expect(turnRecord({ ...RUNNING, measures }).measures?.usage).toEqual({ input: 1 })
    expect(turnRecord({ ...RUNNING, measures, usage: '{"input":2}' }).measures?.usage).toEqual({ input: 2 })
  })
})

describe('the row of an ended turn', () => {
  test('has NULL for what is absent or empty', () => {
    const row = turnRow({ ...TURN, losses: [] }, { messages: [] })
    expect(row).toEqual([
      10,
      't1',
      'acme',
      'coder',
      'zot',
      'host:1',
      3,
      null,
      10,
      10,
      'failed',
      null,
      0,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      'S1',
    ])
  })

  test('keeps the usage apart from the other measures', () => {
    const measures = { back: 'zot', timings: {}, usage: { input: 3 } }
    const message = { role: 'user', parts: [{ type: 'text', text: 'a' }], at: 1 } as const
    const ended = { ...TURN, endedAt: 20, outcome: 'completed', delivered: true, request: 'r', measures } as const
    const row = turnRow(ended, {
      messages: [message],
      events: { turn: 't1', seq: 4, lines: 'L' },
      known: 'k',
      wire: 'W',
    })
    expect([row[0], row[9], ...row.slice(10)]).toEqual([
      20,
      20,
      'completed',
      null,
      1,
      null,
      '{"back":"zot","timings":{}}',
      '{"input":3}',
      4,
      JSON.stringify([message]),
      'L',
      'k',
      'W',
      'S1',
    ])
  })
})

describe('the lease of a session', () => {
  test.each([
    [{}, undefined],
    [{ owner: null, owner_epoch: null }, undefined],
    [
      { owner: 'host:1', owner_epoch: 7 },
      { owner: 'host:1', epoch: 7 },
    ],
    [
      { owner: '', owner_epoch: 0 },
      { owner: '', epoch: 0 },
    ],
  ])('of a row with %j is %j', (columns, owner) => {
    expect(sessionRecord({ ...SESSION, ...columns }).owner).toEqual(owner)
  })
})

describe('the agent that a session was with', () => {
  test.each([
    [{ used: 0, measures: '{"back":"zot"}' }, undefined],
    [{ used: null, measures: null }, undefined],
    [{ used: 1, measures: null }, {}],
    [{ used: 1, measures: '{"timings":{}}' }, {}],
    [{ used: 1, measures: '{"back":"zot","timings":{}}' }, { back: 'zot' }],
    [
      { used: 1, measures: '{"back":"zot","place":"p"}' },
      { back: 'zot', place: 'p' },
    ],
    [{ used: 1, measures: '{"place":"p"}' }, { place: 'p' }],
  ])('of a row with %j is %j', (row, heard) => {
    expect(heardBy(row)).toStrictEqual(heard)
  })
})

describe('the losses of a turn', () => {
  const loss = (item: string, side?: string): object => ({
    kind: 'dropped',
    item,
    why: 'no-place',
    count: 1,
    ...(side && { side }),
  })
  const sides = (losses: readonly object[], measures?: object): unknown =>
    turnRecord({
      ...RUNNING,
      losses: JSON.stringify(losses),
      ...(measures && { measures: JSON.stringify(measures) }),
    }).losses?.map(({ item, side }) => [item, side])

  test('have their side', () => {
    expect(sides([loss('plan', 'client'), loss('task', 'agent')])).toEqual([
      ['plan', 'client'],
      ['task', 'agent'],
    ])
  })

  test('that an older version recorded are the client’s at the end, as many as its measures repeat', () => {
    const all = [loss('plan'), loss('task'), loss('step')]
    expect(sides(all, { toClient: [loss('step')] })).toEqual([
      ['plan', 'agent'],
      ['task', 'agent'],
      ['step', 'client'],
    ])
    expect(sides(all, { toClient: all })).toEqual([
      ['plan', 'client'],
      ['task', 'client'],
      ['step', 'client'],
    ])
    expect(sides(all, { back: 'zot' })).toEqual([
      ['plan', 'agent'],
      ['task', 'agent'],
      ['step', 'agent'],
    ])
    expect(sides(all)).toEqual(sides(all, { back: 'zot' }))
  })

  test('are absent where none were recorded, and written as they are', () => {
    expect(turnRecord({ ...RUNNING, losses: null })).not.toHaveProperty('losses')
    const losses = [{ ...loss('plan', 'client') }] as never
    expect(turnRow({ ...TURN, losses }, {})[13]).toBe(JSON.stringify(losses))
  })
})

describe('a row', () => {
  test('of a list has what the client calls the session', () => {
    expect(listedTurn({ ...RUNNING, named: '\ufdd0"a\\u0000"' })).toEqual({ ...TURN, named: 'a\0' })
  })

  test('of a sum, and of a count', () => {
    expect(spentSum({ tokens: 1, estimated: 2, cost_usd: 3 })).toEqual({ tokens: 1, estimated: 2, costUsd: 3 })
    expect(requestCount({ process: 'p', name: 'n', count: 4, more: 5 })).toEqual({ process: 'p', name: 'n', count: 4 })
  })

  test('of a turn that has not ended is written as one that failed when it began', () => {
    const row = turnRow(TURN, {})
    expect([row[0], row[9], row[10]]).toEqual([TURN.startedAt, TURN.startedAt, 'failed'])
  })
})

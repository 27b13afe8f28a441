import { describe, expect, test } from 'vitest'
import {
  answeredHistory,
  flatToolName,
  type ModelAnswer,
  type ModelApi,
  type ModelCall,
  ModelTurn,
} from '../../src/codec-kit/index.ts'
import type { Call, WireText } from '../../src/contract/index.ts'
import {
  type AgentEvent,
  type Command,
  type Fault,
  fault,
  type Loss,
  type Message,
  type Part,
  TextRun,
  type TurnStart,
} from '../../src/model/index.ts'

const START: Command & TurnStart = {
  exchange: 'x',
  type: 'turn-start',
  turn: 't1',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
}

/** A wire on which an answer is one JSON value: its end, its calls and its tokens. */
class PlainAnswer implements ModelAnswer {
  over = false
  ending: ModelAnswer['ending']
  usage: { input: number } | undefined
  calls: readonly ModelCall[] = []

  take(data: string): Fault | undefined {
    const { stop, failed, calls = [], input, wrong, more } = JSON.parse(data) as Record<string, never>
    if (wrong) return fault('protocol-violation', wrong)
    this.ending = failed ? fault('provider-error', failed) : stop
    this.calls = (calls as [string, ModelCall['executor']][]).map(([tool, executor]) => {
      return { tool, name: `name-${tool}`, args: '{}', executor }
    })
    this.usage = input === undefined ? undefined : { input }
    this.over = !more
    return undefined
  }

  say(): void {}

  texts(wire: WireText): TextRun {
    wire.at = wire.text.length
    return new TextRun({ type: 'text-delta', turn: 't1', message: 'm', text: wire.text })
  }

  end(): void {}

  write(): string[] {
    return [`answer of ${this.calls.length} calls`]
  }
}

const api: ModelApi = {
  beginning: ['hi'],
  input: (parts) => parts.map((part) => (part.type === 'text' ? part.text : '')),
  results: (results) => [results.map(({ tool, status }) => `${tool} ${status}`).join(', ')],
  request: (conversation) => ({ path: '/ask', headers: { 'x-version': '1' }, body: conversation.join('|') }),
  answer: () => new PlainAnswer(),
  refusal: (body, status) => fault('provider-error', `${status} ${body}`),
  change: () => {},
}

function open() {
  const events: AgentEvent[] = []
  const calls: Extract<Call, { kind: 'http' }>[] = []
  const losses: Loss[] = []
  const turn = new ModelTurn(
    START,
    {
      emit: (event) => events.push(event),
      open: (call) => calls.push(call as Extract<Call, { kind: 'http' }>),
      send: () => {},
      end: () => {},
      broken: () => {},
      report: (loss) => losses.push(loss),
      newId: () => 'id',
    },
    () => api,
  )
  turn.begin()
  const say = (answer: object) => turn.frame(JSON.stringify(answer))
  const reply = (ask: string, status: 'ok' | 'error' = 'ok') =>
    turn.reply({ exchange: 'x', type: 'ask-reply', target: 'running', ask, reply: { kind: 'tool', status, parts: [] } })
  const steer = (text: string) =>
    turn.steer({ exchange: 'x', type: 'turn-steer', target: 'running', input: [{ type: 'text', text }] })
  return { turn, events, calls, losses, say, reply, steer, bodies: () => calls.map(({ body }) => body) }
}

const types = (events: readonly AgentEvent[]) => events.map(({ type }) => type)

describe('a turn of a model', () => {
  test('is one request when its answer has no calls', () => {
    const { calls, events, say } = open()
    expect(calls).toEqual([
      {
        call: '1',
        kind: 'http',
        method: 'POST',
        path: '/ask',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-version': '1' },
        body: 'hi',
        answer: 'body',
      },
    ])
    say({ more: true, input: 1 })
    say({ stop: 'max-tokens', input: 2 })
    expect(events).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'usage', turn: 't1', scope: 'turn', usage: { input: 2 } },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'max-tokens' },
    ])
  })

  test('has one more request for each round of calls, with the results in the order of the calls', () => {
    const { bodies, events, say, reply } = open()
    say({
      stop: 'end',
      input: 3,
      calls: [
        ['a', 'client'],
        ['b', 'agent'],
        ['c', 'client'],
      ],
    })
    expect(types(events)).toEqual(['turn-started', 'usage', 'ask', 'tool-end', 'ask'])
    expect(events[1]).toMatchObject({ scope: 'call', usage: { input: 3 } })
    reply('c', 'error')
    reply('nobody')
    expect(bodies()).toHaveLength(1)
    reply('a')
    expect(bodies().at(-1)).toBe('hi|answer of 3 calls|a ok, b error, c error')
    say({ stop: 'end', input: 4 })
    expect(events.at(-2)).toMatchObject({ type: 'usage', scope: 'turn', usage: { input: 7 } })
  })

  test('gives pieces of text of the answer that it reads', () => {
    const { turn, say } = open()
    const wire = (call?: string): WireText => ({ text: 'hi', at: 0, before: '', after: '', call })
    say({ more: true })
    expect(['2', '1', undefined].map((call) => turn.texts(wire(call))?.texts)).toEqual([undefined, ['hi'], ['hi']])
    say({ stop: 'end' })
    expect(turn.texts(wire())).toBeUndefined()
  })

  test('has read an answer once it is over, however its connection ends', () => {
    for (const why of ['closed', 'failed', 'cancelled'] as const) {
      const { turn, events, bodies, say, reply } = open()
      say({ stop: 'end', calls: [['a', 'client']] })
      turn.callEnd({ why, call: '1' })
      say({ stop: 'end', calls: [['b', 'client']] })
      expect(types(events)).toEqual(['turn-started', 'ask'])
      reply('a')
      expect(bodies()).toHaveLength(2)
    }
  })

  test('goes on with another request where the server has paused', () => {
    const { bodies, events, say } = open()
    say({ stop: 'pause', input: 1 })
    expect(bodies()).toEqual(['hi', 'hi|answer of 0 calls'])
    say({ stop: 'end', input: 1 })
    expect(events.slice(1)).toMatchObject([
      { type: 'usage', scope: 'call', usage: { input: 1 } },
      { type: 'usage', scope: 'turn', usage: { input: 2 } },
      { outcome: 'completed', stop: 'end' },
    ])
  })

  test('counts the tokens of an answer once when it ends while it waits for results', () => {
    const { turn, events, say } = open()
    say({ stop: 'end', input: 3, calls: [['a', 'client']] })
    turn.cancel()
    turn.cancel()
    expect(events.slice(3)).toMatchObject([
      { type: 'usage', scope: 'turn', usage: { input: 3 } },
      { type: 'turn-end', outcome: 'cancelled', stop: 'aborted', fault: { code: 'cancelled' } },
    ])
  })

  test('sends what the user adds with the next request, and one more request for it if it has ended', () => {
    const { bodies, losses, say, steer } = open()
    steer('more')
    say({ stop: 'end' })
    expect(bodies().at(-1)).toBe('hi|answer of 0 calls|more')
    steer('too late')
    say({ stop: 'max-tokens' })
    expect(losses).toEqual([{ kind: 'dropped', item: 'turn-steer', why: 'no-place', count: 1 }])
  })

  test.each([
    ['that says nothing of its end was cut', { more: true }, 'provider-down'],
    ['may end with a failure', { failed: 'no' }, 'provider-error'],
    ['may be what nobody can read', { wrong: 'what?' }, 'protocol-violation'],
  ])('fails with an answer %s', (_, answer, code) => {
    const { turn, events, say } = open()
    say(answer)
    turn.callEnd({ why: 'closed', call: '1' })
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'failed', stop: 'error', fault: { code } })
  })

  test.each(['max-tokens', 'context-window', 'content-filter', 'refusal'])(
    'has nobody run the calls of an answer that was cut (%s)',
    (stop) => {
      const { calls, events, say } = open()
      say({ stop, calls: [['a', 'client']] })
      expect(calls).toHaveLength(1)
      expect(events.slice(1)).toEqual([{ type: 'turn-end', turn: 't1', outcome: 'completed', stop }])
    },
  )

  test('was cut where its connection breaks behind the head of an answer', () => {
    const { turn, events } = open()
    turn.head({ call: '1', status: 200, headers: {} })
    turn.callEnd({ why: 'failed', call: '1', fault: fault('protocol-violation', 'It broke.') })
    expect(events.at(-1)).toMatchObject({ outcome: 'failed', fault: { code: 'provider-down' } })
  })

  test('says how long the server asks to wait', () => {
    const { turn, events } = open()
    turn.head({ call: '1', status: 429, headers: { 'retry-after': '3' } })
    turn.frame('slow down')
    expect(events.at(-1)).toMatchObject({ fault: { message: '429 slow down', retryAfterMs: 3000 } })
  })

  test('fails with the words of a refusal, and with a call that fails', () => {
    const refused = open()
    refused.turn.head({ call: '1', status: 500, headers: {} })
    refused.turn.frame({ data: 'sorry', call: '1' })
    expect(refused.events.at(-1)).toMatchObject({ fault: { code: 'provider-error', message: '500 sorry' } })
    const broken = open()
    broken.turn.callEnd({ why: 'failed', call: '1' })
    expect(broken.events.at(-1)).toMatchObject({ outcome: 'failed', fault: { code: 'agent-unavailable' } })
    const cancelled = open()
    cancelled.turn.callEnd({ why: 'cancelled', call: '1' })
    expect(cancelled.events.at(-1)).toMatchObject({ outcome: 'cancelled' })
  })

  test('ignores what comes of an earlier call, and after its end', () => {
    const { turn, events, say, reply } = open()
    say({ stop: 'end', calls: [['a', 'agent']] })
    turn.head({ call: '1', status: 500, headers: {} })
    turn.frame({ data: '{}', call: '1' })
    turn.callEnd({ why: 'closed', call: '1' })
    reply('a')
    expect(types(events)).toEqual(['turn-started', 'tool-end'])
    say({ stop: 'end' })
    say({ stop: 'end' })
    expect(types(events)).toEqual(['turn-started', 'tool-end', 'turn-end'])
  })

  test('is stopped after a hundred requests', () => {
    const { calls, events, say } = open()
    for (let round = 0; round < 100; round += 1) say({ stop: 'end', calls: [['a', 'agent']] })
    expect(calls).toHaveLength(100)
    expect(events.at(-1)).toMatchObject({ outcome: 'failed', fault: { code: 'provider-error' } })
  })
})

test('a call of the history that was never run gets a result', () => {
  const call = (tool: string): Message => ({
    role: 'assistant',
    parts: [{ type: 'tool-call', tool, name: 'ls', args: '{}' }],
  })
  const result: Message = { role: 'tool', parts: [{ type: 'tool-reply', tool: 'a', status: 'ok', parts: [] }] }
  const input: Part = { type: 'tool-reply', tool: 'c', status: 'ok', parts: [] }
  expect(answeredHistory([call('a'), result, call('b'), call('c')], [input])).toEqual([
    call('a'),
    result,
    call('b'),
    { role: 'tool', parts: [{ type: 'tool-reply', tool: 'b', status: 'cancelled', parts: [] }] },
    call('c'),
  ])
})

test('the name of a tool has its group in it where the wire has none', () => {
  expect(flatToolName({ name: 'ls' })).toBe('ls')
  expect(flatToolName({ name: 'ls', namespace: 'fs' })).toBe('fs__ls')
})

describe('input that comes while a turn runs', () => {
  test('is told with the results of calls, or with one more request', () => {
    const { bodies, say, reply, steer } = open()
    steer('more')
    say({ stop: 'end', calls: [['a', 'client']] })
    expect(bodies()).toHaveLength(1)
    reply('a')
    expect(bodies().at(-1)).toBe('hi|answer of 1 calls|a ok|more')
    steer('again')
    say({ stop: 'end' })
    expect(bodies().at(-1)).toBe('hi|answer of 1 calls|a ok|more|answer of 0 calls|again')
    say({ stop: 'end' })
    expect(bodies()).toHaveLength(3)
  })

  test.each(['max-tokens', 'context-window', 'content-filter', 'refusal', 'stop-sequence'])(
    'is lost when the answer ends with %s, and counted',
    (stop) => {
      const { bodies, events, losses, say, steer } = open()
      steer('one')
      steer('two')
      say({ stop })
      expect([bodies().length, types(events)]).toEqual([1, ['turn-started', 'turn-end']])
      expect(losses).toEqual([{ kind: 'dropped', item: 'turn-steer', why: 'no-place', count: 2 }])
    },
  )

  test('that was told is not lost', () => {
    const { losses, say, steer } = open()
    steer('one')
    say({ stop: 'end' })
    say({ stop: 'end' })
    expect(losses).toEqual([])
  })
})

describe('the end of a turn of a model', () => {
  const ended = (events: readonly AgentEvent[]): unknown => events.filter(({ type }) => type === 'turn-end')

  test('comes once, whatever comes after it', () => {
    const { turn, events, say, reply } = open()
    say({ stop: 'end', calls: [['a', 'client']] })
    turn.cancel()
    reply('a')
    turn.cancel()
    turn.callEnd({ why: 'closed', call: '1' })
    say({ stop: 'end' })
    expect(ended(events)).toEqual([
      {
        type: 'turn-end',
        turn: 't1',
        outcome: 'cancelled',
        stop: 'aborted',
        fault: { code: 'cancelled', message: 'The turn was cancelled.', retryable: false },
      },
    ])
    expect(types(events)).toEqual(['turn-started', 'ask', 'turn-end'])
  })

  test('is a cancel where its call was cancelled, or the server says so', () => {
    const first = open()
    first.turn.callEnd({ why: 'cancelled', call: '1' })
    expect(ended(first.events)).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
    const second = open()
    second.turn.head({ call: '1', status: 499, headers: {} })
    const refusal = api.refusal
    api.refusal = () => fault('cancelled', 'x')
    second.turn.frame('{}')
    api.refusal = refusal
    expect(ended(second.events)).toMatchObject([
      { outcome: 'cancelled', stop: 'aborted', fault: { code: 'cancelled' } },
    ])
  })

  test('is a failure where the answer was cut off: it had begun, or ended without an end', () => {
    const begun = open()
    begun.turn.head({ call: '1', status: 200, headers: {} })
    begun.turn.callEnd({ why: 'failed', call: '1', fault: fault('agent-unavailable', 'x') })
    const closed = open()
    closed.say({ more: true })
    closed.turn.callEnd({ why: 'closed', call: '1' })
    for (const { events } of [begun, closed])
      expect(ended(events)).toMatchObject([
        {
          outcome: 'failed',
          stop: 'error',
          fault: { code: 'provider-down', message: 'The model provider cut its answer off; send the request again.' },
        },
      ])
  })

  test('is the failure of its call where no answer had begun, or it could not be read', () => {
    const why = fault('agent-unavailable', 'x')
    const none = open()
    none.turn.callEnd({ why: 'failed', call: '1', fault: why })
    const unreadable = open()
    unreadable.turn.head({ call: '1', status: 200, headers: {} })
    unreadable.turn.callEnd({ why: 'failed', call: '1', fault: why, unreadable: true })
    for (const { events } of [none, unreadable])
      expect(ended(events)).toMatchObject([{ outcome: 'failed', fault: why }])
  })

  test('has the time after which a refused request may be sent again', () => {
    const { turn, events } = open()
    turn.head({ call: '1', status: 400, headers: { 'retry-after': '7' } })
    turn.frame('slow down')
    expect(ended(events)).toMatchObject([{ fault: { message: '400 slow down', retryAfterMs: 7000 } }])
    const other = open()
    other.turn.head({ call: '1', status: 400, headers: {} })
    other.turn.frame('no')
    expect((ended(other.events) as [{ fault: object }])[0].fault).not.toHaveProperty('retryAfterMs')
  })

  test('comes after a hundred requests', () => {
    const { turn, bodies, events, say } = open()
    for (let request = 0; request < 100; request += 1) say({ stop: 'end', calls: [['a', 'agent']] })
    expect(bodies()).toHaveLength(100)
    expect(ended(events)).toMatchObject([
      { fault: { code: 'provider-error', message: 'The model has not come to an end after 100 requests.' } },
    ])
    turn.cancel()
    expect(ended(events)).toHaveLength(1)
  })
})

describe('messages of the wire', () => {
  test('of another call than the last one are nothing', () => {
    const { turn, events, say } = open()
    say({ stop: 'end', calls: [['a', 'agent']] })
    const before = events.length
    turn.head({ call: '1', status: 500, headers: {} })
    turn.frame({ data: JSON.stringify({ stop: 'end' }), call: '1' } as never)
    turn.callEnd({ why: 'failed', call: '1' })
    expect(events).toHaveLength(before)
    turn.frame({ data: JSON.stringify({ stop: 'end' }), call: '2' } as never)
    expect(types(events).at(-1)).toBe('turn-end')
  })

  test('after an answer whose calls wait are nothing', () => {
    const { turn, events, say } = open()
    say({ stop: 'end', calls: [['a', 'client']] })
    const before = events.length
    say({ stop: 'end' })
    turn.callEnd({ why: 'closed', call: '1' })
    expect(events).toHaveLength(before)
  })

  test('begin the turn once', () => {
    const { events, say } = open()
    say({ more: true })
    say({ more: true })
    say({ stop: 'pause' })
    say({ stop: 'end' })
    expect(types(events)).toEqual(['turn-started', 'turn-end'])
  })

  test('of a tool that is not declared get its name back', () => {
    const { events, say } = open()
    say({ stop: 'end', calls: [['a', 'agent']] })
    expect(events.find(({ type }) => type === 'tool-end')).toEqual({
      type: 'tool-end',
      turn: 't1',
      tool: 'a',
      status: 'error',
      parts: [{ type: 'text', text: 'There is no tool "name-a".' }],
    })
  })

  test('that answer no open call are nothing', () => {
    const { turn, bodies, events, say } = open()
    say({ stop: 'end', calls: [['a', 'client']] })
    const before = events.length
    const reply = { exchange: 'x', type: 'ask-reply', target: 'running' } as const
    turn.reply({ ...reply, reply: { kind: 'tool', status: 'ok', parts: [] } } as never)
    turn.reply({ ...reply, ask: 'b', reply: { kind: 'tool', status: 'ok', parts: [] } })
    turn.reply({ ...reply, ask: 'a', reply: { kind: 'approval', option: 'ok' } })
    expect([events.length, bodies().length]).toEqual([before, 1])
  })
})

test('what the wire has no form for is reported for the first request, and the first one with other settings', () => {
  const losses: Loss[] = []
  const changes: unknown[] = []
  const ports = { emit() {}, open() {}, report: (loss: Loss) => losses.push(loss) }
  const lossy: ModelApi = {
    ...api,
    request: (conversation, report) => {
      report({ kind: 'dropped', item: 'option.effort', why: 'no-place', count: 1 })
      return api.request(conversation, report)
    },
    change: (settings) => void changes.push(settings),
  }
  const turn = new ModelTurn(START, ports as never, (report) => {
    report({ kind: 'dropped', item: 'plan', why: 'no-place', count: 1 })
    return lossy
  })
  turn.begin()
  turn.frame(JSON.stringify({ stop: 'end', calls: [['a', 'agent']] }))
  expect(losses.map(({ item }) => item)).toEqual(['plan', 'option.effort'])
  const call = { stop: 'end', calls: [['b', 'client']] }
  turn.frame(JSON.stringify(call))
  const reply = { exchange: 'x', type: 'ask-reply', target: 'running', ask: 'b' } as const
  const settings = { options: { effort: 'high' } }
  turn.reply({ ...reply, reply: { kind: 'tool', status: 'ok', parts: [] }, settings })
  turn.frame(JSON.stringify(call))
  turn.reply({ ...reply, reply: { kind: 'tool', status: 'ok', parts: [] } })
  expect(losses.map(({ item }) => item)).toEqual(['plan', 'option.effort', 'option.effort'])
  expect(changes).toEqual([settings])
})

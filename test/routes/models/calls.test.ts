/**
 * Calls of a client's tools park a turn; what the next request brings decides what becomes of it: results in any order,
 * some of them, none, twice, too late, or of another client. Through Chat Completions, with a scripted model behind.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callIdOf, type ParkedCall, parkedCallOf, turnOf } from '../../../src/codec-kit/call-ids.ts'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { until } from '../../kit/processes.ts'

interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

const TOOLS = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]

let gateway: TestGateway
let server: Server
/** The messages of each request to the model, in order. */
const asked: Message[][] = []

/** A model that calls the tool twice when it is told to add, and otherwise says what came after that. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request)) as { messages: Message[] }
    asked.push(messages)
    const last = messages.at(-1)!
    const calls = [1, 2].map((n) => ({
      id: `m${n}`,
      type: 'function',
      function: { name: 'add', arguments: `{"n":${n}}` },
    }))
    const wants = last.role === 'user' && /^add/.test(last.content ?? '')
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    const said = since.map(({ tool_call_id = 'user', content }) => `${tool_call_id}: ${content}`).join(', ')
    const message = wants ? { content: null, tool_calls: calls } : { content: said }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message, finish_reason: wants ? 'tool_calls' : 'stop' }] }))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.env['CALLS_MINE'] = 'mine'
  process.env['CALLS_THEIRS'] = 'theirs'
  gateway = await startGateway(`
server: { keys: [{ name: mine, env: CALLS_MINE }, { name: theirs, env: CALLS_THEIRS }] }
agents:
  model: { protocol: openai, url: '${url}' }
  hasty: { protocol: openai, url: '${url}', limits: { ask: 1s } }
`)
})
afterAll(async () => {
  delete process.env['CALLS_MINE']
  delete process.env['CALLS_THEIRS']
  await gateway.close()
  server.close()
})

interface Answer {
  status: number
  message?: Message
  finish?: string
  error?: { code: string; message: string }
  losses?: unknown[]
}

/** Sends a conversation; the answer. */
async function send(messages: readonly Message[], { model = 'model', key = 'mine' } = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages, tools: TOOLS }),
  })
  const { choices, error, turnpike } = (await response.json()) as {
    choices?: { message: Message; finish_reason: string }[]
    error?: { code: string; message: string }
    turnpike?: { losses: unknown[] }
  }
  const [choice] = choices ?? []
  return {
    status: response.status,
    ...(choice && { message: choice.message, finish: choice.finish_reason }),
    ...(error && { error }),
    ...(turnpike && { losses: turnpike.losses }),
  }
}

/** An answer of the Responses API. */
interface Created {
  id: string
  conversation: { id: string }
  output: { call_id?: string; content?: { text: string }[] }[]
}

/** A conversation that has two open calls, and their ids. */
async function called(model = 'model'): Promise<{ before: Message[]; ids: string[] }> {
  const user = { role: 'user', content: 'add' }
  const { message, finish } = await send([user], { model })
  expect([finish, message?.tool_calls?.map((call) => call.function)]).toEqual([
    'tool_calls',
    [
      { name: 'add', arguments: '{"n":1}' },
      { name: 'add', arguments: '{"n":2}' },
    ],
  ])
  return { before: [user, message!], ids: message!.tool_calls!.map(({ id }) => id) }
}

/** True while the turn of a call has no end. */
const isRunning = (call: string): boolean => gateway.engine.turns.some(({ id }) => id === turnOf(parkedCallOf(call)!))

/** The id of a call that another park, or no question of it, would have. */
const other = (call: string, change: Partial<ParkedCall>): string =>
  callIdOf('call_', { ...parkedCallOf(call)!, ...change })

const result = (id: string, content: string): Message => ({ role: 'tool', tool_call_id: id, content })
const said = (content: string): Message => ({ role: 'user', content })
/** The roles and texts of the newest request to the model. */
const newest = (): unknown[] => asked.at(-1)!.map(({ role, content, tool_call_id: id }) => [role, id ?? content])
const BOTH = 'm1: one, m2: two'

describe('results', () => {
  test.each([
    ['in order', (one: Message, two: Message) => [one, two]],
    ['in the other order', (one: Message, two: Message) => [two, one]],
  ])('%s go on with the turn, which is one request more to the model', async (_how, order) => {
    const { before, ids } = await called()
    const [requests, [one, two]] = [asked.length, ids]
    const { message, finish } = await send([...before, ...order(result(one!, 'one'), result(two!, 'two'))])
    expect([message?.content, finish, asked.length]).toEqual([BOTH, 'stop', requests + 1])
  })

  test('of some calls have the others asked for again, under an id of their own', async () => {
    const { before, ids } = await called()
    const requests = asked.length
    const part = [...before, result(ids[1]!, 'two')]
    const again = await send(part)
    const open = again.message!.tool_calls!
    expect([again.finish, open.map((call) => call.function.arguments)]).toEqual(['tool_calls', ['{"n":1}']])
    expect([ids.includes(open[0]!.id), asked.length]).toEqual([false, requests])
    const { message } = await send([...part, again.message!, result(open[0]!.id, 'one')])
    expect([message?.content, asked.length]).toEqual([BOTH, requests + 1])
  })

  test('of the others also count under the ids that they had at first, and none is asked for twice', async () => {
    const { before, ids } = await called()
    const requests = asked.length
    const part = [...before, result(ids[1]!, 'two')]
    const again = await send(part)
    expect(await send(part)).toEqual(again)
    const { message } = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'other')])
    expect([message?.content, asked.length]).toEqual([BOTH, requests + 1])
    const alone = await called()
    await send([...alone.before, result(alone.ids[0]!, 'one')])
    expect((await send([...alone.before, result(alone.ids[1]!, 'two')])).message?.content).toBe(BOTH)
  })

  test('with more of the user are given to the model behind them', async () => {
    const { before, ids } = await called()
    const { message } = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'two'), said('quick')])
    expect(message?.content).toBe(`${BOTH}, user: quick`)
  })

  test('that come again get the same answer, and the model is not asked again', async () => {
    const { before, ids } = await called()
    const whole = [...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')]
    const first = await send(whole)
    const requests = asked.length
    expect(await send(whole)).toEqual(first)
    expect(asked.length).toBe(requests)
  })

  test('that come twice at once get one answer', async () => {
    const { before, ids } = await called()
    const requests = asked.length
    const whole = [...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')]
    const [one, other] = await Promise.all([send(whole), send(whole)])
    expect([one?.message?.content, other?.message?.content, asked.length]).toEqual([BOTH, BOTH, requests + 1])
  })

  test('that are too late are lost, and get what became of the turn: the calls were denied', async () => {
    const { before, ids } = await called('hasty')
    await until(() => !isRunning(ids[0]!))
    const requests = asked.length
    const { message, finish, losses } = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')], {
      model: 'hasty',
    })
    expect([finish, message?.content, asked.length, losses]).toEqual([
      'stop',
      'm1: The tool call ended with the status: denied., m2: The tool call ended with the status: denied.',
      requests,
      [{ kind: 'dropped', item: 'ask-reply', why: 'policy', count: 2 }],
    ])
  })

  test.each<[what: string, idOf: (id: string) => string, key: string]>([
    ['of a call that another client has', (id) => id, 'theirs'],
    ['of a park that there is none of', (id) => other(id, { continuation: 'no.park' }), 'mine'],
  ])('%s are refused, and the turn waits on', async (_what, idOf, key) => {
    const { before, ids } = await called()
    const requests = asked.length
    const refused = await send([...before, ...ids.map((id) => result(idOf(id), 'x'))], { key })
    expect([refused.status, asked.length]).toEqual([404, requests])
    const { message } = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')])
    expect(message?.content).toBe(BOTH)
  })

  test('of a call that the turn has not made are refused, and those besides it are taken', async () => {
    const { before, ids } = await called()
    const unknown = result(other(ids[0]!, { at: 7 }), 'x')
    expect((await send([...before, unknown])).status).toBe(400)
    const again = await send([...before, unknown, result(ids[1]!, 'two')])
    expect(again.message?.tool_calls?.map((call) => call.function.arguments)).toEqual(['{"n":1}'])
    const { message } = await send([...before, result(again.message!.tool_calls![0]!.id, 'one')])
    expect(message?.content).toBe(BOTH)
  })

  test('of another server begin a turn that has them as its input', async () => {
    const call = { id: 'theirs', type: 'function', function: { name: 'add', arguments: '{}' } }
    const before = [said('hi'), { role: 'assistant', content: null, tool_calls: [call] }]
    const { message } = await send([...before, result('theirs', 'x')])
    expect(message?.content).toBe('theirs: x')
  })
})

describe('a message of the user instead of results', () => {
  test('ends the turn, and begins one that knows the calls as cancelled', async () => {
    const { before, ids } = await called()
    const { message } = await send([...before, said('never mind')])
    expect(message?.content).toContain('user: never mind')
    expect(newest()).toEqual([
      ['user', 'add'],
      ['assistant', null],
      ['tool', ids[0]],
      ['tool', ids[1]],
      ['user', 'never mind'],
    ])
    await until(() => !isRunning(ids[0]!))
    // The results are of no use any more: the client is told what became of the turn.
    const late = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')])
    expect(late).toMatchObject({ error: { code: 'cancelled' } })
  })

  test.each([
    ['names the answer', ({ id }: Created) => ({ previous_response_id: id })],
    ['names its conversation', ({ conversation }: Created) => ({ conversation })],
  ])('ends the turn of a client of Responses that %s, too', async (how, naming) => {
    const create = async (input: string, more: object): Promise<Created> => {
      const response = await fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer mine' },
        body: JSON.stringify({ model: 'model', input, tools: [{ type: 'function', ...TOOLS[0]!.function }], ...more }),
      })
      return (await response.json()) as Created
    }
    const first = await create('add', { conversation: `c-${how}` })
    const ids = first.output.map(({ call_id }) => call_id!)
    const second = await create('never mind', naming(first))
    expect(second.id).not.toBe(first.id)
    expect(second.output[0]!.content![0]!.text).toContain('user: never mind')
    expect([ids.length, isRunning(ids[0]!), newest().at(-1)]).toEqual([2, false, ['user', 'never mind']])
  })

  test('by another client ends nothing', async () => {
    const { before, ids } = await called()
    await send([...before, said('mine now')], { key: 'theirs' })
    const { message } = await send([...before, result(ids[0]!, 'one'), result(ids[1]!, 'two')])
    expect(message?.content).toBe(BOTH)
  })
})

describe('a conversation with calls', () => {
  test('goes on in the session that knows it', async () => {
    const { before, ids } = await called()
    const results = [result(ids[1]!, 'two'), result(ids[0]!, 'one')]
    const { message } = await send([...before, ...results])
    const whole = [...before, ...results, message!]
    expect((await send([...whole, said('and?')])).message?.content).toBe('user: and?')
    expect(newest().at(-1)).toEqual(['user', 'and?'])
    const listed = (await (
      await fetch(`${gateway.url}/v1/turns`, { headers: { authorization: 'Bearer mine' } })
    ).json()) as { turns: { session: string }[] }
    expect(listed.turns[0]!.session).toBe(listed.turns[1]!.session)
  })
})

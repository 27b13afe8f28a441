/**
 * A client brings the results of its tools with other options or tools than its turn began with: a model's server gets
 * those of the newest request, exactly as in a request that begins a turn, and for an agent that does its work with what
 * it got first each difference is a loss of the turn.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import {
  type Asked,
  type Json,
  MODELS,
  type ModelServer,
  type Said,
  type Script,
  startModel,
} from '../../kit/models/index.ts'

const STAGED = new URL('../../kit/agents/staged.mjs', import.meta.url).pathname

const parameters = { type: 'object', properties: { a: { type: 'number' } } }
const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters })
const BASE = { system: 'Be kind.', maxTokens: 50, tools: [tool('add')] }
const hi: Said = { role: 'user', text: 'hi' }

/** What the second request says otherwise; a member that is undefined is left out. */
type Change = { [K in keyof Asked]?: Asked[K] | undefined } & { temperature?: number }
const CHANGES: Readonly<Record<string, { change: Change; items: readonly string[] }>> = {
  'another model': { change: { model: 'agent:other' }, items: ['option.model'] },
  'another system prompt': { change: { system: 'Be brief.' }, items: ['option.systemPrompt'] },
  'no system prompt': { change: { system: undefined }, items: ['option.systemPrompt'] },
  'another tool': { change: { tools: [tool('add'), tool('sub')] }, items: ['start.clientTools'] },
  'a choice of a tool': { change: { toolChoice: 'required' }, items: ['option.toolChoice'] },
  'one call at a time': { change: { toolChoice: 'auto', parallel: false }, items: ['option.parallelTools'] },
  'an answer of a schema': { change: { schema: parameters }, items: ['option.outputSchema'] },
  'more tokens': { change: { maxTokens: 99 }, items: ['option.maxTokens'] },
  'a temperature': { change: { temperature: 0.5 }, items: ['option.temperature'] },
  'another user': { change: { user: 'u-2' }, items: ['start.user'] },
  'another form of its answer': { change: { stream: true }, items: [] },
  nothing: { change: {}, items: [] },
}

const ROUND: readonly Script[] = [
  { pieces: [{ call: { id: 'c1', name: 'add', args: '{"a":1}' } }], stop: 'tools' },
  { pieces: [{ text: 'Done.' }] },
]
const STAGES = [
  [
    { type: 'turn-started' },
    { type: 'message-start', message: 'm', role: 'assistant' },
    { type: 'tool-call', tool: 'c', name: 'add', args: {}, executor: 'client' },
    { type: 'ask', ask: 'c', question: { kind: 'tool', tool: 'c' } },
  ],
  [
    { type: 'message-end', message: 'm' },
    { type: 'turn-end', outcome: 'completed', stop: 'end' },
  ],
]

/** A gateway with one agent, and requests to it. */
async function started(agent: string) {
  const gateway = await startGateway(`
agents: { agent: { ${agent} } }
routes: [{ when: { session: "strict*" }, agent: agent, loss: strict }]`)
  const post = async (path: string, body: Json, headers: object = {}): Promise<{ raw: string; turn: string }> => {
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { raw: await answer.text(), turn: answer.headers.get('turnpike-turn')! }
  }
  return { gateway, post }
}
type Post = Awaited<ReturnType<typeof started>>['post']

/** A request of one protocol, and its answer. */
async function ask(post: Post, door: string, { temperature, ...said }: Change, headers: object = {}) {
  const client = MODELS[door]!
  const asked = { model: 'agent', messages: [hi], ...said } as Asked
  const body = { ...client.write(asked), ...(temperature !== undefined && { temperature }) }
  const { raw, turn } = await post(client.path, body, { ...client.headers, ...headers })
  return { answered: client.read(raw), turn }
}

/** A turn of two requests, the second one changed. */
async function round(post: Post, door: string, prompt: string, change: Change, headers: object = {}) {
  const user: Said = { role: 'user', text: prompt }
  const first = await ask(post, door, { ...BASE, messages: [user] }, headers)
  expect(first.answered).toMatchObject({ stop: 'tools', calls: [{ name: 'add' }] })
  const { calls } = first.answered
  const messages: Said[] = [user, { role: 'assistant', calls }, { role: 'tool', result: calls[0]!.id, text: '3' }]
  const second = await ask(post, door, { ...BASE, ...change, messages }, headers)
  return { first, second, messages }
}

async function lossesOf(gateway: TestGateway, turn: string): Promise<{ item: string; kind: string; why: string }[]> {
  const record = (await (await fetch(`${gateway.url}/v1/turns/${turn}`)).json()) as { losses?: [] }
  return record.losses ?? []
}

describe.each(Object.entries(MODELS))('a server of %s', (_back, protocol) => {
  let server: ModelServer
  let gateway: TestGateway
  let post: Post
  let from = 0

  beforeAll(async () => {
    server = await startModel(protocol, (_asked, at) => ROUND[at - from]!)
    const made = await started(`${protocol.agent(server.url)}, model: scripted`)
    gateway = made.gateway
    post = made.post
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  /** A request as the server got it, without its conversation. */
  const settings = (at: number): Json => {
    const { messages: _, input: _input, ...body } = server.requests[from + at]!.body
    // The system prompt of Chat Completions is a message of the body.
    const { messages: _messages, ...asked } = server.requests[from + at]!.asked
    return { body, asked }
  }
  /** The next request is played from this place of the round on. */
  const begin = (place = 0) => {
    from = server.requests.length - place
  }

  describe.each(Object.keys(MODELS))('and a client of %s', (door) => {
    test.each(Object.entries(CHANGES))('with %s', async (_what, { change }) => {
      begin()
      const { first, second, messages } = await round(post, door, 'hi', change)
      expect([second.answered.text, second.turn]).toEqual(['Done.', first.turn])
      const [began, went] = [settings(0), settings(1)]
      expect(server.requests[from + 1]!.asked.messages).toHaveLength(messages.length)
      begin(1)
      await ask(post, door, { ...BASE, ...change })
      expect(went).toEqual(settings(1))
      if (Object.keys(change).every((key) => key === 'stream')) expect(went).toEqual(began)
      else expect(went).not.toEqual(began)
    })

    test('on a route that takes no losses another agent is refused, and the turn still waits', async () => {
      begin()
      const session = { 'turnpike-session': `strict ${door}` }
      const { first, second, messages } = await round(post, door, 'hi', { model: 'other:m' }, session)
      expect(second.answered.error?.message).toContain('start.agent')
      const last = await ask(post, door, { ...BASE, messages }, session)
      expect([last.answered.text, last.turn]).toEqual(['Done.', first.turn])
    })
  })

  test('and a client of this gateway, which goes on as before where it says nothing', async () => {
    begin()
    const clientTools = [{ name: 'add' }]
    const options = { temperature: 0.1, maxTokens: 50 }
    const parked = await post('/v1/turns', { input: 'hi', agent: 'agent', clientTools, options })
    const { continuation } = JSON.parse(parked.raw) as { continuation: string }
    const reply = { kind: 'tool', status: 'ok', parts: [] }
    const answer = { type: 'ask-reply', target: { continuation }, at: 0, reply }
    const changed = { clientTools: [{ name: 'sub' }], options: { temperature: 0.2 } }
    const { raw } = await post('/v1/turns', { ...answer, settings: changed })
    expect(JSON.parse(raw)).toMatchObject({ outcome: 'completed', text: 'Done.' })
    const { body, asked } = server.requests[from + 1]!
    expect([body['temperature'], asked.tools?.map(({ name }) => name)]).toEqual([0.2, ['sub']])
    begin()
    const again = JSON.parse((await post('/v1/turns', { input: 'hi', agent: 'agent', clientTools, options })).raw)
    await post('/v1/turns', { ...answer, target: { continuation: again.continuation } })
    expect(settings(1)).toEqual(settings(0))
  })
})

describe('an agent that keeps what it got first', () => {
  let gateway: TestGateway
  let post: Post
  const PROMPT = JSON.stringify(STAGES)

  beforeAll(async () => {
    const made = await started(`protocol: native, command: ${process.execPath}, args: [${STAGED}]`)
    gateway = made.gateway
    post = made.post
  })
  afterAll(() => gateway.close())

  describe.each(Object.keys(MODELS))('and a client of %s', (door) => {
    test.each(Object.entries(CHANGES))('with %s', async (what, { change, items }) => {
      const { first, second } = await round(post, door, PROMPT, change, { 'turnpike-session': `${door}, ${what}` })
      expect([second.answered.error, second.turn]).toEqual([undefined, first.turn])
      const losses = (await lossesOf(gateway, first.turn)).filter(({ why }) => why === 'policy')
      expect(losses.map(({ item }) => item).filter((item) => item !== 'ext')).toEqual(
        expect.arrayContaining([...items]),
      )
      if (items.length === 0) expect(losses).toEqual([])
    })
  })
})

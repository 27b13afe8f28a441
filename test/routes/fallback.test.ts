import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fault } from '../../src/model/index.ts'
import { askHttp, clientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')

describe('a route with fallbacks', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  missing: { protocol: agentproc, command: /nowhere/agent, args: [], breaker: { failures: 1000 } }
  exits: { protocol: zot, command: ${AGENTS}/exits.sh, args: [], breaker: { failures: 1000 } }
  native: { protocol: native, command: ${process.execPath}, args: [${AGENTS}/native.mjs] }
  leaves: { protocol: native, command: ${AGENTS}/exits.sh, args: [], breaker: { failures: 1000 } }
  brief: { protocol: agentproc, command: /nowhere/agent, args: [], breaker: { failures: 1000 }, limits: { total: 250ms, firstEvent: 250ms, grace: 1h } }
  slow: { protocol: agentproc, command: /bin/sh, args: [-c, "trap '' TERM; sleep 0.3; echo hi; [ $AGENT_MESSAGE = hi ] || sleep 1009"], limits: { grace: 100ms } }
  hasty: { protocol: agentproc, command: /bin/sh, args: [-c, "sleep 1008"], limits: { total: 200ms } }
  broken: { protocol: agentproc, command: /nowhere/either, args: [], breaker: { failures: 2, cooldown: 1h } }
routes:
  - { when: { front: "*", session: "fall-*" }, agent: missing, fallback: [exits, helper] }
  - { when: { session: "dead-*" }, agent: missing, fallback: [exits] }
  - { when: { session: "limits-*" }, agent: brief, fallback: [slow] }
  - { when: { session: "hasty-*" }, agent: missing, fallback: [hasty] }
  - { when: { session: "open-*" }, agent: broken, fallback: [helper] }
  - { when: { session: "told-*" }, agent: missing, fallback: [exits, native] }
  - { when: { session: "strict-*" }, agent: leaves, loss: strict, fallback: [helper] }
  - { when: { session: "strictly-*" }, agent: leaves, loss: strict, fallback: [helper, native] }
  - { when: { session: "compact-*" }, agent: exits, fallback: [helper] }
`)
  })
  afterAll(() => gateway.close())

  test.each(clientNames.filter((name) => name !== 'agentproc@0.4'))(
    'gives the turn of a %s client to the next agent while nothing was shown',
    async (name) => {
      const shown = await askHttp(gateway.url, name, { text: 'hi', session: `fall-${name}`, id: `f-${name}` })
      expect(shown).toMatchObject({ ok: true })
      expect(shown.text).toContain('hi')
    },
  )

  test('names the agent that answers, in whole answers, in streams and to duplicates', async () => {
    const ask = (session: string, id: string, streamed: boolean) =>
      fetch(`${gateway.url}/v1/openharness`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(streamed && { accept: 'text/event-stream' }) },
        body: JSON.stringify({
          protocol_version: '1.0.0',
          request_id: id,
          ...(streamed && { capabilities: { 'openharness.streaming': true } }),
          request: { context: { session_id: session, user_intent: 'hi' } },
        }),
      }).then((answer) => answer.text())
    const answers = await Promise.all([
      ask('fall-whole', 'n1', false),
      ask('fall-whole', 'n1', false),
      ask('fall-streamed', 'n2', true),
    ])
    for (const answer of answers) {
      expect(answer).toContain('"agent":"helper"')
      expect(answer).not.toContain('"agent":"missing"')
    }
  })

  const withEffort = async (session: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hi', session: { id: session }, options: { effort: 'high' } }),
    })
    return (await response.json()) as Record<string, unknown>
  }

  test('reports what the agent that answers was not told, and nothing of those before it', async () => {
    const told = await withEffort('told-1')
    expect(told).toMatchObject({ outcome: 'completed', agent: 'native' })
    expect(told['losses']).toBeUndefined()
    const { agent, losses } = await withEffort('fall-effort')
    expect([agent, losses]).toEqual(['helper', [{ kind: 'dropped', item: 'option.effort', why: 'no-place', count: 1 }]])
  })

  test('passes by those that would lose something where nothing may be lost', async () => {
    expect(await withEffort('strict-1')).toMatchObject({ fault: { code: 'agent-crashed' } })
    expect(await withEffort('strictly-1')).toMatchObject({ outcome: 'completed', agent: 'native' })
  })

  test('passes by those that cannot compact a conversation that is to be', async () => {
    const response = await fetch(`${gateway.url}/v1/zot?session=compact-1`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"id":"1","type":"compact"}\n',
    })
    const text = await response.text()
    expect(text).toContain('The zot agent \\"exits\\" ended before it answered hello')
  })

  test('ends as the last agent ended when none can', async () => {
    const shown = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'dead-1' })
    expect(JSON.parse(shown.raw)).toMatchObject({ ok: false, error_code: 'PROVIDER_DOWN' })
    expect([...gateway.engine.turns]).toEqual([])
  })

  test('runs it under the limits of the agent that runs it', async () => {
    const slow = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'limits-1', id: 'l1' })
    expect(slow).toMatchObject({ ok: true, text: 'hi' })
    const hasty = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'hasty-1', id: 'h1' })
    expect(JSON.parse(hasty.raw)).toMatchObject({ ok: false, error_code: 'TIMEOUT' })
    expect(hasty.raw).toContain('within its limit of 200 ms')
  })

  test('stops it after the grace of the agent that runs it', async () => {
    const leaving = new AbortController()
    const answer = fetch(`${gateway.url}/v1/zene`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: 'g1', session_id: 'limits-2', prompt: 'stay' }),
      signal: leaving.signal,
    })
    await until(() => pidsOf('sleep\u00001009').length === 1)
    leaving.abort()
    await expect(answer).rejects.toThrow()
    // The test would time out before the hour of the first agent is over.
    await until(() => pidsOf('sleep\u00001009').length === 0)
  })

  test('passes an agent by whose circuit is open, and refuses in its place where there is no other', async () => {
    const ask = (session: string, agent?: string) =>
      askHttp(gateway.url, 'zene', { text: 'hi', session, id: session, ...(agent && { agent }) })
    const [agent] = [gateway.engine.settings.agents.get('broken')!]
    expect(gateway.engine.breakers.state(agent)).toBe('closed')
    for (const session of ['open-1', 'open-2']) expect(await ask(session)).toMatchObject({ ok: true })
    expect(gateway.engine.breakers.state(agent)).toBe('open')
    expect(await ask('open-3')).toMatchObject({ ok: true })
    const refused = await ask('open-4', 'broken')
    expect(refused.ok).toBe(true)
    const alone = await ask('alone', 'broken')
    expect(JSON.parse(alone.raw)).toMatchObject({ ok: false, error_code: 'PROVIDER_DOWN' })
    expect(JSON.parse(alone.raw).error_message ?? alone.raw).toContain('failed 2 times in a row')
  })
})

describe('an agent that takes a turn of another one’s conversation', () => {
  let gateway: TestGateway
  let server: Server
  const requests: { messages: unknown[] }[] = []

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      requests.push(JSON.parse(await text(request)) as never)
      response.setHeader('content-type', 'application/json')
      response.end('{"choices":[{"message":{"content":"from the model"},"finish_reason":"stop"}]}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    gateway = await startGateway(`
agents:
  first: { protocol: agentproc, command: /bin/sh, args: [-c, '[ -e "$0/down" ] && exit 9; echo "first: $AGENT_MESSAGE"', "\${TEST_FOLDER}"], breaker: { failures: 2, cooldown: 1h } }
  prompts: { protocol: agentproc, command: /bin/sh, args: [-c, 'echo "$AGENT_MESSAGE"'] }
  model: { protocol: openai, url: "http://127.0.0.1:${port}" }
routes:
  - { when: { session: "text-*" }, agent: first, fallback: [prompts] }
  - { when: { session: "model-*" }, agent: first, fallback: [model] }
`)
  })
  afterAll(async () => {
    await gateway.close()
    server.close()
  })

  interface Answer {
    agent: string
    text: string
    notices?: { code: string }[]
    losses?: object[]
  }
  const ask = async (session: string, input: string): Promise<Answer> => {
    const body = JSON.stringify({ input, session: { id: session } })
    const headers = { 'content-type': 'application/json' }
    return (await (await fetch(`${gateway.url}/v1/turns`, { method: 'POST', headers, body })).json()) as Answer
  }
  const down = (isDown: boolean): void =>
    isDown ? writeFileSync(`${gateway.folder}/down`, '') : rmSync(`${gateway.folder}/down`)
  const history = { kind: 'weakened', item: 'start.history', why: 'no-place', count: 1 }

  test('gets what that one was told, as text where it takes prompts alone; so does that one when it is back', async () => {
    expect(await ask('text-1', 'one')).toMatchObject({ agent: 'first', text: 'first: one' })
    down(true)
    const second = await ask('text-1', 'two')
    expect(second).toMatchObject({ agent: 'prompts', notices: [{ code: 'fallback' }], losses: [history] })
    expect(second.text).toBe(
      'The conversation so far:\n\nUser: one\n\nAssistant: first: one\n\nIt goes on with this message:\ntwo',
    )
    down(false)
    const third = await ask('text-1', 'three')
    expect(third).toMatchObject({ agent: 'first', losses: [history] })
    expect(third.text).toMatch(/^first: The conversation so far:\n\nUser: two\n\nAssistant: /)
    expect((await ask('text-1', 'four')).text).toBe('first: four')
  })

  test('gets it as its history where it takes one, also while the circuit of the other is open', async () => {
    const said = (role: string, content: string) => ({ role, content })
    const asked = [said('user', 'one'), said('assistant', 'first: one'), said('user', 'two')]
    await ask('model-1', 'one')
    await ask('model-2', 'one')
    down(true)
    for (const session of ['model-1', 'model-2']) {
      expect(await ask(session, 'two')).toMatchObject({ agent: 'model', notices: [{ code: 'fallback' }] })
      expect(requests.at(-1)!.messages).toEqual(asked)
    }
    const { breakers, settings } = gateway.engine
    const first = settings.agents.get('first')!
    for (const message of ['one', 'two']) breakers.recordOutcome(first, fault('agent-unavailable', message))
    expect(breakers.state(first)).toBe('open')
    expect(await ask('model-2', 'three')).toMatchObject({ agent: 'model', notices: [{ code: 'fallback' }] })
    expect(requests.at(-1)!.messages).toEqual([...asked, said('assistant', 'from the model'), said('user', 'three')])
    // A conversation that begins now has nothing to tell.
    expect(await ask('model-3', 'one')).toMatchObject({ agent: 'model', notices: [{ code: 'fallback' }] })
    expect(requests.at(-1)!.messages).toEqual([said('user', 'one')])
    down(false)
  })
})

describe('a proxy in front of an engine that answers for it', () => {
  const STATUSES = [401, 403, 404, 413, 429, 500, 502, 503, 504]
  let server: Server
  let gateway: TestGateway

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.writeHead(Number(request.url!.slice(1)), { 'content-type': 'text/html' }).end('<h1>Not today</h1>')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const engines = STATUSES.map(
      (status) => `  s${status}: { protocol: openharness, url: "http://127.0.0.1:${port}/${status}" }`,
    )
    const routes = STATUSES.map(
      (status) => `  - { when: { session: "${status}-*" }, agent: s${status}, fallback: [helper] }`,
    )
    gateway = await startGateway(
      `default: helper\nagents:${EXAMPLE_AGENTS}${engines.join('\n')}\nroutes:\n${routes.join('\n')}\n`,
    )
  })
  afterAll(async () => {
    await gateway.close()
    server.close()
  })

  test.each([
    [401, 'PROVIDER_AUTH'],
    [403, 'PROVIDER_AUTH'],
    [404, 'helper'],
    [413, 'INVALID_REQUEST'],
    [429, 'helper'],
    [500, 'helper'],
    [502, 'helper'],
    [503, 'helper'],
    [504, 'TIMEOUT'],
  ])('with HTTP %i: %s', async (status, outcome) => {
    const shown = await askHttp(gateway.url, 'zene', { text: 'hi', session: `${status}-1`, id: 'p1' })
    const { ok, error_code: code } = JSON.parse(shown.raw) as { ok: boolean; error_code: string | null }
    expect(ok ? 'helper' : code).toBe(outcome)
    expect(shown.raw).not.toContain('Not today')
  })
})

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StandInClient } from '../hostile/stand-in.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const REMEMBERS = new URL('../kit/agents/remembers.mjs', import.meta.url).pathname

/** The agents by name, and where they have what was said. */
const AGENTS = {
  zene: { protocol: 'zene', memory: 'id' },
  'zene-stream': { protocol: 'zene', mode: 'stream', memory: 'id' },
  openharness: { protocol: 'openharness', memory: 'id' },
  agentproc: { protocol: 'agentproc', memory: 'id' },
  'agentproc-04': { protocol: 'agentproc@0.4', memory: 'id' },
  native: { protocol: 'native', memory: 'id' },
  'qwen-code': { protocol: 'qwen-code', memory: 'id' },
  zot: { protocol: 'zot', memory: 'process' },
  qwen: { protocol: 'qwen', memory: 'process' },
} as const
type AgentName = keyof typeof AGENTS
const NAMES = Object.keys(AGENTS) as AgentName[]

/** The agents as YAML, with one process each, and what becomes of a session that is lost. */
function agents(restore: string): string {
  const lines = NAMES.map((name) => {
    const agent = AGENTS[name]
    const mode = 'mode' in agent ? agent.mode : undefined
    if (name === 'openharness')
      return `  openharness: { protocol: openharness, url: ${engine.url}, restore: ${restore} }`
    const args = `[${REMEMBERS}, ${agent.protocol}, "\${TEST_FOLDER}/${name}", ${mode ?? 'plain'}]`
    const rest = `${mode ? `mode: ${mode}, ` : ''}pool: { max: 1 }, restore: ${restore}`
    return `  ${name}: { protocol: ${agent.protocol}, command: ${process.execPath}, args: ${args}, ${rest} }`
  })
  return `limits: { grace: 300ms }\nagents:\n${lines.join('\n')}\n`
}

/** What a turn came to: what the agent knew before, as what it knows the session, its mode, and what the client was told. */
interface Turned {
  known?: string[]
  id?: string | [string, string?]
  mode?: string
  model?: string
  notices: string[]
  fault?: string
}

interface Session {
  id: string
  conversation?: string
}

/** One turn over the native API. */
async function turn({ url }: TestGateway, agent: string, session: Session, input: string, key = ''): Promise<Turned> {
  const response = await fetch(`${url}/v1/turns/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ input, session }),
  })
  const {
    text: said,
    notices = [],
    fault,
  } = (await response.json()) as {
    text?: string
    notices?: { text: string }[]
    fault?: { message: string }
  }
  return {
    ...(said && (JSON.parse(said) as object)),
    notices: notices.map((notice) => notice.text),
    ...(fault && { fault: fault.message }),
  }
}

/** An engine that remembers what each session was told. */
async function startEngine() {
  const memory = new Map<string, string[]>()
  const server = createServer(async (request, response) => {
    const { request_id, request: asked } = JSON.parse(await text(request))
    const { session_id, conversation_id, user_intent } = asked.context
    const id = JSON.stringify([session_id, conversation_id])
    const known = memory.get(id) ?? []
    memory.set(id, [...known, user_intent])
    const payload = { text: JSON.stringify({ known, id }) }
    const said = { action_type: 'render_message', priority: 'normal', payload }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        protocol_version: '1.0.0',
        request_id,
        response: { status: 'success', action_directives: [said] },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, memory, close: () => server.close() }
}
const engine = await startEngine()
afterAll(() => void engine.close())

/** Every session is out of memory, as after a restart: only what is stored is known of it. */
function forgetSessions({ engine: { settings }, engine: running }: TestGateway): void {
  const copies = [...settings.agents].map(([name, agent]) => [name, { ...agent }] as const)
  running.reload({ ...settings, agents: new Map(copies) })
}

describe('two tenants and two conversations', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    process.env['ALICE_SECRET'] = 'of-alice'
    process.env['BOB_SECRET'] = 'of-bob'
    const keys = '[{ name: alice, env: ALICE_SECRET }, { name: bob, env: BOB_SECRET }]'
    gateway = await startGateway(`server: { keys: ${keys} }\n${agents('fresh')}`)
  })
  afterAll(() => gateway.close())

  test.each(NAMES)('are never one session to an agent of %s, whatever their ids join to', async (agent) => {
    const turns: [string, Session][] = [
      ['of-alice', { id: 's/c' }],
      ['of-bob', { id: 's/c' }],
      ['of-alice', { id: 's', conversation: 'c' }],
      ['of-bob', { id: 's', conversation: 'c' }],
    ]
    const told: unknown[] = []
    for (const [key, session] of turns) {
      const first = await turn(gateway, agent, session, `${key} ${JSON.stringify(session)}`, key)
      expect(first).toMatchObject({ known: [], notices: [] })
      told.push(JSON.stringify(first.id))
    }
    if (AGENTS[agent].memory !== 'id') return
    expect(new Set(told).size).toBe(turns.length)
    for (const [key, session] of turns.slice(0, 2)) {
      const again = await turn(gateway, agent, session, 'again', key)
      expect(again.known).toEqual([`${key} ${JSON.stringify(session)}`])
    }
  })
})

describe('one process for all sessions', () => {
  let gateway: TestGateway
  let strict: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(agents('fresh'))
    strict = await startGateway(agents('fail'))
  })
  afterAll(() => Promise.all([gateway.close(), strict.close()]))

  test.each(NAMES)('of %s: a session goes on by itself, or the client is told that it is lost', async (agent) => {
    const lasts = AGENTS[agent].memory === 'id'
    for (const [of, restore] of [
      [gateway, 'fresh'],
      [strict, 'fail'],
    ] as const) {
      const id = `goes-on-${restore}`
      const first = await turn(of, agent, { id }, 'one')
      // Another session takes its process, or the gateway knows it from its store alone.
      if (restore === 'fresh') await turn(of, agent, { id: 'other' }, 'other')
      else forgetSessions(of)
      const again = await turn(of, agent, { id }, 'two')
      if (lasts) expect(again).toMatchObject({ known: ['one'], id: first.id, notices: [] })
      else if (restore === 'fresh') {
        const said = 'The process of this session was gone: the agent starts a new session.'
        expect(again).toMatchObject({ known: [], notices: [said] })
      } else expect(again.fault).toBe('The process of this session is gone; begin a new session.')
    }
  })

  test.each(NAMES)(
    'of %s, which a reload turns into an agent of another protocol: the client is told',
    async (agent) => {
      const told: unknown[] = []
      for (const of of [gateway, strict]) {
        const { settings } = of.engine
        const id = `other-than-${agent}`
        await turn(of, agent, { id }, 'one')
        const other = settings.agents.get(agent === 'native' ? 'zene' : 'native')!
        of.engine.reload({ ...settings, agents: new Map([...settings.agents, [agent, { ...other, name: agent }]]) })
        const { known, notices, fault } = await turn(of, agent, { id }, 'two')
        told.push([known, notices, fault])
        of.engine.reload(settings)
      }
      const said = 'The agent of this session had another protocol before: the agent starts a new session.'
      expect(told).toEqual([
        [[], [said], undefined],
        [undefined, [], 'The agent of this session has another protocol now; begin a new session.'],
      ])
    },
  )

  test('of qwen-code: a session is gone on with in one process that is started for it', async () => {
    const starts = `${gateway.folder}/qwen-code/starts`
    rmSync(starts, { force: true })
    for (const id of ['resumed', 'between', 'resumed']) await turn(gateway, 'qwen-code', { id }, 'hi')
    expect(readFileSync(starts, 'utf8')).toBe('new\nnew\nresume\n')
  })

  test.each([
    [
      'fresh',
      { known: [], notices: ['The agent did not know this session any more: the agent starts a new session.'] },
    ],
    ['fail', { fault: 'The agent does not know this session any more; begin a new session.' }],
  ])('of qwen-code: a session that it does not know any more is lost (%s)', async (restore, outcome) => {
    const of = restore === 'fresh' ? gateway : strict
    const id = `forgotten-${restore}`
    await turn(of, 'qwen-code', { id }, 'one')
    await turn(of, 'qwen-code', { id: 'between' }, 'other')
    const mark = `${of.folder}/qwen-code/forgetful`
    writeFileSync(mark, '')
    expect(await turn(of, 'qwen-code', { id }, 'two')).toMatchObject(outcome)
    rmSync(mark)
    const next = await turn(of, 'qwen-code', { id }, 'three')
    if (restore === 'fresh') expect(next).toMatchObject({ known: ['two'], notices: [] })
    else expect(next.fault).toBeDefined()
  })

  const post = async (path: string, lines: readonly object[]): Promise<string> => {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const headers = { 'content-type': 'application/x-ndjson' }
    return (await fetch(`${strict.url}${path}`, { method: 'POST', headers, body })).text()
  }

  /** How each client clears a session; resolves with what it is told. */
  const FRONTS = {
    zot: (agent: string, id: string) => post(`/v1/zot/${agent}?session=${id}`, [{ id: '1', type: 'clear' }]),
    qwen: (agent: string, id: string) =>
      post(`/v1/qwen/${agent}`, [
        { session_id: id, prompt_id: 'p1', input: { origin: 'user', parts: [{ type: 'text', text: '/clear' }] } },
      ]),
    'qwen-code': (agent: string, id: string) =>
      post(`/v1/qwen-code/${agent}?session=${id}`, [{ type: 'user', message: { role: 'user', content: '/clear' } }]),
    native: async (agent: string, id: string) => {
      const client = new StandInClient(strict.url, 'native', agent, { text: 'hi', session: `${id}-beside` })
      client.write(`${JSON.stringify({ type: 'session-clear', exchange: 'c', session: { id } })}\n`)
      await until(() => client.read.includes('"exchange":"c"') && client.ending !== undefined)
      client.endInput()
      return client.read
    },
    resource: async (agent: string, id: string) => {
      const { sessions } = (await (await fetch(`${strict.url}/v1/sessions`)).json()) as {
        sessions: { id: string; agent: string; session: string }[]
      }
      const known = sessions.find((each) => each.agent === agent && each.session === id)
      const deleted = await fetch(`${strict.url}/v1/sessions/${known!.id}`, { method: 'DELETE' })
      return `${deleted.status}`
    },
  }
  const CLEARED = {
    zot: '"success":true',
    qwen: 'The conversation was cleared.',
    'qwen-code': '"is_error":false',
    native: '{"type":"command-reply","turn":null,"exchange":"c"}',
    resource: '200',
  }

  test.each(
    NAMES.flatMap((agent) => Object.keys(FRONTS).map((front) => [front, agent] as [keyof typeof FRONTS, AgentName])),
  )('%s clears a session of %s, and the agent does not know it any more', async (front, agent) => {
    const id = `cleared-${front}`
    await turn(strict, agent, { id }, 'one')
    // Of one front the session is not in memory when it is cleared.
    if (front === 'qwen') forgetSessions(strict)
    expect(await FRONTS[front](agent, id)).toContain(CLEARED[front])
    const next = await turn(strict, agent, { id }, 'two')
    expect(next, next.fault).toMatchObject({ known: [], notices: [] })
  })

  describe('what a client has set', () => {
    const said = (body: string): Turned => {
      const line = body.split('\n').find((each) => each.includes('"type":"result"'))!
      const { result, error } = JSON.parse(line) as { result?: string; error?: { message: string } }
      return { notices: [], ...(result && (JSON.parse(result) as object)), ...(error && { fault: error.message }) }
    }
    const qwen = (agent: string, id: string, ...requests: object[]) =>
      post(`/v1/qwen-code/${agent}?session=${id}`, [
        ...requests.map((request, at) => ({ type: 'control_request', request_id: `${at}`, request })),
        { type: 'user', message: { role: 'user', content: 'hi' } },
      ])
    const plan = { subtype: 'set_permission_mode', mode: 'plan' }
    const model = { subtype: 'set_model', model: 'big' }

    test('holds in every process of the session, and after a restart, until it is set otherwise', async () => {
      const first = said(await qwen('qwen-code', 'set', plan, model))
      expect(first).toMatchObject({ mode: 'plan', model: 'big' })
      await turn(strict, 'qwen-code', { id: 'other' }, 'hi')
      expect(said(await qwen('qwen-code', 'set'))).toMatchObject({ mode: 'plan', model: 'big' })
      forgetSessions(strict)
      expect(await turn(strict, 'qwen-code', { id: 'set' }, 'hi')).toMatchObject({ mode: 'plan', model: 'big' })
      const lifted = said(await qwen('qwen-code', 'set', { subtype: 'set_permission_mode', mode: 'default' }))
      expect(lifted).toMatchObject({ mode: 'default', model: 'big' })
      await turn(strict, 'qwen-code', { id: 'other' }, 'hi')
      expect(said(await qwen('qwen-code', 'set'))).toMatchObject({ mode: 'default', model: 'big' })
      expect(said(await qwen('qwen-code', 'never-set'))).toMatchObject({ mode: 'default', model: 'm' })
    })

    test('is told to an agent of zot and to one of the native protocol as well', async () => {
      const body = await post('/v1/zot/zot?session=set', [{ id: '1', type: 'set_model', model: 'big' }])
      expect(body).toContain('"success":true')
      expect(await turn(strict, 'zot', { id: 'set' }, 'hi')).toMatchObject({ model: 'big' })
      expect(said(await qwen('native', 'set', plan))).toMatchObject({ mode: 'plan' })
      await turn(strict, 'native', { id: 'other' }, 'hi')
      expect(await turn(strict, 'native', { id: 'set' }, 'hi')).toMatchObject({ mode: 'plan' })
    })

    test('is no promise that a new process may break: its turn is refused', async () => {
      await qwen('qwen-code', 'refused', plan)
      await turn(strict, 'qwen-code', { id: 'other' }, 'hi')
      const mark = `${strict.folder}/qwen-code/refuses`
      writeFileSync(mark, '')
      expect((await turn(strict, 'qwen-code', { id: 'refused' }, 'hi')).fault).toBe(
        'The agent "qwen-code" cannot be set to the mode "plan" that its client has set (not this one); set another mode.',
      )
      rmSync(mark)
      expect(await turn(strict, 'qwen-code', { id: 'refused' }, 'hi')).toMatchObject({ mode: 'plan' })
    })

    test.each(NAMES.filter((name) => name !== 'qwen-code' && name !== 'native'))(
      'is refused where the agent cannot be set to it: plan, by %s',
      async (agent) => {
        const body = await qwen(agent, 'planned', plan)
        expect(body).toContain('{"subtype":"error","request_id":"0","error":')
      },
    )
  })
})

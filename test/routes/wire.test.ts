import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TurnsReply } from '../../src/model/index.ts'
import { askHttp, CLIENTS, type ClientName, clientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

interface Frame {
  dir: 'in' | 'out'
  at?: number
  seq?: number
  text: string
  cut?: true
}

interface Wire {
  kept: boolean
  clientProtocol: string
  agentProtocol: string
  client: Frame[]
  agent: Frame[]
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const ADMIN = { authorization: 'Bearer root' }

let gateway: TestGateway
beforeAll(async () => {
  process.env['WIRE_SECRET'] = 'very-secret-word'
  gateway = await startGateway(`
server:
  keys:
    - { name: root, hash: ${hashOf('root')}, role: admin }
    - { name: ann, hash: ${hashOf('ann')} }
    - { name: bob, hash: ${hashOf('bob')} }
default: helper
agents:${EXAMPLE_AGENTS}
  teller: { protocol: agentproc, command: sh, env: { SECRET: "\${WIRE_SECRET}" }, args: ["-c", "echo word: $SECRET"] }
  broken: { protocol: agentproc, command: sh, args: ["-c", "exit 1", "x", "--api-key", "sk-of-the-first-one"] }
  loud: { protocol: agentproc, command: sh, args: ["-c", "yes xxxxxxxx | head -c 400000"] }
routes:
  - { when: { agent: helper, session: hidden }, agent: helper, journal: shape }
  - { when: { agent: helper, session: plain }, agent: helper }
  - { when: { agent: broken }, agent: broken, fallback: [helper], journal: wire }
  - { when: { agent: "*" }, agent: helper, journal: wire }
`)
})
afterAll(async () => {
  delete process.env['WIRE_SECRET']
  await gateway.close()
})

/** Asks an agent natively; gives the turn's id. */
async function ask(agent: string, session = 's', key = 'ann', more: object = {}): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const body = JSON.stringify({ input: 'hello', session: { id: session }, ...more })
  const answer = await fetch(`${gateway.url}/v1/turns/${agent}`, { method: 'POST', headers, body })
  return ((await answer.json()) as { turn: string }).turn
}

async function wireOf(turn: string, headers: Record<string, string> = ADMIN, query = ''): Promise<Wire> {
  const answer = await fetch(`${gateway.url}/v1/turns/${turn}/wire${query}`, { headers })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Wire
}

const shown = (frames: readonly Frame[]): string[] => frames.map(({ dir, seq, text }) => `${seq} ${dir} ${text}`)

describe('the wire of a turn whose route keeps it', () => {
  test('has what its client sent and got, and what its agent was told and said, with the numbers of events', async () => {
    const turn = await ask('coder')
    const { client, agent, ...rest } = await wireOf(turn)
    expect(rest).toEqual({ kept: true, clientProtocol: 'native@http', agentProtocol: 'zot' })
    expect(shown(client).slice(0, 2)).toEqual(['1 in POST /v1/turns', '1 in {"input":"hello","session":{"id":"s"}}'])
    expect(client.at(-1)).toMatchObject({ dir: 'out', text: expect.stringContaining(`"turn":"${turn}"`) })
    expect(client).toHaveLength(3)
    const told = agent.filter(({ dir }) => dir === 'out')
    expect(told.map(({ text }) => (JSON.parse(text) as { type: string }).type)).toEqual(['prompt'])
    const said = agent.filter(({ dir }) => dir === 'in')
    const numbers = said.flatMap(({ seq }) => seq ?? [])
    expect([...numbers].sort((a, b) => a - b)).toEqual(numbers)
    const events = await fetch(`${gateway.url}/v1/turns/${turn}/events`, { headers: ADMIN })
    const delta = /event: text-delta\nid: (\d+)\n/.exec(await events.text())![1]
    const first = said.find(({ text }) => text.includes('"text_delta"'))
    expect(first?.seq).toBe(Number(delta))
    expect(agent.every(({ at = 0 }, index) => index === 0 || at >= agent[index - 1]!.at!)).toBe(true)
  })

  test('is written again for a client of another protocol on request, one without an endpoint too', async () => {
    const turn = await ask('helper')
    const { client, agent, ...rest } = await wireOf(turn, ADMIN, '?client=acp')
    expect(rest).toEqual({ kept: false, clientProtocol: 'acp', agentProtocol: 'agentproc' })
    const methods = client.flatMap(({ dir, text }) => (dir === 'in' ? [JSON.parse(text).method] : []))
    expect(methods).toEqual(['initialize', 'session/new', 'session/prompt'])
    const got = client.filter(({ dir }) => dir === 'out').map(({ text }) => JSON.parse(text))
    expect(got.find(({ method }) => method === 'session/update').params.update).toMatchObject({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'Turn 1 of this session. You said:' },
    })
    expect(got.at(-1).result).toMatchObject({ stopReason: 'end_turn' })
    expect(agent.some(({ dir, text }) => dir === 'in' && text.includes('hello'))).toBe(true)
    const unknown = await fetch(`${gateway.url}/v1/turns/${turn}/wire?client=telnet`, { headers: ADMIN })
    expect([unknown.status, await unknown.json()]).toMatchObject([400, { fault: { code: 'invalid-request' } }])
  })

  test('begins with the start of a process that a turn has of its own', async () => {
    const { agent } = await wireOf(await ask('planner'))
    expect(agent[0]!.text).toMatch(/^".*node.*" ".*planner.mjs" "host"/)
  })

  test('is without the secrets of its agent', async () => {
    const { agent } = await wireOf(await ask('teller'))
    expect(agent.some(({ text }) => text === `word: \${WIRE_SECRET}`)).toBe(true)
    expect(JSON.stringify(agent)).not.toContain('very-secret-word')
  })

  test('is without the secrets of the agent that another one took the turn of', async () => {
    const { agent, agentProtocol } = await wireOf(await ask('broken'))
    expect([agent[0]!.text, agentProtocol]).toEqual(['"sh" "-c" "exit 1" "x" "--api-key" "***"', 'agentproc'])
    expect(agent.filter(({ dir }) => dir === 'out')).toHaveLength(2)
  })

  test('is bounded, and says where it was cut', async () => {
    const { agent, client } = await wireOf(await ask('loud'))
    expect(agent.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(262_144)
    expect([agent.filter(({ cut }) => cut).map(({ text }) => text), client.some(({ cut }) => cut)]).toEqual([
      [''],
      false,
    ])
  })

  test('is shown to its client and to operators alone, and is gone with the turn', async () => {
    const turn = await ask('helper', 'mine')
    const status = async (key: string, method = 'GET', path = '/wire') => {
      const answer = await fetch(`${gateway.url}/v1/turns/${turn}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
      })
      await answer.text()
      return answer.status
    }
    expect([await status('ann'), await status('root'), await status('bob'), await status('none')]).toEqual([
      200, 200, 404, 401,
    ])
    const list = await fetch(`${gateway.url}/v1/sessions?q=mine`, { headers: ADMIN })
    const { sessions } = (await list.json()) as { sessions: { id: string }[] }
    await fetch(`${gateway.url}/v1/sessions/${sessions[0]!.id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer ann' },
    })
    expect(await status('root')).toBe(404)
  })
})

describe('the wire of a turn whose route does not keep it', () => {
  test('is written again from its events, in both protocols', async () => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer ann' }
    const body = '{"request_id":"r1","session_id":"plain","prompt":"hello there"}'
    await (await fetch(`${gateway.url}/v1/zene/helper`, { method: 'POST', headers, body })).text()
    const list = await fetch(`${gateway.url}/v1/turns?session=plain`, { headers: ADMIN })
    const [turn] = ((await list.json()) as TurnsReply).turns
    const { client, agent, ...rest } = await wireOf(turn!.turn)
    expect(rest).toEqual({ kept: false, clientProtocol: 'zene', agentProtocol: 'agentproc' })
    const [asked] = client.filter(({ dir }) => dir === 'in')
    expect(JSON.parse(asked!.text)).toMatchObject({ session_id: 'plain', prompt: 'hello there' })
    const answer = client.filter(({ dir }) => dir === 'out').at(-1)!
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true })
    expect(agent.some(({ dir, text }) => dir === 'out' && text.includes('hello there'))).toBe(true)
    expect(agent.some(({ dir }) => dir === 'in')).toBe(true)
    expect(client.every(({ seq, at }) => seq !== undefined && at === undefined)).toBe(true)
  })

  test('is empty of content where content is not kept', async () => {
    const wire = await wireOf(await ask('helper', 'hidden'))
    expect(wire.kept).toBe(false)
    expect(JSON.stringify(wire)).not.toContain('hello')
  })
})

describe('every protocol', () => {
  let open: TestGateway
  beforeAll(async () => {
    open = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => open.close())

  async function newest(): Promise<Wire> {
    const list = await fetch(`${open.url}/v1/turns?limit=1`)
    const [turn] = ((await list.json()) as TurnsReply).turns
    const wire = (await (await fetch(`${open.url}/v1/turns/${turn!.turn}/wire`)).json()) as Wire
    expect([turn!.state, wire.kept]).toEqual(['completed', false])
    return wire
  }

  test.each(clientNames.filter((name) => CLIENTS[name].path !== undefined))(
    'of a client is written again: %s',
    async (name: ClientName) => {
      expect(await askHttp(open.url, name, { text: 'hello', session: `s-${name}`, id: `r-${name}` })).toMatchObject({
        ok: true,
      })
      const { client, clientProtocol } = await newest()
      expect(clientProtocol.split('@')[0]).toBe(name.split('@')[0]!.replace('clawrun', 'zene'))
      const of = (dir: string): string =>
        client
          .filter((frame) => frame.dir === dir)
          .map(({ text }) => text)
          .join('\n')
      expect([of('in').includes('hello'), of('out').includes('hello')]).toEqual([true, true])
    },
  )

  test.each(['helper', 'coder', 'writer', 'planner'])('of an agent is written again: %s', async (name) => {
    await askHttp(open.url, 'zene', { text: 'hello', session: `s-${name}`, id: `r-${name}`, agent: name })
    const { agent, agentProtocol } = await newest()
    expect(open.config.agents.get(name)?.protocol).toBe(agentProtocol.split('@')[0])
    const of = (dir: string): string =>
      agent
        .filter((frame) => frame.dir === dir)
        .map(({ text }) => text)
        .join('\n')
    expect([of('out').includes('hello'), of('in').includes('hello')]).toEqual([true, true])
  })
})

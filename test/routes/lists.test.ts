import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionsReply, TurnInfoReply, TurnsReply } from '../../src/model/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

const USERS = ['ann', 'bob'] as const

let gateway: TestGateway
beforeAll(async () => {
  const keys = USERS.map((name) => `    - { name: ${name}, hash: ${hashOf(name)} }\n`).join('')
  gateway = await startGateway(`
server:
  keys:
${keys}    - { name: root, hash: ${hashOf('root')}, role: admin }
default: helper
agents:${EXAMPLE_AGENTS}
  hollow: { protocol: zot, command: /nowhere/zot }
`)
  for (const key of USERS) {
    for (const agent of ['helper', 'planner', 'hollow']) {
      await ask(key, agent, { input: 'hi', request: `${key}-${agent}`, session: { id: 'shared' } })
    }
  }
  await ask('root', 'helper', { input: 'hi' })
})
afterAll(() => gateway.close())

function ask(key: string, agent: string, body: object): Promise<Response> {
  const init = { method: 'POST', headers: { ...JSON_TYPE, ...bearer(key) }, body: JSON.stringify(body) }
  return fetch(`${gateway.url}/v1/turns/${agent}`, init).then(async (answer) => {
    await answer.text()
    return answer
  })
}

async function get(key: string, path: string): Promise<{ status: number; json: unknown }> {
  const answer = await fetch(gateway.url + path, { headers: bearer(key) })
  return { status: answer.status, json: await answer.json() }
}

async function turns(key: string, query: Record<string, string> = {}): Promise<TurnsReply> {
  const { status, json } = await get(key, `/v1/turns?${new URLSearchParams(query)}`)
  expect(status).toBe(200)
  return json as TurnsReply
}

const keyOf = ({ key }: TurnInfoReply): string | undefined => key
const agentOf = ({ agent }: TurnInfoReply): string => agent

describe('the list of turns', () => {
  test('has a client its own turns, with the name of its key, and the error of those that failed', async () => {
    const { turns: all } = await turns('ann')
    expect(all.map(({ agent, state, key }) => [agent, state, key])).toEqual([
      ['hollow', 'failed', 'ann'],
      ['planner', 'completed', 'ann'],
      ['helper', 'completed', 'ann'],
    ])
    expect(all[0]).toMatchObject({ code: 'agent-unavailable', error: expect.stringContaining('could not be started') })
    expect(all[1]).not.toHaveProperty('error')
  })

  test("has an operator everybody's, and one key's where that is asked for", async () => {
    expect((await turns('root')).turns.map(keyOf)).toEqual(['root', 'bob', 'bob', 'bob', 'ann', 'ann', 'ann'])
    expect((await turns('root', { key: 'bob' })).turns.map(keyOf)).toEqual(['bob', 'bob', 'bob'])
    expect((await turns('ann', { key: 'bob' })).turns).toEqual([])
  })

  test.each([
    [{ agent: 'planner' }, ['planner']],
    [{ front: 'native@http', agent: '' }, ['hollow', 'planner', 'helper']],
    [{ back: 'zene' }, ['planner']],
    [{ state: 'failed' }, ['hollow']],
    [{ state: 'running' }, []],
    [{ session: 'shared' }, ['hollow', 'planner', 'helper']],
    [{ q: 'COULD NOT' }, ['hollow']],
    [{ q: 'ann-pl' }, ['planner']],
    [{ q: 'nothing of this' }, []],
  ] as [Record<string, string>, string[]][])('has those that %j asks for', async (query, agents) => {
    expect((await turns('ann', query)).turns.map(agentOf)).toEqual(agents)
  })

  test('comes in pages', async () => {
    const first = await turns('ann', { limit: '2' })
    expect([first.turns.map(agentOf), first.next]).toEqual([['hollow', 'planner'], first.turns[1]!.turn])
    const second = await turns('ann', { limit: '2', before: first.next! })
    expect([second.turns.map(agentOf), second.next]).toEqual([['helper'], undefined])
    const [theirs] = (await turns('bob')).turns
    for (const before of ['none', theirs!.turn]) {
      expect((await get('ann', `/v1/turns?before=${before}`)).status).toBe(404)
    }
  })

  test.each(['limit=0', 'limit=x', 'state=over'])('is refused with %s', async (query) => {
    expect(await get('ann', `/v1/turns?${query}`)).toMatchObject({ status: 400, json: { type: 'fault' } })
  })

  const filter = fc.record(
    {
      agent: fc.constantFrom('helper', 'planner', ''),
      key: fc.constantFrom('ann', 'bob', 'root', 'local', "' OR 1=1 --"),
      q: fc.constantFrom('bob', 'shared', '', '%', '\n'),
      session: fc.constantFrom('shared', 'other'),
      state: fc.constantFrom('running', 'completed', 'failed'),
      limit: fc.constantFrom('1', '2', '200'),
      all: fc.constantFrom('true', '1'),
      tenant: fc.constantFrom('bob', ''),
    },
    { requiredKeys: [] },
  )

  test("never shows a client another one's, whatever it asks for", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...USERS), filter, async (key, query) => {
        const found = (await turns(key, query as Record<string, string>)).turns
        expect(found.filter((one) => one.key !== key)).toEqual([])
        const answer = await get(key, `/v1/sessions?${new URLSearchParams(query as Record<string, string>)}`)
        const { sessions } = answer.json as SessionsReply
        expect(sessions.filter((one) => one.key !== key)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

test('one turn, its events and its session are shown to its client and to operators alone', async () => {
  const [turn] = (await turns('ann', { agent: 'planner' })).turns
  const listed = await get('ann', '/v1/sessions?agent=planner')
  const [session] = (listed.json as SessionsReply).sessions
  for (const [key, status] of [
    ['ann', 200],
    ['root', 200],
    ['bob', 404],
  ] as const) {
    expect((await get(key, `/v1/turns/${turn!.turn}`)).status).toBe(status)
    expect((await get(key, `/v1/sessions/${session!.id}`)).status).toBe(status)
    const events = await fetch(`${gateway.url}/v1/turns/${turn!.turn}/events`, { headers: bearer(key) })
    expect([events.status, (await events.text()).includes('"type":"turn-end"')]).toEqual([status, status === 200])
  }
  const remove = (key: string) =>
    fetch(`${gateway.url}/v1/sessions/${session!.id}`, { method: 'DELETE', headers: bearer(key) })
  expect((await remove('root')).status).toBe(404)
})

test('the list of sessions comes in pages, with model, mode and process', async () => {
  const page = async (query: string) => (await get('root', `/v1/sessions?${query}`)).json as SessionsReply
  const all = await page('')
  expect(all.sessions.map(({ key, process }) => [key, process]).sort()).toEqual([
    ['ann', 'none'],
    ['ann', 'none'],
    ['ann', 'none'],
    ['bob', 'none'],
    ['bob', 'none'],
    ['bob', 'none'],
    ['root', 'none'],
  ])
  const first = await page('limit=4')
  const second = await page(`limit=4&before=${first.next}`)
  expect([...first.sessions, ...second.sessions].map(({ id }) => id)).toEqual(all.sessions.map(({ id }) => id))
  expect(second).not.toHaveProperty('next')
  expect((await page('agent=planner&key=ann')).sessions.map(({ agent, key }) => [agent, key])).toEqual([
    ['planner', 'ann'],
  ])
  expect((await page('q=shared&agent=planner')).sessions).toHaveLength(2)
})

test('following shows what matches, of its own or of all', async () => {
  const controller = new AbortController()
  const open = async (key: string, query: string) => {
    const lines: TurnInfoReply[] = []
    const headers = { ...bearer(key), accept: 'application/x-ndjson' }
    const answer = await fetch(`${gateway.url}/v1/turns?follow=1&${query}`, { headers, signal: controller.signal })
    const read = async () => {
      let text = ''
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk
        const whole = text.split('\n')
        text = whole.pop()!
        for (const line of whole) if (line) lines.push(...(JSON.parse(line) as TurnsReply).turns)
      }
    }
    read().catch(() => {})
    return lines
  }
  const [own, all, others, none] = [
    await open('ann', 'agent=helper'),
    await open('root', 'state=running'),
    await open('root', 'key=bob'),
    await open('bob', 'key=ann'),
  ]
  await ask('ann', 'helper', { input: 'hi' })
  await ask('ann', 'planner', { input: 'hi' })
  const ends = (lines: TurnInfoReply[]) => lines.filter(({ state }) => state === 'completed').map(agentOf)
  await until(() => ends(all).length === 2)
  expect([ends(own), ends(all), others, none]).toEqual([['helper'], ['helper', 'planner'], [], []])
  controller.abort()
})

import { chmodSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { StandInClient } from '../hostile/stand-in.ts'
import { setTimeout as delay } from 'node:timers/promises'

const KIT = new URL('../kit/agents', import.meta.url).pathname
const END = { type: 'turn-end', outcome: 'completed', stop: 'end' }
const START = { type: 'message-start', message: 'm1', role: 'assistant' }
const text = (t: string) => ({ type: 'text-delta', message: 'm1', text: t })

describe('probe', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    const staged = `protocol: native, command: ${process.execPath}, args: [${KIT}/staged.mjs]`
    gateway = await startGateway(`
default: staged
limits: { grace: 300ms, ask: 300ms }
agents:
  staged: { ${staged} }
  two: { ${staged}, pool: { max: 2 } }
  fail: { ${staged}, restore: fail }
  helper: { protocol: agentproc, command: /bin/sh, args: [-c, "echo said $AGENT_MESSAGE"] }
  missing: { protocol: agentproc, command: /nowhere/agent, args: [], breaker: { failures: 1000 } }
  late: { protocol: agentproc, command: /bin/sh, args: [-c, "exit 3"] }
  b: { protocol: agentproc, command: /bin/sh, args: [-c, "[ -e \${TEST_FOLDER}/well ] && echo b answers"], breaker: { failures: 1, cooldown: 50ms } }
  big: { protocol: agentproc, command: /bin/sh, args: [-c, "if [ $AGENT_MESSAGE = big ]; then while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done; fi; echo small"], limits: { total: 2s } }
  hung: { protocol: native, command: /bin/sh, args: [-c, "echo x >> \${TEST_FOLDER}/hung; exec sleep 1019"], health: { every: 100ms, timeout: 100ms } }
routes:
  - { when: { session: "steer-*" }, agent: staged, busy: steer }
  - { when: { session: "shape-*" }, agent: staged, journal: shape }
`)
  })
  afterAll(() => gateway.close())

  const turn = async (session: string, stages: unknown, more: { key?: string; agent?: string; prefer?: string; signal?: AbortSignal } = {}) => {
    const response = await fetch(`${gateway.url}/v1/turns${more.agent ? '/' + more.agent : ''}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(more.key && { 'idempotency-key': more.key }), ...(more.prefer && { prefer: more.prefer }) },
      body: JSON.stringify({ input: typeof stages === 'string' ? stages : JSON.stringify(stages), session: { id: session } }),
      ...(more.signal && { signal: more.signal }),
    })
    return { headers: response.headers, ...(await response.json()) as Record<string, unknown> }
  }
  const running = (session: string) => gateway.engine.turns.find(({ view }) => view.session === session)

  test('28 steer in the middle of a message', async () => {
    const first = turn('steer-1', [[START, text('one ')], [text('two'), { type: 'message-end', message: 'm1' }, END]])
    await until(() => running('steer-1')?.view.text === 'one ')
    const second = await turn('steer-1', 'x')
    expect((await first)['text']).toBe('one two')
    expect(second['text']).toBe('two')
  })

  test('40 same ask twice', async () => {
    const ask = { type: 'ask', ask: 'a1', question: { kind: 'approval', name: 'rm', args: {}, options: [{ id: 'go', kind: 'allow', scope: 'once' }] } }
    const parked = await turn('ask-1', [[ask, ask], [END]])
    expect(parked['outcome']).toBe('parked')
    const crashed: unknown[] = []
    const listener = (e: unknown) => crashed.push(e)
    process.on('uncaughtException', listener)
    const rest = await fetch(`${gateway.url}/v1/turns`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'ask-reply', target: { continuation: parked['continuation'] }, ask: 'a1', reply: { kind: 'approval', option: 'go' } }) })
    console.log(await rest.text())
    console.log(await (await fetch(gateway.url + '/v1/turns/' + parked['turn'] + '/events')).text())
    await delay(900)
    process.off('uncaughtException', listener)
    expect(crashed.map(String)).toEqual([])
  })

  test('9 replay of shape turn', async () => {
    const stages = [[START, text('secret'), { type: 'message-end', message: 'm1' }, END]]
    const a = await turn('shape-1', stages, { key: 'k' })
    expect(a['text']).toBe('secret')
    const b = await turn('shape-1', stages, { key: 'k' })
    console.log(JSON.stringify(b))
    expect(b['text']).toBe('secret')
  })

  test('33 replay headers & losses', async () => {
    const stages = [[START, text('hi'), { type: 'message-end', message: 'm1' }, { type: 'plan', json: {} }, END]]
    const a = await turn('replay-1', stages, { key: 'k' })
    const b = await turn('replay-1', stages, { key: 'k' })
    expect([b.headers.get('turnpike-turn'), b.headers.get('turnpike-agent'), b.headers.get('turnpike-loss')]).toEqual([a.headers.get('turnpike-turn'), a.headers.get('turnpike-agent'), a.headers.get('turnpike-loss')])
  })

  test('1 eviction order', async () => {
    const once = [[END]]
    await turn('e-a', once, { agent: 'two' })
    await turn('e-b', once, { agent: 'two' })
    await turn('e-a', once, { agent: 'two' })
    await turn('e-c', once, { agent: 'two' })
    const again = await turn('e-a', once, { agent: 'two' })
    expect(again['notices']).toEqual(undefined)
  })

  test('15 background turn and a duplicate that leaves', async () => {
    const stages = [[START, text('one ')], [text('two'), { type: 'message-end', message: 'm1' }, END]]
    const accepted = await turn('bg-1', stages, { key: 'k', prefer: 'respond-async' })
    await until(() => running('bg-1')?.view.text === 'one ')
    const leaving = new AbortController()
    const dup = turn('bg-1', stages, { key: 'k', signal: leaving.signal })
    await delay(100)
    leaving.abort()
    await dup.catch(() => {})
    await delay(500)
    expect(running('bg-1')?.ended).toBe(false)
  })

  test('43 clogged one-shot turn leaves the next paused', async () => {
    const client = await fetch(`${gateway.url}/v1/turns/big`, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/event-stream' }, body: JSON.stringify({ input: 'big', session: { id: 'clog' } }) })
    await until(() => gateway.engine.turns.length === 0)
    console.log('first ended')
    const next = await turn('clog', 'small', { agent: 'big' })
    expect(next).toMatchObject({ outcome: 'completed', text: 'small' })
    await client.body?.cancel()
  })

  test('23 health of a hung agent', async () => {
    await delay(700)
    const { readFileSync } = await import('node:fs')
    const n = readFileSync(`${gateway.folder}/hung`, 'utf8').split('\n').length - 1
    console.log('hung starts', n, 'alive', pidsOf('sleep\u00001019').length, gateway.logged.filter((l) => l.includes('health')).length)
    expect(gateway.logged.filter((l) => l.includes('health')).length).toBeGreaterThan(2)
  })

  test('20 restore fail: first turn refused', async () => {
    const agent = gateway.engine.settings.agents.get('fail')!
    for (let i = 0; i < 5; i++) gateway.engine.breakers.told(agent, { code: 'agent-unavailable', message: '', retryable: true })
    const r = await turn('rf-1', [[END]], { agent: 'fail' })
    expect((r['fault'] as any).code).toBe('agent-unavailable')
    gateway.engine.breakers.told(agent, undefined)
    const again = await turn('rf-1', [[END]], { agent: 'fail' })
    expect(again).toMatchObject({ outcome: 'completed' })
  })

  test('25 follower stand-in signalled', async () => {
    const stages = [[START, text('one ')], [END]]
    const accepted = await turn('fo-1', stages, { prefer: 'respond-async' })
    await until(() => running('fo-1')?.view.text === 'one ')
    const id = running('fo-1')!.id
    const client = new StandInClient(gateway.url, 'native', 'staged', { text: '[[{"type":"turn-end","outcome":"completed"}]]', session: 'fo-2' })
    await until(() => client.ending !== undefined)
    client.write(`${JSON.stringify({ type: 'turn-follow', target: { turn: id }, exchange: 'f' })}\n`)
    await until(() => client.read.includes('one '))
    console.log(Object.getOwnPropertyNames(Object.getPrototypeOf(client)))
    ;(client as any).signal?.('SIGTERM')
    await delay(700)
    console.log(client.read)
    expect(running('fo-1')?.ended).toBe(false)
  })
})

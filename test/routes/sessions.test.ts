import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StandInClient } from '../hostile/stand-in.ts'
import { askHttp } from '../kit/clients.ts'
import { AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

const SLEEPER = ['silent.sh', '1007'].join('\0')

describe('a session', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    const coder = (name: string): string =>
      `{ protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc, restore-${name}], restore: ${name} }`
    gateway = await startGateway(`
default: fresh
limits: { grace: 300ms }
agents:
  fresh: ${coder('fresh')}
  fail: ${coder('fail')}
  replay: ${coder('replay')}
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  native: { protocol: native, command: ${process.execPath}, args: [${KIT}/native.mjs] }
  own: { protocol: agentproc, command: ${KIT}/own-session.sh, args: [] }
  narrow: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs, narrow], pool: { max: 1, idle: 50ms }, limits: { queue: 0 } }
  script: { protocol: agentproc, command: /bin/sh, args: [-c, "touch $0", "\${TEST_FOLDER}/started"] }
  sleeper: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["1007"], limits: { grace: 1h } }
  lingers: { protocol: zene, command: ${process.execPath}, args: [${KIT}/lingers.mjs] }
routes:
  - { when: { session: "lingering-*" }, agent: lingers, busy: reject }
  - { when: { session: "rejecting-*" }, agent: patient, busy: reject }
  - { when: { session: "steering-*" }, agent: fresh, busy: steer }
  - { when: { session: "steered-*" }, agent: native, busy: steer }
  - { when: { session: "strict-*" }, agent: native, busy: steer, loss: strict }
`)
  })
  afterAll(() => gateway.close())

  const kill = async (name: string): Promise<void> => {
    const [pid] = pidsOf(`coder.mjs rpc restore-${name}`.replaceAll(' ', '\0'))
    process.kill(pid!, 'SIGKILL')
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes(`"${name}"`)))
  }
  const ask = (agent: string, text: string, session = 's') =>
    askHttp(gateway.url, 'zene', { text, session, agent, id: `${agent}-${text}` })

  test('whose process is gone begins anew, and the clients that can be told are', async () => {
    expect((await ask('fresh', 'one')).text).toBe('You said: one (turn 1 of this session)')
    await kill('fresh')
    const zot = await askHttp(gateway.url, 'zot', { text: 'two', session: 's', agent: 'fresh' })
    expect(zot.text).toBe('You said: two (turn 1 of this session)')
    expect(zot.raw).toContain('The process of this session was gone: the agent starts a new session.')
  })

  test('whose process is gone is refused where the agent says so', async () => {
    expect(await ask('fail', 'one')).toMatchObject({ ok: true })
    await kill('fail')
    const refused = await ask('fail', 'two')
    expect(refused).toMatchObject({ ok: false, status: 404 })
    expect(refused.raw).toContain('The process of this session is gone')
  })

  test('whose process is gone is told again, where the agent says so, and the loss of form is reported', async () => {
    expect(await ask('replay', 'one')).toMatchObject({ ok: true })
    await kill('replay')
    const response = await fetch(`${gateway.url}/v1/zene/replay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: 'r2', session_id: 's', prompt: 'two' }),
    })
    expect(response.headers.get('turnpike-loss')).toContain('weakened=1')
    const { text } = (await response.json()) as { text: string }
    expect(text).toBe(
      'You said: The conversation so far:\n\nUser: one\n\nAssistant: You said: one (turn 1 of this session)\n\n' +
        'It goes on with this message:\ntwo (turn 1 of this session)',
    )
  })

  test('keeps the id that its agent gave it, also when the turn has failed', async () => {
    expect(await ask('own', 'fail')).toMatchObject({ ok: false })
    expect((await ask('own', 'again')).text).toBe('I am in own-1.')
  })

  test('finds no place while every process of its agent is busy and none may wait; one that is idle is ended', async () => {
    const running = new AbortController()
    const first = fetch(`${gateway.url}/v1/zene/narrow`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: 'n1', session_id: 'n1', prompt: 'wait' }),
      signal: running.signal,
    })
    await until(() => gateway.engine.turns.some(({ view }) => view.text !== ''))
    const refused = await askHttp(gateway.url, 'zene', { text: 'quick', session: 'n2', agent: 'narrow', id: 'n2' })
    expect(JSON.parse(refused.raw)).toMatchObject({ ok: false, error_code: 'BUSY' })
    expect(refused.status).toBe(429)
    running.abort()
    await first.catch(() => {})
    // The place is free a moment after its turn has been cancelled.
    const next = (id: number) =>
      askHttp(gateway.url, 'zene', { text: 'quick', session: 'n2', agent: 'narrow', id: `next-${id}` })
    let tries = 0
    await until(async () => (await next(++tries)).ok)
    await until(() => pidsOf('patient-zot.mjs\0narrow').length === 0)
  })

  test('is not begun by a question about it', async () => {
    const ask = (line: object) =>
      fetch(`${gateway.url}/v1/zot/fail?session=asked-first`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: `${JSON.stringify(line)}\n`,
      }).then((response) => response.text())
    expect(await ask({ id: '1', type: 'get_state' })).toContain('"success":true')
    const raw = await ask({ id: '2', type: 'prompt', message: 'hello' })
    expect(raw).toContain('"type":"done"')
    expect(raw).not.toContain('The process of this session')
  })

  test('cannot be compacted by an agent that has no word for it, which is not started', async () => {
    const response = await fetch(`${gateway.url}/v1/zot/script?session=c`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"id":"1","type":"compact"}\n',
    })
    expect(await response.text()).toContain('cannot compact its conversation')
    expect(existsSync(`${gateway.folder}/started`)).toBe(false)
  })

  test('whose agent is one process a turn is stopped at once when it is cancelled, however long the grace', async () => {
    const running = new AbortController()
    const turn = fetch(`${gateway.url}/v1/agentproc/sleeper`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ AGENT_MESSAGE: 'hi' }),
      signal: running.signal,
    })
    await until(() => pidsOf(SLEEPER).length === 1)
    running.abort()
    await turn.catch(() => {})
    // The test would time out before the grace of an hour does.
    await until(() => pidsOf(SLEEPER).length === 0)
  })

  test('takes no second turn meanwhile where its route rejects them', async () => {
    const running = new AbortController()
    const first = fetch(`${gateway.url}/v1/zene`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: 'r1', session_id: 'rejecting-1', prompt: 'wait' }),
      signal: running.signal,
    })
    const runs = (): boolean => gateway.engine.turns.some(({ view }) => view.session === 'rejecting-1')
    await until(runs)
    const refused = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'rejecting-1', id: 'r2' })
    expect(JSON.parse(refused.raw)).toMatchObject({ ok: false, error_code: 'BUSY' })
    running.abort()
    await first.catch(() => {})
    await until(() => !runs())
    const next = await askHttp(gateway.url, 'zene', { text: 'quick', session: 'rejecting-1', id: 'r3' })
    expect(next.text, next.raw).toMatch(/^pid \d+$/)
  })

  test('takes the next turn, or is deleted, as soon as one has its end, though its process has not left yet', async () => {
    const pids: (string | undefined)[] = []
    for (const id of ['one', 'two']) {
      const answer = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'lingering-1', id })
      expect(answer.text, answer.raw).toMatch(/^pid \d+$/)
      pids.push(answer.text)
    }
    expect(pids[0]).not.toBe(pids[1])
    const lingering = pidsOf('lingers.mjs')
    expect(lingering.map((pid) => `pid ${pid}`)).toEqual([pids[1]])
    const { sessions } = (await (await fetch(`${gateway.url}/v1/sessions`)).json()) as {
      sessions: { id: string; agent: string; busy: boolean }[]
    }
    const [session] = sessions.filter(({ agent }) => agent === 'lingers')
    expect(session).toMatchObject({ busy: false })
    expect(await fetch(`${gateway.url}/v1/sessions/${session!.id}`, { method: 'DELETE' })).toMatchObject({
      status: 200,
    })
    await until(() => pidsOf('lingers.mjs').length === 0)
  })

  test('gives a second turn to the running one where it is to be steered: both get its end, one ran', async () => {
    const first = askHttp(gateway.url, 'zene', { text: 'wait', session: 'steered-1', id: 'one' })
    await until(() => gateway.engine.turns.some((turn) => turn.steerable))
    const second = askHttp(gateway.url, 'zene', { text: 'hurry', session: 'steered-1', id: 'two' })
    const answers = await Promise.all([first, second])
    expect(answers.map(({ raw }) => (JSON.parse(raw) as { request_id: string }).request_id)).toEqual(['one', 'two'])
    expect(answers.map(({ text }) => text)).toEqual(['Told meanwhile: hurry', 'Told meanwhile: hurry'])
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { session: string }[] }
    expect(turns.filter(({ session }) => session === 'steered-1')).toHaveLength(1)
  })

  /** A turn over the native API, under an idempotency key where there is one. */
  const turn = async (session: string, input: string, more: { key?: string; options?: object } = {}) => {
    const response = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(more.key && { 'idempotency-key': more.key }) },
      body: JSON.stringify({ input, session: { id: session }, ...(more.options && { options: more.options }) }),
    })
    return (await response.json()) as { turn: string; text?: string; losses?: unknown[]; fault?: { code: string } }
  }
  const steerable = (session: string) => () =>
    gateway.engine.turns.some((one) => one.view.session === session && one.steerable)

  test('answers the duplicate of a request that steered a turn from that turn, and tells the agent nothing twice', async () => {
    const first = turn('steered-2', 'wait')
    await until(steerable('steered-2'))
    const steering = await turn('steered-2', 'hurry', { key: 'k1' })
    expect(steering.text).toBe('Told meanwhile: hurry')
    expect((await first).turn).toBe(steering.turn)
    const again = await turn('steered-2', 'hurry', { key: 'k1' })
    expect([again.turn, again.text]).toEqual([steering.turn, 'Told meanwhile: hurry'])
  })

  test('tells who steers a turn what its agent was not told; where nothing may be lost the request waits instead', async () => {
    const first = turn('steered-3', 'wait')
    await until(steerable('steered-3'))
    const steering = await turn('steered-3', 'hurry', { options: { effort: 'high' } })
    expect(steering.losses).toEqual([{ kind: 'dropped', item: 'option.effort', why: 'policy', count: 1 }])
    expect((await first).losses).toBeUndefined()

    const strict = turn('strict-1', 'wait')
    await until(steerable('strict-1'))
    const waiting = turn('strict-1', 'wait', { options: { effort: 'high' } })
    await until(() => gateway.engine.turns.filter(({ view }) => view.session === 'strict-1').length === 2)
    expect((await turn('strict-1', 'hurry')).turn).toBe((await strict).turn)
    await until(steerable('strict-1'))
    await turn('strict-1', 'hurry')
    expect((await waiting).losses).toBeUndefined()
  })

  test('is free for a request that was refused, under the same key, as soon as there is room', async () => {
    const first = turn('rejecting-2', 'wait')
    await until(() => gateway.engine.turns.some(({ view }) => view.session === 'rejecting-2' && view.text !== ''))
    expect((await turn('rejecting-2', 'quick', { key: 'k2' })).fault?.code).toBe('session-busy')
    const [running] = gateway.engine.turns.filter(({ view }) => view.session === 'rejecting-2')
    running!.cancel()
    await first
    const taken = await turn('rejecting-2', 'quick', { key: 'k2' })
    expect(taken.text).toMatch(/^pid \d+$/)
    expect((await turn('rejecting-2', 'quick', { key: 'k2' })).turn).toBe(taken.turn)
  })

  test.each([
    ['native', undefined],
    ['patient', 'The agent "patient" takes no input while it works; send it as a new turn.'],
  ])('is steered by the own word of the native protocol, or the client is told why not: %s', async (agent, refusal) => {
    const client = new StandInClient(gateway.url, 'native', agent, { text: 'wait', session: `told-${agent}` })
    await until(() => gateway.engine.turns.some(({ view }) => view.session === `told-${agent}` && view.seq > 1))
    client.write('{"type":"turn-steer","exchange":"told","input":"hurry"}\n')
    const reply = (): string | undefined => client.read.split('\n').find((line) => line.includes('"exchange":"told"'))
    await until(() => reply() !== undefined)
    const fault = { code: 'invalid-request', message: refusal, retryable: false }
    expect(JSON.parse(reply()!)).toEqual({
      type: 'command-reply',
      turn: null,
      exchange: 'told',
      ...(refusal !== undefined && { fault }),
    })
    if (refusal !== undefined) client.cancel()
    await until(() => client.ending !== undefined)
    expect(client.ending).toBe(refusal === undefined ? 'completed' : 'cancelled')
    client.endInput()
    await client.ended
  })

  test('queues a second turn where it is to be steered, but its agent cannot be', async () => {
    const shown = await Promise.all(
      ['one', 'two'].map((text) => askHttp(gateway.url, 'zene', { text, session: 'steering-1', id: text })),
    )
    expect(shown.map(({ text }) => text)).toEqual([
      'You said: one (turn 1 of this session)',
      'You said: two (turn 2 of this session)',
    ])
  })
})

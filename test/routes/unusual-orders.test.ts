import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentHooks } from '../../src/contract/index.ts'
import { StandInClient } from '../hostile/stand-in.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { unend, writeBeside } from '../kit/journal.ts'
import { pidsOf, until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

const START = { type: 'message-start', message: 'm1', role: 'assistant' }
const CLOSE = { type: 'message-end', message: 'm1' }
const END = { type: 'turn-end', outcome: 'completed', stop: 'end' }
const say = (text: string): object => ({ type: 'text-delta', message: 'm1', text })

/** A question of an approval under this id. */
const ask = (id: string): object => {
  const options = [{ id: 'go', kind: 'allow', scope: 'once' }]
  return { type: 'ask', ask: id, question: { kind: 'approval', name: 'rm', args: {}, options } }
}

/** What a request may have beside its prompt. */
interface More {
  agent?: string
  key?: string
  background?: true
  signal?: AbortSignal
}

/** An answer of the native API, as far as it is looked at. */
interface Answer {
  turn: string
  outcome?: string
  text?: string
  continuation?: string
  asks?: { ask: string }[]
  notices?: { code: string }[]
  losses?: unknown[]
  fault?: { code: string }
  status?: string
  headers: Headers
}

describe('events in an unusual order', () => {
  let gateway: TestGateway
  /** How many requests are over. */
  let over = 0

  beforeAll(async () => {
    const staged = `protocol: native, command: ${process.execPath}, args: [${KIT}/staged.mjs]`
    const observed: typeof silentHooks.request = (info) => ({
      ...silentHooks.request(info),
      end: () => {
        over += 1
      },
    })
    gateway = await startGateway(
      `
default: staged
limits: { grace: 300ms }
agents:
  staged: { ${staged} }
  brief: { ${staged}, limits: { ask: 2s } }
  strict: { ${staged}, restore: fail, pool: { max: 1 }, limits: { queue: 0 } }
  late: { protocol: native, command: /bin/sh, args: [-c, '[ -e $0 ] || exit 3; exec "$@"', "\${TEST_FOLDER}/late", ${process.execPath}, ${KIT}/staged.mjs], restore: fail }
  floods: { protocol: agentproc, command: ${process.execPath}, args: [${KIT}/floods.mjs], max_reply_chars: 1000000000, limits: { total: 2s } }
  changed: { protocol: native, command: ${process.execPath}, args: [${KIT}/staged.mjs, changed] }
  two: { ${staged}, pool: { max: 2 } }
  forgets: { protocol: zene, command: ${process.execPath}, args: [${KIT}/forgets.mjs, "\${TEST_FOLDER}/diary"] }
  engine: { protocol: zene, command: ${process.execPath}, args: [${KIT}/unwell.mjs], breaker: { failures: 1000 } }
  broken: { protocol: agentproc, command: "\${TEST_FOLDER}/broken.sh", args: [], breaker: { failures: 1, cooldown: 1ms } }
routes:
  - { when: { session: "steered-*" }, agent: staged, busy: steer }
  - { when: { session: "shape-*" }, agent: staged, journal: shape }
  - { when: { session: "moving-*" }, agent: engine, fallback: [broken] }
`,
      { hooks: { request: observed } },
    )
  })
  afterAll(() => gateway.close())

  const post = async (body: object, { agent, key, background, signal }: More = {}): Promise<Answer> => {
    const response = await fetch(`${gateway.url}/v1/turns${agent === undefined ? '' : `/${agent}`}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(background && { prefer: 'respond-async' }),
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
    return { ...((await response.json()) as Answer), headers: response.headers }
  }
  /** A turn whose agent says these stages, see `staged.mjs`. */
  const turn = (session: string, stages: readonly object[][], more?: More) =>
    post({ input: JSON.stringify(stages), session: { id: session } }, more)
  const running = (session: string) => gateway.engine.turns.find(({ view }) => view.session === session)

  test('a question that is asked twice under one id waits once, and its time is out once', async () => {
    const parked = await turn('twice', [[ask('a1'), ask('a1')], [START, say('told'), CLOSE, ask('a2')], [END]], {
      agent: 'brief',
    })
    expect(parked.asks?.map(({ ask: id }) => id)).toEqual(['a1'])
    const reply = { kind: 'approval', option: 'go' }
    const second = await post({ type: 'ask-reply', target: { continuation: parked.continuation }, ask: 'a1', reply })
    expect([second.outcome, second.text, second.asks?.map(({ ask: id }) => id)]).toEqual(['parked', 'told', ['a2']])
    // Nobody answers this one: its own time is over later than that of the first would have been.
    await until(() => running('twice') === undefined)
    const told = await (await fetch(`${gateway.url}/v1/turns/${parked.turn}/events`)).text()
    expect(
      [...told.matchAll(/"type":"(ask|ask-settled)".*?"ask":"(\w+)".*?(?:"how":"(\w+)"|\n)/g)].map(
        ([, type, id, how]) => [type, id, how],
      ),
    ).toEqual([
      ['ask', 'a1', undefined],
      ['ask-settled', 'a1', 'answered'],
      ['ask', 'a2', undefined],
      ['ask-settled', 'a2', 'timeout'],
    ])
  })

  test('who steers a turn in the middle of a message gets the rest of that message', async () => {
    const first = turn('steered-1', [
      [START, say('one ')],
      [say('two'), CLOSE, END],
    ])
    await until(() => running('steered-1')?.view.text === 'one ')
    expect(await turn('steered-1', [])).toMatchObject({ outcome: 'completed', text: 'two' })
    expect(await first).toMatchObject({ outcome: 'completed', text: 'one two' })

    const parts = [{ type: 'text', text: 'one two' }]
    const whole = turn('steered-2', [
      [START, say('one ')],
      [{ ...CLOSE, parts }, END],
    ])
    await until(() => running('steered-2')?.view.text === 'one ')
    expect(await turn('steered-2', [])).toMatchObject({ outcome: 'completed', text: 'two' })
    expect(await whole).toMatchObject({ outcome: 'completed', text: 'one two' })
  })

  test('the duplicate of a turn whose content is not kept is no empty success', async () => {
    const stages = [[START, say('private'), CLOSE, END]]
    expect((await turn('shape-1', stages, { key: 'k1' })).text).toBe('private')
    const late = await turn('shape-1', stages, { key: 'k1' })
    expect([late.outcome, late.text, late.fault?.code]).toEqual([undefined, undefined, 'invalid-request'])
  })

  test('a turn in the background goes on when who asked for its answer leaves', async () => {
    const stages = [
      [START, say('one ')],
      [say('two'), CLOSE, END],
    ]
    const { status } = await turn('background-1', stages, { key: 'k1', background: true })
    expect(status).toBe('accepted')
    await until(() => running('background-1')?.view.text === 'one ')
    const leaving = new AbortController()
    const before = over
    const duplicate = fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'idempotency-key': 'k1' },
      body: JSON.stringify({ input: JSON.stringify(stages), session: { id: 'background-1' } }),
      signal: leaving.signal,
    })
    // It has joined: the head comes with the first event.
    expect((await duplicate).headers.get('turnpike-turn')).toBe(running('background-1')!.id)
    leaving.abort()
    await until(() => over > before)
    running('background-1')!.tellAgent({ exchange: 'x', input: [] })
    expect((await turn('background-1', stages, { key: 'k1' })).text).toBe('one two')
  })

  test('a turn goes on when a stand-in that only follows it is told to stop, and that one ends', async () => {
    const own = JSON.stringify([[END]])
    const client = new StandInClient(gateway.url, 'native', 'staged', { text: own, session: 'follows' })
    await until(() => client.ending !== undefined)
    const followed = turn('followed', [
      [START, say('one ')],
      [say('two'), CLOSE, END],
    ])
    await until(() => running('followed')?.view.text === 'one ')
    const follow = { type: 'turn-follow', target: { turn: running('followed')!.id } }
    const watch = { type: 'query', what: 'turns', args: { follow: true } }
    client.write(`${JSON.stringify(follow)}\n${JSON.stringify(watch)}\n`)
    await until(() => client.read.includes('"one "') && client.read.includes('"turns"'))
    client.signal()
    expect(await client.ended).toBe(143)
    running('followed')!.tellAgent({ exchange: 'x', input: [] })
    expect(await followed).toMatchObject({ outcome: 'completed', text: 'one two' })
  })

  test('a turn that is tried once more in a process that stays is so at once, and loses nothing twice', async () => {
    const fault = { code: 'internal', message: 'A plan stands in the way.', retryable: false, retry: 'fresh-session' }
    const failed = { type: 'turn-end', outcome: 'failed', fault }
    expect(await turn('again-1', [[failed], [START, say('done'), CLOSE, END]])).toMatchObject({ text: 'done' })

    const asked = { input: 'again-2', session: { id: 'again-2' }, options: { effort: 'high' } }
    const answer = await post(asked, { agent: 'forgets' })
    expect([answer.outcome, answer.text, answer.losses]).toEqual([
      'completed',
      'done',
      [
        { kind: 'weakened', item: 'session.id', why: 'policy', count: 1 },
        { kind: 'dropped', item: 'option.effort', why: 'no-place', count: 1 },
      ],
    ])
  })

  test('a turn that is cancelled before it is tried once more is not begun again', async () => {
    const notes = (): string => readFileSync(`${gateway.folder}/diary`, { encoding: 'utf8', flag: 'a+' })
    const answer = post({ input: 'gives-up', session: { id: 'gives-up' } }, { agent: 'forgets' })
    await until(() => notes().includes('stopped gives-up'))
    running('gives-up')!.cancel()
    expect(await answer).toMatchObject({ outcome: 'cancelled' })
    expect(notes().match(/asked gives-up/g)).toHaveLength(1)
    // What was to stop the turn that was cancelled does not stop the next one.
    expect(await post({ input: 'go on', session: { id: 'gives-up' } }, { agent: 'forgets' })).toMatchObject({
      text: 'done',
    })
  })

  test('an agent that was to take a turn which is cancelled meanwhile is tried by the next one', async () => {
    const of = (session: string) => post({ input: 'hi', session: { id: session } })
    const broken = gateway.engine.settings.agents.get('broken')!
    expect(await of('moving-1')).toMatchObject({ fault: { code: 'agent-unavailable' } })
    await until(() => gateway.engine.breakers.state(broken) === 'half-open')
    const leaving = of('moving-2')
    await until(() => gateway.engine.breakers.state(broken) === 'open')
    running('moving-2')!.cancel()
    expect(await leaving).toMatchObject({ outcome: 'cancelled' })
    writeFileSync(`${gateway.folder}/broken.sh`, '#!/bin/sh\necho well\n', { mode: 0o755 })
    expect(await of('moving-3')).toMatchObject({ outcome: 'completed', text: 'well' })
  })

  test('a full pool ends the process that has been idle for longest, not the one that was started first', async () => {
    const of = (session: string) => turn(session, [[END]], { agent: 'two' })
    for (const session of ['idle-a', 'idle-b', 'idle-a', 'idle-c']) await of(session)
    expect((await of('idle-a')).notices).toBeUndefined()
    expect((await of('idle-b')).notices?.map(({ code }) => code)).toEqual(['session-reset'])
  })

  test('a session whose turns no agent has taken is no lost one', async () => {
    const waiting = turn(
      'unused-1',
      [
        [START, say('one')],
        [CLOSE, END],
      ],
      { agent: 'strict' },
    )
    await until(() => running('unused-1')?.view.text === 'one')
    const refused = await turn('unused-2', [[END]], { agent: 'strict' })
    expect(refused.fault?.code).toBe('overloaded')
    running('unused-1')!.tellAgent({ exchange: 'x', input: [] })
    await waiting
    expect(await turn('unused-2', [[END]], { agent: 'strict' })).toMatchObject({ outcome: 'completed' })
    // This one had a process, which has given way.
    expect((await turn('unused-1', [[END]], { agent: 'strict' })).fault?.code).toBe('session-not-found')

    expect((await turn('unused-3', [[END]], { agent: 'late' })).fault?.code).toBe('agent-crashed')
    writeFileSync(`${gateway.folder}/late`, '')
    expect(await turn('unused-3', [[END]], { agent: 'late' })).toMatchObject({ outcome: 'completed' })
  })

  test('a conversation is not cleared behind the back of a turn; what begins anew after that is no lost session', async () => {
    const client = new StandInClient(gateway.url, 'native', 'strict', {
      text: JSON.stringify([
        [START, say('one')],
        [CLOSE, END],
      ]),
      session: 'cleared',
    })
    const replies = (): { fault?: { code: string } }[] =>
      client.read
        .split('\n')
        .filter((line) => line.includes('"command-reply"'))
        .map((line) => JSON.parse(line) as { fault?: { code: string } })
    const clear = `${JSON.stringify({ type: 'session-clear', session: { id: 'cleared' } })}\n`
    await until(() => running('cleared')?.view.text === 'one')
    client.write(clear)
    await until(() => replies().length === 1)
    expect(replies()[0]!.fault?.code).toBe('session-busy')
    running('cleared')!.tellAgent({ exchange: 'x', input: [] })
    await until(() => client.ending === 'completed')
    client.write(clear)
    await until(() => replies().length === 2)
    expect(replies()[1]!.fault).toBeUndefined()
    client.endInput()
    await client.ended
    expect(await turn('cleared', [[END]], { agent: 'strict' })).toMatchObject({ outcome: 'completed' })
  })

  test('a turn whose client did not read to its end does not hold up the next one', async () => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
    const deaf = request(`${gateway.url}/v1/turns/floods`, { method: 'POST', headers })
    deaf.on('error', () => {})
    deaf.on('response', (response) => response.on('error', () => {}).pause())
    deaf.end(JSON.stringify({ input: 'flood', session: { id: 'floods' } }))
    await until(() => running('floods') !== undefined)
    const [flooded] = [running('floods')!]
    await until(() => flooded.ended)
    expect(flooded.view.end?.fault?.code).toBe('timeout')
    const next = await post({ input: 'talk', session: { id: 'floods' } }, { agent: 'floods' })
    expect([next.outcome, next.text?.length]).toEqual(['completed', 200_000])
    deaf.destroy()
  })

  describe('the duplicate of a turn that another process runs', () => {
    /** A turn that has ended here, as one that another process runs, whose lease does not end. */
    const elsewhere = async (session: string, key: string): Promise<void> => {
      const { turn: id } = await turn(session, [[START, say('one'), CLOSE, END]], { key })
      await until(() => running(session) === undefined)
      const file = `${gateway.folder}/turnpike.db`
      await until(() => isRecorded(file, id))
      await writeBeside(file, (db) => {
        db.exec("INSERT OR IGNORE INTO leases (owner, epoch, expires_at) VALUES ('another', 0, 9e15)")
        unend(db, id, 'another')
      })
    }
    const isRecorded = (file: string, id: string): boolean => {
      const db = new DatabaseSync(file, { readOnly: true })
      const row = db.prepare('SELECT outcome FROM turns WHERE turn = ?').get(id)
      db.close()
      return row?.['outcome'] === 'completed'
    }
    const duplicate = (session: string, key: string, options: object) =>
      `${JSON.stringify({
        type: 'turn-start',
        exchange: 'again',
        input: JSON.stringify([[START, say('one'), CLOSE, END]]),
        session: { id: session },
        options,
        once: { key, duplicate: 'join', replay: 'success' },
      })}\n`

    test.each([
      ['waits for its end', 'elsewhere-1', {}],
      ['is shown what is recorded of it', 'elsewhere-2', { totalMs: 1 }],
    ])('ends at once when its client is told to stop, while it %s', async (_what, session, options) => {
      await elsewhere(session, 'k1')
      const client = new StandInClient(gateway.url, 'native', 'staged', { text: '[[]]', session: `${session}-own` })
      await until(() => running(`${session}-own`) !== undefined)
      client.cancel()
      await until(() => client.ending === 'cancelled')
      client.write(duplicate(session, 'k1', options))
      const query = { type: 'query', what: 'health' }
      client.write(`${JSON.stringify(query)}\n`)
      await until(() => client.read.includes('command-reply'))
      client.signal()
      expect(await client.ended).toBe(143)
      expect(client.read).toContain('The turn was cancelled.')
    })
  })

  test('a session has one turn at a time, also when its agent gets another configuration meanwhile', async () => {
    const { settings } = gateway.engine
    const first = turn(
      'reloaded',
      [
        [START, say('one')],
        [CLOSE, END],
      ],
      { agent: 'changed' },
    )
    await until(() => running('reloaded')?.view.text === 'one')
    const inLine = turn('reloaded', [[START, say('two'), CLOSE, END]], { agent: 'changed' })
    const turns = () => gateway.engine.turns.filter(({ view }) => view.session === 'reloaded')
    await until(() => turns().length === 2)
    const before = settings.agents.get('changed')!
    const changed = { ...before }
    gateway.engine.reload({ ...settings, agents: new Map([...settings.agents, ['changed', changed]]) })
    const last = turn('reloaded', [[START, say('three'), CLOSE, END]], { agent: 'changed' })
    await until(() => turns().length === 3)
    expect(turns().map(({ agent, scope }) => [agent === before, scope.phase])).toEqual([
      [true, 'working'],
      [true, 'queued'],
      [false, 'queued'],
    ])
    turns()[0]!.tellAgent({ exchange: 'x', input: [] })
    expect((await Promise.all([first, inLine, last])).map(({ text }) => text)).toEqual(['one', 'two', 'three'])
    // Of the two processes that there were the one of the new configuration is left.
    await until(() => pidsOf(`${KIT}/staged.mjs\0changed`).length === 1)
    gateway.engine.reload(settings)
    await until(() => pidsOf(`${KIT}/staged.mjs\0changed`).length === 0)
  })

  test.each([
    ['staged', JSON.stringify([[START, say('hi'), CLOSE, { type: 'plan', json: {} }, END]]), {}],
    ['floods', 'talk', { effort: 'high' }],
  ])('an answer that is given again names its turn, its agent and its losses: %s', async (agent, input, options) => {
    const more = { agent, key: 'k1' }
    const first = await post({ input, options, session: { id: `given-again-${agent}` } }, more)
    const second = await post({ input, options, session: { id: `given-again-${agent}` } }, more)
    const told = ({ headers }: Answer) => ['turn', 'agent', 'loss'].map((name) => headers.get(`turnpike-${name}`))
    expect([told(second), second.losses]).toEqual([told(first), first.losses])
    expect(told(first)).toEqual([first.turn, agent, 'dropped=1'])
  })

  test('a question is put to the client that waits when the one that was asked leaves', async () => {
    const parked = turn('asked-1', [[START, say('one ')], [ask('a1')], [say('two'), CLOSE, END]])
    await until(() => running('asked-1')?.view.text === 'one ')
    const leaving = new AbortController()
    const path = `/v1/turns/${running('asked-1')!.id}/events?asks=now`
    const events = await fetch(gateway.url + path, { signal: leaving.signal })
    expect(events.status).toBe(200)
    running('asked-1')!.tellAgent({ exchange: 'x', input: [] })
    await until(() => running('asked-1')!.scope.phase === 'asking')
    expect(running('asked-1')!.questions?.parked).toBeUndefined()
    leaving.abort()
    const { continuation, asks } = await parked
    expect(asks?.map(({ ask: id }) => id)).toEqual(['a1'])
    const reply = { kind: 'approval', option: 'go' }
    expect((await post({ type: 'ask-reply', target: { continuation }, ask: 'a1', reply })).text).toBe('two')
  })
})

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, CLIENTS, type ClientName, clientNames, httpRequest } from '../kit/clients.ts'
import { startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'
import { recordedEvents } from '../kit/journal.ts'
import { until } from '../kit/processes.ts'
import { ANSWER, agentLine, agentName, inLanes, ownProcesses, type Program, programs, turnsOf } from './kit.ts'
import { StandInClient, standIns } from './stand-in.ts'

/** When the cancel comes, as the behaviour that waits for it, and the agents that can be in it. */
const MOMENTS: Readonly<Record<string, readonly Program[]>> = {
  'waits-before-text': programs,
  'waits-in-text': programs,
  'waits-in-a-tool': ['zot', 'zene-stream', 'qwen', 'qwen-code'],
  'waits-for-approval': ['agentproc@0.4', 'qwen', 'qwen-code'],
  'answers-after-cancel': programs,
  'is-deaf': programs,
}

/** Every front meets every back in the middle of a text; in the other moments these stand for the others. */
const FRONTS: readonly string[] = ['zot', 'qwen-code', 'agentproc@0.4']

interface Cell {
  front: string
  back: Program
  moment: string
}

const CELLS: Cell[] = standIns.flatMap((front) =>
  Object.entries(MOMENTS).flatMap(([moment, backs]) =>
    backs.filter(() => moment === 'waits-in-text' || FRONTS.includes(front)).map((back) => ({ front, back, moment })),
  ),
)

describe('a turn that is cancelled', { timeout: 600_000 }, () => {
  let gateway: TestGateway
  let store: string
  const spoken = new Map<Cell, Promise<Outcome>>()
  const left = new Map<string, Promise<string>>()

  /** What a cell has come to. */
  interface Outcome {
    ending: string | undefined
    text: string
    ok: boolean
  }

  beforeAll(async () => {
    const more = `env: { HOSTILE_SIGNS: "\${TEST_FOLDER}" },`
    const lines = [...Object.keys(MOMENTS), 'waits-for-a-word', 'answers-well'].flatMap((behaviour) =>
      programs.map((program) => agentLine(program, behaviour, more)),
    )
    gateway = await startGateway(
      `
default: zot.answers-well
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 120s, grace: 300ms }
agents:
${lines.join('')}routes:
  - { when: { session: "drain-*" }, agent: zot.waits-for-a-word, onDisconnect: drain }
`,
      { starter: true },
    )
    store = join(gateway.folder, 'turnpike.db')
    writeFileSync(join(gateway.folder, 'reached'), '')
    const all = inLanes(
      8,
      CELLS.map((cell) => () => cancelByWord(cell)),
    )
    for (const [at, cell] of CELLS.entries()) spoken.set(cell, all[at]!)
    const pairs = clientNames.flatMap((front) => programs.map((back) => ({ front, back })))
    const gone = inLanes(
      4,
      pairs.map((pair) => () => leave(pair.front, pair.back)),
    )
    for (const [at, { front, back }] of pairs.entries()) left.set(`${front} ${back}`, gone[at]!)
  })
  afterAll(() => gateway.close())

  const nameOf = (...words: string[]): string => words.join('-').replaceAll('@', '-').replaceAll('.', '-')
  const reached = (prompt: string): boolean =>
    readFileSync(join(gateway.folder, 'reached'), 'utf8').split('\n').includes(prompt)
  const ended = (session: string, count: number): boolean => {
    const turns = turnsOf(store, session)
    return turns.length === count && turns.every(({ outcome }) => outcome !== null)
  }

  async function cancelByWord({ front, back, moment }: Cell): Promise<Outcome> {
    const session = nameOf('word', front, back, moment)
    const client = new StandInClient(gateway.url, front, agentName(back, moment), { text: session, session })
    await until(() => reached(session))
    client.cancel()
    await until(() => client.ending !== undefined)
    const { ending } = client
    client.signal()
    await client.ended
    const next = { text: 'behave', session, agent: agentName(back, moment), id: `${session}-2` }
    const { ok, text } = await askHttp(gateway.url, 'zot', next)
    await until(() => ended(session, 2))
    return { ending, ok, text }
  }

  test.each(CELLS.map((cell) => [cell.front, cell.back, cell.moment, cell] as const))(
    'by %s → %s that %s',
    async (front, back, moment, cell) => {
      expect(await spoken.get(cell)!).toEqual({ ending: 'cancelled', ok: true, text: ANSWER })
      expect(turnsOf(store, nameOf('word', front, back, moment))).toMatchObject([
        { outcome: 'cancelled', ends: 1, endsLast: true },
        { outcome: 'completed', ends: 1, endsLast: true },
      ])
    },
  )

  /** Asks over HTTP; the returned function hangs up. */
  function askAndLeave(front: ClientName, agent: string, session: string): () => Promise<void> {
    const { path, method, headers, body } = httpRequest(front, { text: session, session, agent, id: session })
    const call = request(`${gateway.url}${path}`, { method, headers })
    call.on('response', (response) => response.on('error', () => {}).resume())
    call.on('error', () => {})
    const closed = new Promise<void>((resolve) => call.on('close', resolve))
    call.end(body)
    return () => {
      call.destroy()
      return closed
    }
  }

  async function leave(front: ClientName, back: Program): Promise<string> {
    const session = nameOf('left', front, back)
    const hangUp = askAndLeave(front, agentName(back, 'waits-in-text'), session)
    await until(() => reached(session))
    await hangUp()
    await until(() => ended(session, 1))
    return session
  }

  test.each(clientNames.flatMap((front) => programs.map((back) => [front, back] as const)))(
    'by the leaving of its client: %s → %s',
    async (front, back) => {
      const session = await left.get(`${front} ${back}`)!
      expect(turnsOf(store, session)).toMatchObject([{ outcome: 'cancelled', ends: 1, endsLast: true }])
    },
  )

  test.each(programs)('while it waits for its session: %s, and the one before it goes on', async (back) => {
    const session = nameOf('queue', back)
    const agent = agentName(back, 'waits-for-a-word')
    const first = new StandInClient(gateway.url, 'zot', agent, { text: session, session })
    await until(() => reached(session))
    const second = new StandInClient(gateway.url, 'zot', agent, { text: `${session}-2`, session })
    await until(() => turnsOf(store, session).length === 2)
    second.cancel()
    await until(() => second.ending !== undefined)
    expect([second.ending, first.ending]).toEqual(['cancelled', undefined])
    expect(reached(`${session}-2`)).toBe(false)
    writeFileSync(join(gateway.folder, session), '')
    await until(() => first.ending !== undefined)
    expect(first.ending).toBe('completed')
    for (const client of [first, second]) client.endInput()
    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0])
    await until(() => ended(session, 2))
    expect(turnsOf(store, session).map(({ outcome, ends }) => [outcome, ends])).toEqual([
      ['completed', 1],
      ['cancelled', 1],
    ])
  })

  test.each(clientNames)('not at all where the route drains: %s', async (front) => {
    const session = nameOf('drain', front)
    const hangUp = askAndLeave(front, agentName('zot', 'waits-for-a-word'), session)
    await until(() => reached(session))
    await hangUp()
    // The gateway has answered a later request: it has heard of the leaving by then.
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    writeFileSync(join(gateway.folder, session), '')
    await until(() => ended(session, 1))
    const [turn] = turnsOf(store, session)
    expect(turn).toMatchObject({ outcome: 'completed', ends: 1, endsLast: true })
    expect(saidIn(turn!.turn)).toBe(ANSWER)
  })

  function saidIn(turn: string): string {
    const db = new DatabaseSync(store, { readOnly: true })
    const events = recordedEvents(db, turn)
    db.close()
    return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
  }

  test('the end of the input ends nothing: what runs is finished', async () => {
    const session = 'eof'
    const client = new StandInClient(gateway.url, 'zot', agentName('zot', 'waits-for-a-word'), {
      text: session,
      session,
    })
    await until(() => reached(session))
    client.endInput()
    writeFileSync(join(gateway.folder, session), '')
    expect(await client.ended).toBe(0)
    expect(client.ending).toBe('completed')
  })

  test.each([
    ['zot', 'zot', 143],
    ['agentproc', 'qwen-code', 143],
    ['zene', 'zene-stream', 0],
  ] as const)('by a signal to the program that stands in for %s → %s', async (front, back, code) => {
    const session = nameOf('signal', front, back)
    const config = join(gateway.folder, `${session}.yaml`)
    const agent = agentLine(back, 'waits-in-text', `env: { HOSTILE_SIGNS: ${gateway.folder} },`)
    const rest = `agents:\n${agent}store: { path: ./${session}.db }\n`
    writeFileSync(config, `default: ${agentName(back, 'waits-in-text')}\n${rest}`)
    const client = CLIENTS[front]
    const asked = { text: session, session }
    const [protocol, ...own] = client.argv
    const named = front === 'zot' ? ['--session', session] : []
    const args = [TURNPIKE, 'as', protocol!, '--config', config, ...own, ...named]
    const env = { ...process.env, ...('env' in client ? client.env(asked) : {}) }
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.stdin.end('env' in client ? '' : client.write(asked))
    // The end of its input ended nothing.
    await until(() => reached(session))
    child.kill('SIGTERM')
    expect(await exited).toBe(code)
    expect(turnsOf(join(gateway.folder, `${session}.db`), session)).toMatchObject([
      { outcome: 'cancelled', ends: 1, endsLast: true },
    ])
  })

  test('nothing is left of the agents', async () => {
    await Promise.allSettled([...spoken.values(), ...left.values()])
    await until(() => ownProcesses().length === 0)
    expect([...gateway.engine.turns]).toEqual([])
  })
})

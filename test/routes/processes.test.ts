import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { askHttp } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

/** Notes its message, and waits for a word when it is the first. */
const HELD =
  'echo "begin $AGENT_MESSAGE" >>"$DIARY"; [ "$AGENT_MESSAGE" != u0 ] || until [ -e "$DIARY.go" ]; do sleep 0.02; done; echo done'

/** The most that had come and not gone at any moment. */
function atOnce(lines: readonly string[], come: string, go: string): number {
  let now = 0
  let most = 0
  for (const line of lines) {
    if (line.startsWith(come)) now += 1
    if (line.startsWith(go)) now -= 1
    most = Math.max(most, now)
  }
  return most
}

describe('the processes of an agent', () => {
  let gateway: TestGateway
  const notes = (file: string): string[] => readFileSync(`${gateway.folder}/${file}`, 'utf8').trim().split('\n')
  /** The turns that the agent has had, in their order. */
  const turnsIn = (file: string): string[] =>
    notes(file).flatMap((line) => (line.startsWith('turn ') ? [line.slice('turn '.length)] : []))

  beforeAll(async () => {
    const roster = (name: string, more: string): string =>
      `  ${name}: { protocol: native, command: ${process.execPath}, args: [${KIT}/roster.mjs], env: { ROSTER: "\${TEST_FOLDER}/${name}" }, ${more} }`
    gateway = await startGateway(`
default: two
limits: { grace: 1s }
agents:
  each: { protocol: agentproc, command: ${KIT}/diary.sh, args: [], env: { DIARY: "\${TEST_FOLDER}/each" }, pool: { max: 2 } }
  single: { protocol: agentproc, command: /bin/sh, args: [-c, ${JSON.stringify(HELD)}], env: { DIARY: "\${TEST_FOLDER}/single" }, pool: { max: 1 } }
${roster('two', 'pool: { max: 2 }')}
${roster('warm', 'pool: { max: 2, warm: 2 }')}
${roster('one', 'pool: { max: 1 }')}
${roster('short', 'pool: { max: 1 }, limits: { queue: 1 }')}
${roster('late', 'pool: { max: 1 }, limits: { start: 200ms }')}
routes:
  - { when: { session: "moving-*" }, agent: late, fallback: [each] }
`)
  })
  afterAll(() => gateway.close())

  /** A turn over the native API. */
  const ask = async (agent: string, input: string, session = input, signal?: AbortSignal) => {
    const response = await fetch(`${gateway.url}/v1/turns${agent && `/${agent}`}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, session: { id: session } }),
      ...(signal && { signal }),
    })
    const answer = (await response.json()) as {
      outcome: string
      text: string
      fault?: { code: string; message: string }
    }
    return { ...answer, status: response.status }
  }
  const turnOf = (session: string): Turn | undefined =>
    gateway.engine.turns.find(({ view }) => view.session === session)
  /** Asks for a turn and waits until it is in line, or runs. */
  const come = async (agent: string, input: string, session = input, signal?: AbortSignal) => {
    const answer = ask(agent, input, session, signal)
    await until(() => turnOf(session) !== undefined)
    return { answer, turn: turnOf(session)! }
  }
  /** Begins a turn that holds its process until it is answered. */
  const hold = async (agent: string, session: string) => {
    const held = await come(agent, 'wait', session)
    await until(() => held.turn.steerable)
    return { ...held, answered: () => held.turn.tellAgent({ exchange: 'x', input: [] }) }
  }

  test('that are one for a turn are never more than its pool allows; all turns are answered', async () => {
    const inputs = Array.from({ length: 10 }, (_, at) => `t${at}`)
    const answers = await Promise.all(inputs.map((input) => ask('each', input)))
    expect(answers.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'completed'))
    expect(atOnce(notes('each'), 'begin', 'end')).toBe(2)
  })

  test.each(['two', 'warm'])(
    'that live over turns give way when they are idle, and are never more either: %s',
    async (agent) => {
      const inputs = Array.from({ length: 12 }, (_, at) => `s${at}`)
      const answers = await Promise.all(inputs.map((input) => ask(agent, input)))
      expect(answers.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'completed'))
      expect(atOnce(notes(agent), 'in', 'out')).toBe(2)
    },
  )

  test('serve turns of all sessions in the order that they came', async () => {
    const first = await hold('one', 'first')
    const others = []
    for (const session of ['b', 'a', 'c']) others.push(await come('one', session))
    first.answered()
    await Promise.all([first.answer, ...others.map(({ answer }) => answer)])
    expect(turnsIn('one')).toEqual(['wait', 'b', 'a', 'c'])
  })

  test('that are one for a turn serve turns in their order, and a cancelled one not at all', async () => {
    const first = await come('single', 'u0')
    const gone = new AbortController()
    const second = await come('single', 'u1', 'u1', gone.signal)
    const cancelled = second.answer.catch(() => 'gone')
    const others = [await come('single', 'u2'), await come('single', 'u3')]
    gone.abort()
    await until(() => second.turn.ended)
    writeFileSync(`${gateway.folder}/single.go`, '')
    await Promise.all([cancelled, first.answer, ...others.map(({ answer }) => answer)])
    expect(notes('single').filter((line) => line.startsWith('begin'))).toEqual(['begin u0', 'begin u2', 'begin u3'])
  })

  test('are not taken by a turn that is cancelled while it waits: it ends at once, and the next one gets the place', async () => {
    const first = await hold('one', 'busy')
    const [second, third] = [await come('one', 'second'), await come('one', 'third')]
    expect([second.turn.cancel(), (await second.answer).outcome, first.turn.ended]).toEqual([true, 'cancelled', false])
    first.answered()
    expect((await third.answer).outcome).toBe('completed')
    expect(turnsIn('one').slice(-2)).toEqual(['wait', 'third'])
  })

  test('are kept by their session while turns of it wait', async () => {
    const first = await hold('one', 'kept')
    const other = await come('one', 'other')
    const second = ask('one', 'again', 'kept')
    await until(() => gateway.engine.turns.filter(({ view }) => view.session === 'kept').length === 2)
    first.answered()
    expect((await second).text).toBe((await first.answer).text)
    expect((await other.answer).outcome).toBe('completed')
    expect(turnsIn('one').slice(-3)).toEqual(['wait', 'again', 'other'])
  })

  test('are refused to a turn when the line is full, in its client’s protocol', async () => {
    const first = await hold('short', 'held')
    const second = await come('short', 'queued')
    expect(await ask('short', 'refused')).toMatchObject({
      status: 429,
      fault: {
        code: 'overloaded',
        message:
          'The one process of the agent "short" is busy, and a turn waits for one (limit "queue"); try again later.',
      },
    })
    const zene = await askHttp(gateway.url, 'zene', { text: 'x', session: 'z', agent: 'short' })
    expect(JSON.parse(zene.raw)).toMatchObject({ ok: false, error_code: 'BUSY' })
    first.answered()
    expect([(await first.answer).outcome, (await second.answer).outcome]).toEqual(['completed', 'completed'])
  })

  test('are waited for no longer than an agent may take to be ready; then another agent takes the turn', async () => {
    const first = await hold('late', 'held-late')
    const refused = await ask('late', 'impatient')
    expect([refused.status, refused.fault]).toEqual([
      429,
      {
        code: 'overloaded',
        message:
          'No process of the agent "late" was free within 200 ms (limit "start"); try again later, or allow it more processes (pool.max).',
        retryable: true,
      },
    ])
    expect((await ask('', 'moved', 'moving-1')).text).toBe('done: moved')
    first.answered()
    expect((await first.answer).outcome).toBe('completed')
    expect(turnsIn('late')).toEqual(['wait'])
  })
})

test('turns that wait for a process end with the gateway, and nothing is started for them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-roster-'))
  const agent = `protocol: native, command: ${process.execPath}, args: [${KIT}/roster.mjs], env: { ROSTER: ${folder}/roster }`
  const gateway = await startGateway(`
default: one
limits: { grace: 300ms }
agents:
  one: { ${agent}, pool: { max: 1 } }
`)
  const asked = ['wait a', 'wait b', 'wait c'].map((text) =>
    askHttp(gateway.url, 'native', { text, session: text }).then(({ raw }) => JSON.parse(raw) as { outcome: string }),
  )
  await until(() => gateway.engine.turns.length === 3 && gateway.engine.turns.some(({ steerable }) => steerable))
  await gateway.close()
  expect((await Promise.all(asked)).map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  const notes = readFileSync(`${folder}/roster`, 'utf8').trim().split('\n')
  rmSync(folder, { recursive: true })
  expect(notes.filter((line) => line.startsWith('in '))).toHaveLength(1)
})

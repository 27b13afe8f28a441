/** Copies of sessions: made by the agent where it can, else restored from the transcript as the agent is configured. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const KIT = new URL('../kit/agents/', import.meta.url).pathname
const REMEMBERS = join(KIT, 'remembers.mjs')

let gateway: TestGateway
let folder: string

beforeAll(async () => {
  const program = (protocol: string, args: readonly string[], more: object = {}): string =>
    JSON.stringify({ protocol, command: process.execPath, args, pool: { max: 2 }, restore: 'replay', ...more })
  const remembers = (protocol: string): readonly string[] => [REMEMBERS, protocol, `\${TEST_FOLDER}/${protocol}`]
  gateway = await startGateway(`limits: { grace: 300ms }
agents:
  forks: ${program('acp', [join(KIT, 'forks.mjs'), `\${TEST_FOLDER}/forks`])}
  native: ${program('native', remembers('native'))}
  zene: ${program('zene', remembers('zene'))}
  zot: ${program('zot', remembers('zot'))}
  strict: ${program('zot', remembers('zot'), { restore: 'fail' })}
`)
  folder = gateway.folder
  mkdirSync(join(folder, 'forks'))
})
afterAll(() => gateway.close())

interface Turned {
  known?: string[]
  id?: string
  fault?: string
  notices: string[]
}

async function call(
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown> & { status: number }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { ...((await response.json()) as object), status: response.status }
}

async function turn(agent: string, session: string, input: string): Promise<Turned> {
  const { text, notices = [], fault } = await call('POST', `/v1/turns/${agent}`, { input, session: { id: session } })
  return {
    ...(text ? (JSON.parse(text as string) as object) : {}),
    notices: (notices as { text: string }[]).map((notice) => notice.text),
    ...(fault ? { fault: (fault as { message: string }).message } : {}),
  }
}

/** The gateway's own id of a session. */
async function idOf(session: string): Promise<string> {
  const { sessions } = (await call('GET', `/v1/sessions?q=${session}`)) as unknown as {
    sessions: { id: string; session: string }[]
  }
  return sessions.find((info) => info.session === session)!.id
}

async function fork(session: string, as: string) {
  return call('POST', `/v1/sessions/${await idOf(session)}/fork`, { session: { id: as } })
}

describe('a copy of a session', () => {
  test('is made by an agent that can: both go on from there, each for itself', async () => {
    await turn('forks', 'trunk', 'one')
    await turn('forks', 'trunk', 'two')
    expect(await fork('trunk', 'branch')).toMatchObject({
      status: 200,
      agent: 'forks',
      session: 'branch',
    })
    expect(await turn('forks', 'branch', 'left')).toEqual({ known: ['one', 'two'], id: 'own-2', notices: [] })
    expect(await turn('forks', 'trunk', 'right')).toEqual({ known: ['one', 'two'], id: 'own-1', notices: [] })
    expect(await turn('forks', 'branch', 'more')).toEqual({ known: ['one', 'two', 'left'], id: 'own-2', notices: [] })
    const { messages } = await call('GET', `/v1/sessions/${await idOf('branch')}`)
    const said = (messages as { role: string; parts: { text: string }[] }[]).flatMap(({ role, parts }) =>
      role === 'user' ? parts.map(({ text }) => text) : [],
    )
    expect(said).toEqual(['one', 'two', 'left', 'more'])
  })

  test('of which the first has gone on meanwhile is restored as it was', async () => {
    await turn('forks', 'early', 'one')
    await fork('early', 'late')
    await turn('forks', 'early', 'two')
    const { known, notices } = await turn('forks', 'late', 'left')
    expect([known, notices]).toEqual([
      [],
      ['The agent did not know the session that this one is a copy of: the agent gets the conversation so far.'],
    ])
  })

  test.each(['native', 'zene', 'zot'])('is restored for %s, whose agents cannot copy', async (agent) => {
    await turn(agent, `${agent}-trunk`, 'one')
    expect(await fork(`${agent}-trunk`, `${agent}-branch`)).toMatchObject({ status: 200 })
    const first = await turn(agent, `${agent}-branch`, 'left')
    expect([first.known, first.notices]).toEqual([[], [expect.stringContaining('that this one is a copy of')]])
    // Agents of the native protocol get it beside the prompt.
    const told = [agent === 'native' ? 'left' : expect.stringMatching(/User: one\n[\s\S]*\nleft$/)]
    expect(await turn(agent, `${agent}-branch`, 'more')).toMatchObject({ known: told, notices: [] })
    expect(await turn(agent, `${agent}-trunk`, 'right')).toMatchObject({ known: ['one'], notices: [] })
  })

  test('is refused by an agent that is to fail rather than lose a conversation', async () => {
    await turn('strict', 'strict-trunk', 'one')
    await fork('strict-trunk', 'strict-branch')
    expect(await turn('strict', 'strict-branch', 'left')).toMatchObject({
      fault: 'The agent does not know the session that this one is a copy of; begin a new session.',
    })
  })

  test('of a copy that has had no turn is one of the first', async () => {
    await turn('forks', 'first', 'one')
    await fork('first', 'second')
    await fork('second', 'third')
    expect(await turn('forks', 'third', 'left')).toMatchObject({ known: ['one'], notices: [] })
    expect(await turn('forks', 'second', 'right')).toMatchObject({ known: ['one'], notices: [] })
  })

  test('has a name of its own, which the gateway makes where the client gives none', async () => {
    await turn('forks', 'named', 'one')
    const id = await idOf('named')
    expect(await fork('named', 'named')).toMatchObject({ status: 400 })
    const { session, status } = await call('POST', `/v1/sessions/${id}/fork`)
    expect([status, session === 'named']).toEqual([200, false])
    expect(await call('POST', '/v1/sessions/none/fork')).toMatchObject({ status: 404 })
    expect(await turn('forks', session as string, 'left')).toMatchObject({ known: ['one'] })
  })
})

describe('the sessions that an agent keeps itself', () => {
  test('are listed by an agent that can, also those of nobody here', async () => {
    const { sessions, status } = await call('GET', '/v1/agents/forks/sessions')
    expect([status, (sessions as object[])[0]]).toEqual([200, { id: 'own-1', cwd: '/work' }])
    expect(await call('GET', '/v1/agents/forks/sessions?before=own-1.json')).toMatchObject({
      sessions: (sessions as object[]).slice(1),
    })
  })

  test('are not known of any other', async () => {
    expect(await call('GET', '/v1/agents/zot/sessions')).toMatchObject({ status: 400 })
    expect(await call('GET', '/v1/agents/none/sessions')).toMatchObject({ status: 404 })
  })
})

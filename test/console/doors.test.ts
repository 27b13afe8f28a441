import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { DOORS, requestOf } from '../../console/logic/doors.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

/** Endpoints that take turns under a second name of their path, or take none. */
const OTHERS = /^\/(?:openai|anthropic|openharness)\b|\/count_tokens$|:/

const TALKER = join(import.meta.dirname, 'agents/talker.mjs')

describe('the clients of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}
  talker: { protocol: native, command: ${process.execPath}, args: [${TALKER}] }`)
  })
  afterAll(() => gateway.close())

  test('are there for every endpoint that takes turns', async () => {
    const codecs = Object.values(await loadCodecs())
    const paths = codecs.flatMap(({ endpoints }) => endpoints.filter(({ method }) => method === 'POST'))
    expect([...DOORS].sort()).toEqual(
      [...new Set(paths.map(({ path }) => path).filter((path) => !OTHERS.test(path)))].sort(),
    )
  })

  test.each(DOORS)('%s: a turn with the chosen agent, and a second one in its session', async (path) => {
    const session = `console-${DOORS.indexOf(path)}`
    const send = async (text: string, request: string, before: Parameters<typeof requestOf>[1]['before']) => {
      const { headers, body } = requestOf(path, { text, session, request, agent: 'coder', before })
      const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
      return { status: response.status, turn: response.headers.get('turnpike-turn'), raw: await response.text() }
    }
    const first = await send('one', `r1-${session}`, [])
    expect([first.status, first.turn]).toEqual([200, expect.any(String)])
    const second = await send('two', `r2-${session}`, [
      { role: 'user', text: 'one' },
      { role: 'assistant', text: 'You said: one (turn 1 of this session)' },
    ])
    expect(second.status).toBe(200)
    const answer = await fetch(`${gateway.url}/v1/turns/${second.turn}`)
    expect(await answer.json()).toMatchObject({
      agent: 'coder',
      state: 'completed',
      text: 'You said: two (turn 2 of this session)',
    })
  })

  test.each(DOORS)('%s: a question waits for who follows the turn, and is not put to the client', async (path) => {
    const session = `asking-${DOORS.indexOf(path)}`
    const { headers, body } = requestOf(path, {
      text: 'approval',
      session,
      request: session,
      agent: 'talker',
      before: [],
    })
    const asked = fetch(gateway.url + path, { method: 'POST', headers, body })
    const asking = async (): Promise<string | undefined> => {
      const response = await fetch(`${gateway.url}/v1/turns?session=${session}`)
      const { turns } = (await response.json()) as { turns: { turn: string; phase?: string }[] }
      return turns.find(({ phase }) => phase === 'asking')?.turn
    }
    let turn: string | undefined
    await until(async () => {
      turn = await asking()
      return turn !== undefined
    })
    const answered = await fetch(`${gateway.url}/v1/turns/${turn}/approvals/a1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"option":"yes"}',
    })
    expect(answered.status).toBe(200)
    expect(await (await asked).text()).not.toContain('rm -rf build')
    const ended = await (await fetch(`${gateway.url}/v1/turns/${turn}`)).json()
    const { text, losses = [] } = ended as { text: string; losses?: { item: string }[] }
    expect([text, losses.filter(({ item }) => item.startsWith('ask'))]).toEqual(['You chose yes.', []])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, clientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

/** What each agent answers in the first and the second turn of a session. */
const AGENTS: Record<string, (text: string, turn: number, session: string) => string> = {
  helper: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
  coder: (text, turn) => `You said: ${text} (turn ${turn} of this session)`,
  writer: (text, turn) => `You said: ${text} (turn ${turn} of this session)`,
  planner: (text, _turn, session) => `You said: ${text} (session ${session})`,
  engine: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
}

describe('every front with every back, over HTTP', () => {
  let far: TestGateway
  let near: TestGateway

  beforeAll(async () => {
    far = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
    near = await startGateway(
      `default: helper\nagents:${EXAMPLE_AGENTS}  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`,
    )
  })
  afterAll(async () => {
    await near.close()
    await far.close()
  })

  for (const front of clientNames) {
    test.each(Object.keys(AGENTS))(`${front} → %s: a turn, and the next one of its session`, async (agent) => {
      const opened = front.startsWith('agentproc') || front === 'openharness' ? '' : `s-${front}-${agent}`
      const first = await askHttp(near.url, front, { text: 'hello there', session: opened, agent, id: '1' })
      expect(first).toMatchObject({ ok: true, status: 200 })
      expect(first.text).toBe(AGENTS[agent]!('hello there', 1, first.session))
      const second = await askHttp(near.url, front, { text: 'and again', session: first.session, agent, id: '2' })
      expect(second).toMatchObject({ ok: true, status: 200, session: first.session })
      expect(second.text).toBe(AGENTS[agent]!('and again', 2, first.session))
    })
  }
})

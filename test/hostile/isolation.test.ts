import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, type ClientName, clientNames } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { agentLine, inLanes, ownProcesses, type Program } from './kit.ts'

const SESSIONS = 200
/** Places of the persistent agents: fewer than their sessions, so that processes change hands. */
const PLACES = 8
const AGENTS: readonly Program[] = ['zot', 'qwen-code', 'zene-stream', 'agentproc', 'agentproc@0.4']
const POOLED: readonly Program[] = ['zot', 'qwen-code', 'zene-stream']

interface Conversation {
  session: string
  mark: string
  front: ClientName
  back: Program
}

const CONVERSATIONS: readonly Conversation[] = Array.from({ length: SESSIONS }, (_, at) => ({
  session: `isolated-${at}`,
  mark: `mark-${at}-of-${SESSIONS - at}`,
  front: clientNames[at % clientNames.length]!,
  back: AGENTS[Math.floor(at / clientNames.length) % AGENTS.length]!,
}))

/** All marks that a text holds, each once. */
const marksIn = (text: string): string[] => [...new Set(text.match(/mark-\d+-of-\d+/g))]

describe('parallel sessions', { timeout: 600_000 }, () => {
  let gateway: TestGateway

  beforeAll(async () => {
    const lines = AGENTS.map((program) => {
      const line = agentLine(program, 'remembers')
      return POOLED.includes(program) ? line.replace('max: 1000, idle: 1s', `warm: 2, max: ${PLACES}, idle: 10m`) : line
    })
    gateway = await startGateway(
      `
default: zot.remembers
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 120s, grace: 200ms }
agents:
${lines.join('')}`,
      { starter: true },
    )
  })
  afterAll(async () => {
    await gateway.close()
    await until(() => ownProcesses().length === 0)
  })

  const agentOf = ({ back }: Conversation): string => `${back.replace('@', '-')}.remembers`

  /** One turn of every conversation, as many at a time as their agent has places. */
  function everywhere<T>(step: (conversation: Conversation) => Promise<T>): Promise<[Conversation, T][]> {
    const results = AGENTS.flatMap((agent) => {
      const own = CONVERSATIONS.filter(({ back }) => back === agent)
      const steps = own.map(
        (conversation) => async (): Promise<[Conversation, T]> => [conversation, await step(conversation)],
      )
      return inLanes(PLACES, steps)
    })
    return Promise.all(results)
  }

  test.each([1, 2])('never see what is said in another: turn %i', async (turn) => {
    const shown = await everywhere((conversation) => {
      const { session, mark, front } = conversation
      return askHttp(gateway.url, front, {
        text: `${mark}.${turn}`,
        session,
        agent: agentOf(conversation),
        id: `${session}-${turn}`,
      })
    })
    expect(shown).toHaveLength(SESSIONS)
    for (const [{ session, mark }, { ok, text, raw }] of shown) {
      expect({ session, ok, marks: marksIn(raw), says: text.includes(`${mark}.${turn}`) }).toEqual({
        session,
        ok: true,
        marks: [mark],
        says: true,
      })
    }
  })

  test('have transcripts of their own', async () => {
    const transcripts = await everywhere(async (conversation) => {
      const response = await fetch(`${gateway.url}/v1/zot/${agentOf(conversation)}?session=${conversation.session}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: '{"id":"1","type":"get_messages"}\n',
      })
      return response.text()
    })
    expect(transcripts).toHaveLength(SESSIONS)
    for (const [{ session, mark }, raw] of transcripts) {
      expect({ session, marks: marksIn(raw), last: raw.includes(`${mark}.2`) }).toEqual({
        session,
        marks: [mark],
        last: true,
      })
    }
  })
})

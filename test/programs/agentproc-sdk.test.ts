import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  askHttp,
  type ClientName,
  type ClientRequest,
  clientNames,
  clientOf,
  failureOf,
  type Shown,
} from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { ASKED, describeWith, installed } from './kit.ts'

const AGENT = `{ protocol: agentproc@0.4, command: ${process.execPath}, args: [${import.meta.dirname}/agents/sdk-agent.cjs]`

describeWith('an agent on the AgentProc SDK 0.14', [installed('agentproc/src')], () => {
  let gateway: TestGateway

  beforeAll(async () => {
    // One for each client: an agent that fails again and again is left alone for a while.
    const agents = clientNames.map((_, index) => `  sdk-${index}: ${AGENT} }\n`)
    gateway = await startGateway(`agents:\n${agents.join('')}`)
  })
  afterAll(() => gateway.close())

  const ask = (front: ClientName, asked: ClientRequest): Promise<Shown> =>
    askHttp(gateway.url, front, { ...asked, agent: `sdk-${clientNames.indexOf(front)}` })
  const opened = (front: string): string =>
    front.startsWith('agentproc') || front === 'openharness' ? '' : `s-${front}`

  test.each(clientNames)('behind %s: a turn, and the next one of its session', async (front) => {
    const first = await ask(front, { text: 'hello', session: opened(front), id: '1' })
    expect(first).toMatchObject({ ok: true, text: 'You said: hello (turn 1 of this session)' })
    const second = await ask(front, { text: 'grüße 世界', session: first.session, id: '2' })
    expect(second).toMatchObject({ ok: true, text: 'You said: grüße 世界 (turn 2 of this session)' })
  })

  test.each(clientNames)('behind %s: what it thinks is not its answer', async (front) => {
    const { text } = await ask(front, { text: 'think', session: `${opened(front)}t`, id: '3' })
    expect(text).not.toContain('Let me see.')
  })

  test.each(clientNames)('behind %s: its error is the error of the turn', async (front) => {
    const failed = await ask(front, { text: 'fail', session: `${opened(front)}f`, id: '4' })
    expect(failed).toMatchObject({ ok: false })
    expect(failed.raw).toContain('the agent will not')
    expect(clientOf(front).failure(failed.raw)).toBe(await failureOf(front, 'agent-crashed'))
  })

  test.each(clientNames)('behind %s: a crash is told without its stderr', async (front) => {
    const failed = await ask(front, { text: 'crash', session: `${opened(front)}c`, id: '5' })
    expect(failed).toMatchObject({ ok: false })
    expect(failed.raw).toContain('exit code 1')
    expect(failed.raw).not.toContain('a mistake of the agent')
  })

  test.each(['allow', 'deny'])('its permission channel gets %s from the policy of the route', async (approvals) => {
    const agents = `agents: { sdk: ${AGENT}, permission: true } }`
    const asking = await startGateway(`${agents}\nroutes: [{ agent: sdk, approvals: ${approvals} }]\n`)
    try {
      for (const front of clientNames.filter((name) => !(name in ASKED))) {
        const shown = await askHttp(asking.url, front, { text: 'hi', session: opened(front), id: '6' })
        expect(shown.text, shown.raw).toContain(`You said: hi (turn 1 of this session, told ${approvals})`)
      }
    } finally {
      await asking.close()
    }
  })
})

/** What an agent says between two turns is kept with its session: for its next turn, its messages, and the log. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const AGENT = new URL('../kit/agents/unasked.mjs', import.meta.url).pathname

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(`
agents:
  worker: { protocol: native, command: ${process.execPath}, args: [${AGENT}] }
routes: [{ when: { session: "shape-*" }, agent: worker, journal: shape }]
`)
})
afterAll(() => gateway.close())

interface Answer {
  text: string
  notices?: { severity: string; code: string; text: string }[]
  losses?: unknown[]
}

async function ask(session: string, input: string, more: object = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/turns/worker`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, session: { id: session }, ...more }),
  })
  return (await response.json()) as Answer
}

/** What the session's agent has said, as its messages have it. */
async function said(session: string): Promise<string[]> {
  const list = (await (await fetch(`${gateway.url}/v1/sessions`)).json()) as {
    sessions: { id: string; session: string }[]
  }
  const { id } = list.sessions.find((known) => known.session === session)!
  const { messages } = (await (await fetch(`${gateway.url}/v1/sessions/${id}`)).json()) as {
    messages: { role: string; text?: string; parts?: { text?: string }[] }[]
  }
  return messages
    .filter(({ role }) => role === 'assistant')
    .map(({ text, parts }) => text ?? parts!.map((part) => part.text).join(''))
}

const notice = (text: string) => ({ severity: 'info', code: 'unasked-output', text })

test('the next turn tells it once, and the messages have it in its place', async () => {
  expect(await ask('s1', '2 JOB DONE')).toMatchObject({ text: 'answer' })
  const next = await ask('s1', '0 .')
  expect(next).toMatchObject({ text: 'answer', notices: [notice('JOB DONE'), notice('JOB DONE')] })
  expect((await ask('s1', '0 .')).notices).toBeUndefined()
  expect(await said('s1')).toEqual(['answer', 'JOB DONE', 'JOB DONE', 'answer', 'answer'])
})

test('the log says that there was something, and not what', async () => {
  await ask('s-log', '1 SECRET WORDS')
  await ask('s-log', '0 .')
  const lines = gateway.logged.filter((line) => line.includes('between turns'))
  expect(lines.at(-1)).toContain('worker')
  expect(lines.join('\n')).not.toContain('SECRET WORDS')
})

test.each([
  ['shape-1', {}],
  ['secret-1', { environment: { privacy: 'secret', json: {} } }],
])('where nothing of the turn is written down (%s), nothing of it is either', async (session, more) => {
  await ask(session, '1 canary-5512', more)
  const next = await ask(session, '0 .')
  expect(next.notices).toEqual([notice('The agent said something between two turns (11 characters); it is not kept.')])
  expect(await said(session)).not.toContain('canary-5512')
})

test('no more than a limit is kept; the rest is a loss', async () => {
  await ask('s-much', '50 x')
  const next = await ask('s-much', '0 .')
  expect(next.notices).toHaveLength(20)
  expect(next.losses).toContainEqual({
    kind: 'dropped',
    item: 'notice',
    field: 'between-turns',
    why: 'policy',
    count: 30,
  })
  expect(await said('s-much')).toHaveLength(22)
})

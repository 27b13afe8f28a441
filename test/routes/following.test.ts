/** Requests that follow an earlier turn instead of naming a session, over the native API. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const LISTENS = new URL('../kit/agents/listens.mjs', import.meta.url).pathname

let gateway: TestGateway
let heard: string

beforeAll(async () => {
  const agent = (name: string) =>
    `{ protocol: native, command: ${process.execPath}, args: [${LISTENS}, "\${TEST_FOLDER}/heard"], env: { NAME: ${name} } }`
  gateway = await startGateway(`default: one\nagents:\n  one: ${agent('one')}\n  two: ${agent('two')}\n`)
  heard = `${gateway.folder}/heard`
})
afterAll(() => gateway.close())

interface Answer {
  turn: string
  session: string
  text?: string
  outcome?: string
  fault?: { code: string }
  losses?: { item: string }[]
}

async function ask(input: string, more: object = {}, agent = 'one'): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, ...more }),
  })
  return (await response.json()) as Answer
}

/** All that the agent of the newest turn has heard. */
const told = (): string[] => JSON.parse(readFileSync(heard, 'utf8').trimEnd().split('\n').at(-1)!).heard

let first: Answer

beforeEach(async () => {
  first = await ask('one')
  expect(told()).toEqual(['user: one'])
})

test('the next turn goes on with the session, in the same process of the agent', async () => {
  const next = await ask('two', { after: first.turn })
  expect([next.session, next.losses]).toEqual([first.session, undefined])
  expect(told()).toEqual(['user: one', 'assistant: heard 1', 'user: two'])
  await ask('three', { after: next.turn })
  expect(told().slice(-3)).toEqual(['user: two', 'assistant: heard 3', 'user: three'])
})

test('a second one after the same turn is a session of its own that knows what was said until then', async () => {
  await ask('two', { after: first.turn })
  const fork = await ask('other', { after: first.turn })
  expect(fork.session).not.toBe(first.session)
  expect(fork.losses).toMatchObject([{ kind: 'weakened', item: 'session.id', why: 'policy' }])
  expect(told()).toEqual(['user: one', 'assistant: heard 1', 'user: other'])
  await ask('last', { after: fork.turn })
  expect(told()).toEqual(['user: one', 'assistant: heard 1', 'user: other', 'assistant: heard 3', 'user: last'])
  const again = await ask('more', { after: fork.turn })
  expect(told().slice(0, 5)).toEqual([
    'user: one',
    'assistant: heard 1',
    'user: other',
    'assistant: heard 3',
    'user: more',
  ])
  expect(again.session).not.toBe(fork.session)
})

test('another agent is told what was said to the first', async () => {
  await ask('two', { after: first.turn }, 'two')
  expect(told()).toEqual(['user: one', 'assistant: heard 1', 'user: two'])
})

test('a turn that there is none of is a fault, and nothing runs', async () => {
  const before = told()
  expect((await ask('x', { after: 'nothing' })).fault?.code).toBe('session-not-found')
  expect(told()).toEqual(before)
})

test('a client that tells the whole conversation begins a session with it', async () => {
  const history = [
    { role: 'user', parts: [{ type: 'text', text: 'a' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'b' }] },
  ]
  const whole = await ask('c', { history, historyMode: 'complete' })
  expect(told()).toEqual(['user: a', 'assistant: b', 'user: c'])
  await ask('fork', { after: whole.turn }, 'two')
  expect(told()).toEqual(['user: a', 'assistant: b', 'user: c', 'assistant: heard 3', 'user: fork'])
})

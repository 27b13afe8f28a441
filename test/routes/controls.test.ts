import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(`default: helper
agents:${EXAMPLE_AGENTS}
  named: { protocol: zot, command: zot, args: [rpc, --model, big] }
  plain: { protocol: zot, command: zot, args: [rpc] }
`)
})
afterAll(() => gateway.close())

/** Commands of one zot client, and the answers to them. */
async function zot(agent: string, session: string, ...commands: object[]): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${gateway.url}/v1/zot/${agent}?session=${session}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: commands.map((command) => `${JSON.stringify(command)}\n`).join(''),
  })
  const lines = (await response.text()).trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ type }) => type === 'response')
}

/** Who said what, of a `get_messages` answer. */
function transcript([answer]: Record<string, unknown>[]): [string, string][] {
  const { messages } = answer!['data'] as { messages: { role: string; content: { text: string }[] }[] }
  return messages.map(({ role, content }) => [role, content.map(({ text }) => text).join('')])
}

test.each([
  ['helper', 'Turn 1 of this session. You said:\n> hello'],
  ['coder', 'You said: hello (turn 1 of this session)'],
  ['planner', 'You said: hello (session m-planner)'],
])('the transcript of a session with %s is asked for by the protocol’s own command', async (agent, answer) => {
  await zot(agent, `m-${agent}`, { id: '1', type: 'prompt', message: 'hello' })
  expect(transcript(await zot(agent, `m-${agent}`, { id: '2', type: 'get_messages' }))).toEqual([
    ['user', 'hello'],
    ['assistant', answer],
  ])
})

const told = (answers: Record<string, unknown>[]): unknown[] =>
  answers.map(({ data }) => {
    const { models, provider, model, message_count } = data as Record<string, unknown>
    return models ? (models as { id: string }[]).map(({ id }) => id) : [provider, model, message_count]
  })

test.each([
  ['named', 'big'],
  ['plain', undefined],
])('what model an agent is configured for is known before any process of it runs: %s', async (agent, model) => {
  const asked = await zot(agent, 'unused', { id: '1', type: 'get_models' }, { id: '2', type: 'get_state' })
  expect(told(asked)).toEqual([model === undefined ? [] : [model], ['turnpike', model ?? '', 0]])
})

test('what model an agent works with is known in a new session as soon as a process of it has said so', async () => {
  await zot('coder', 'of-another', { id: '1', type: 'prompt', message: 'hello' })
  const asked = await zot('coder', 'brand-new', { id: '1', type: 'get_models' }, { id: '2', type: 'get_state' })
  expect(told(asked)).toEqual([['example-1'], ['turnpike', 'example-1', 0]])
})

test('clear begins the conversation anew', async () => {
  for (const agent of ['helper', 'coder']) {
    await zot(agent, 'cleared', { id: '1', type: 'prompt', message: 'hello' })
    expect(await zot(agent, 'cleared', { id: '2', type: 'clear' })).toMatchObject([{ id: '2', success: true }])
    expect(transcript(await zot(agent, 'cleared', { id: '3', type: 'get_messages' }))).toEqual([])
  }
})

test.each([
  ['coder', true],
  ['planner', false],
])('set_model as the first command, of %s: %s', async (agent, success) => {
  const answers = await zot(agent, 'model', { id: '1', type: 'set_model', model: 'example-1' })
  expect(answers).toMatchObject([{ id: '1', command: 'set_model', success }])
})

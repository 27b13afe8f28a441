import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const CODER = join(ROOT, 'examples/agents/coder.mjs')
const FOLDER = mkdtempSync(join(tmpdir(), 'turnpike-controls-'))
const STARTS = join(FOLDER, 'starts')

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(`default: helper
agents:${EXAMPLE_AGENTS}
  named: { protocol: zot, command: zot, args: [rpc, --model, big] }
  plain: { protocol: zot, command: zot, args: [rpc] }
  fresh: { protocol: zot, command: ${process.execPath}, args: [${CODER}, rpc] }
  full: { protocol: zot, command: ${process.execPath}, args: [${CODER}, rpc], pool: { max: 1 } }
  patient: { protocol: zot, command: ${process.execPath}, args: [${ROOT}/test/kit/agents/patient-zot.mjs] }
  once: { protocol: zot, command: /bin/sh, args: [-c, 'echo started >> "$1"; exec "$2" "$3" rpc', sh, "${STARTS}", ${process.execPath}, ${CODER}] }
`)
})
afterAll(async () => {
  await gateway.close()
  rmSync(FOLDER, { recursive: true, force: true })
})

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
  expect(told(asked)).toEqual([['example-1'], ['example', 'example-1', 0]])
})

/** What each query of a session that nobody has used is answered by: the agent where its protocol can, else the gateway. */
const GATEWAY = { models: [], state: ['turnpike', '', 0], messages: [] }
const AGENT = { models: [{ id: 'example-1', provider: 'example' }], state: ['example', 'example-1', 0], messages: [] }

test.each([
  ['coder', AGENT],
  ['fresh', AGENT],
  ['full', { ...GATEWAY, models: [] }],
  ['helper', GATEWAY],
  ['writer', GATEWAY],
  ['planner', GATEWAY],
])('queries before any turn, of %s', async (agent, expected) => {
  if (agent === 'full') await zot(agent, 'holds-the-place', { id: '1', type: 'prompt', message: 'hello' })
  const asked = ['get_models', 'get_state', 'get_messages', 'ping'].map((type, at) => ({ id: `${at}`, type }))
  const answers = await zot(agent, `asks-${agent}`, ...asked)
  const data = Object.fromEntries(answers.map(({ command, data: found }) => [command, found])) as Record<string, never>
  const { provider, model, message_count } = data['get_state'] as unknown as Record<string, unknown>
  expect(data['get_messages']).toEqual({ messages: expected.messages })
  expect(data['ping']).toEqual({ pong: true })
  if (agent === 'full') {
    // Its one process is idle in another session, which can tell the models; it says nothing of this session's state.
    expect(data['get_models']).toMatchObject({ models: AGENT.models })
    expect([provider, model, message_count]).toEqual(['turnpike', 'example-1', 0])
    return
  }
  expect(data['get_models']).toMatchObject({ models: expected.models })
  expect([provider, model, message_count]).toEqual(expected.state)
})

test('a process that a query has started serves the next session', async () => {
  await zot('once', 'asks', { id: '1', type: 'get_models' })
  const [answer] = await zot('once', 'prompts', { id: '1', type: 'prompt', message: 'hello' })
  expect(answer).toMatchObject({ success: true })
  expect(readFileSync(STARTS, 'utf8')).toBe('started\n')
})

test('clear begins the conversation anew', async () => {
  for (const agent of ['helper', 'coder']) {
    await zot(agent, 'cleared', { id: '1', type: 'prompt', message: 'hello' })
    expect(await zot(agent, 'cleared', { id: '2', type: 'clear' })).toMatchObject([{ id: '2', success: true }])
    expect(transcript(await zot(agent, 'cleared', { id: '3', type: 'get_messages' }))).toEqual([])
  }
})

test('a clear is refused while a turn of another client runs, also where the agent would say that it is done', async () => {
  const turn = zot('patient', 'busy', { id: '1', type: 'prompt', message: 'hello' })
  await until(() => gateway.engine.turns.some(({ view }) => view.text !== ''))
  expect(await zot('patient', 'busy', { id: '2', type: 'clear' })).toMatchObject([
    { id: '2', success: false, error: 'A turn of this session runs; cancel it first.' },
  ])
  for (const running of gateway.engine.turns) running.cancel()
  await turn
  expect(await zot('patient', 'busy', { id: '3', type: 'clear' })).toMatchObject([{ id: '3', success: true }])
})

test.each(['helper', 'coder', 'planner'])(
  'a clear in one body with prompts of %s stands between them',
  async (agent) => {
    const answers = await zot(
      agent,
      'in-one-body',
      { id: '1', type: 'prompt', message: 'hello' },
      { id: '2', type: 'clear' },
      { id: '3', type: 'prompt', message: 'again' },
    )
    expect(answers.map(({ id, success }) => [id, success])).toEqual([
      ['1', true],
      ['2', true],
      ['3', true],
    ])
    const messages = await zot(agent, 'in-one-body', { id: '5', type: 'get_messages' })
    expect(transcript(messages)[0]).toEqual(['user', 'again'])
  },
)

test.each([
  ['coder', true],
  ['planner', false],
])('set_model as the first command, of %s: %s', async (agent, success) => {
  const answers = await zot(agent, 'model', { id: '1', type: 'set_model', model: 'example-1' })
  expect(answers).toMatchObject([{ id: '1', command: 'set_model', success }])
})

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import {
  type Call,
  MODELS,
  type ModelProtocol,
  type ModelServer,
  type Said,
  type Script,
  startModel,
} from '../kit/models/index.ts'
import { describeWith } from './kit.ts'

/** The official clients for Python, unmodified, in an environment that the test command makes. */
const FOLDER = join(import.meta.dirname, 'python')
const PYTHON = join(FOLDER, '.venv/bin/python')
const ADD = { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } }
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

interface Shown {
  text?: string
  finish?: string
  calls?: [id: string, name: string, args: string][]
  error?: string
  message?: string
}

/** Each client: its protocol, and the program that drives it. */
const CLIENTS = [
  ['OpenAI’s client for Python', 'chat', 'chat.py'],
  ['Anthropic’s client for Python', 'messages', 'messages.py'],
] as const

for (const [what, name, driver] of CLIENTS) describeWith(what, [PYTHON], () => clientOf(MODELS[name]!, driver))

function clientOf(protocol: ModelProtocol, driver: string): void {
  let model: ModelServer
  let gateway: TestGateway
  let client: ChildProcess
  let answers: AsyncIterator<string>
  let scripts: Script[]
  let from = 0

  beforeAll(async () => {
    model = await startModel(protocol, (_asked, at) => scripts[Math.min(at - from, scripts.length - 1)]!)
    gateway = await startGateway(`
agents:${EXAMPLE_AGENTS}
  failing: { protocol: agentproc, command: ${process.cwd()}/test/kit/agents/exits.sh, args: [] }
  model: { ${protocol.agent(model.url)} }
`)
    client = spawn(PYTHON, [join(FOLDER, driver)], { stdio: ['pipe', 'pipe', 'inherit'] })
    answers = createInterface(client.stdout!)[Symbol.asyncIterator]()
  })
  afterAll(async () => {
    client?.stdin?.end()
    await gateway?.close()
    await model?.close()
  })
  beforeEach(() => {
    from = model.requests.length
    scripts = [{ pieces: [{ text: 'Hello.' }] }]
  })

  async function ask(agent: string, messages: Said[], stream: boolean, retries = 0): Promise<Shown> {
    const request = protocol.write({ model: agent, messages, tools: [ADD] })
    client.stdin!.write(`${JSON.stringify({ url: gateway.url, request, stream, retries })}\n`)
    return JSON.parse((await answers.next()).value as string) as Shown
  }
  const hi: Said = { role: 'user', text: 'hi' }

  describe.each(FORMS)('%s', (_form, stream) => {
    test.each(['helper', 'coder', 'writer', 'planner'])('is served by %s', async (agent) => {
      const { text, finish } = await ask(agent, [hi], stream)
      expect(text).toContain('hi')
      expect(finish).toBe('stop')
    })

    test('has two tools run between two answers of one turn', async () => {
      const calls: Call[] = ['a', 'b'].map((id) => ({ id, name: 'add', args: `{"of":"${id}"}` }))
      scripts = [{ pieces: calls.map((call) => ({ call })), stop: 'tools' }, { pieces: [{ text: 'Done.' }] }]
      const first = await ask('model', [hi], stream)
      expect(first).toMatchObject({ text: '', finish: 'tool_calls' })
      expect(first.calls!.map(([, name, args]) => [name, args])).toEqual([
        ['add', '{"of":"a"}'],
        ['add', '{"of":"b"}'],
      ])
      const said: Said = { role: 'assistant', calls: first.calls!.map(([id, name, args]) => ({ id, name, args })) }
      const results = first.calls!.map(([id], at): Said => ({ role: 'tool', result: id, text: `${at}` }))
      expect(await ask('model', [hi, said, ...results], stream)).toEqual({ text: 'Done.', finish: 'stop', calls: [] })
      expect(model.requests.slice(from).at(-1)!.asked.messages.slice(1)).toEqual([
        { role: 'assistant', calls },
        { role: 'tool', result: 'a', text: '0' },
        { role: 'tool', result: 'b', text: '1' },
      ])
    })

    test.each<[string, string, Script]>([
      ['an agent that fails', 'failing', {}],
      ['a model that there is not', 'gpt-4o', {}],
      ['a stream that is cut', 'model', { pieces: [{ text: 'Half' }], only: { frames: 3, end: 'cut' } }],
      [
        'an error in the stream',
        'model',
        { pieces: [{ text: 'Half' }], error: { status: 500, code: 'x', message: 'Broken.' } },
      ],
    ])('reports %s, and sends nothing again that an agent has begun', async (_what, agent, script) => {
      scripts = [script]
      const { error, text } = await ask(agent, [hi], stream, agent === 'model' ? 2 : 0)
      expect(error).toMatch(/Error$/)
      expect(text).toBeUndefined()
      expect(model.requests.length - from).toBe(agent === 'model' ? 1 : 0)
    })

    test('sends a request again that failed before the agent had begun', async () => {
      const error = { status: 503, code: 'busy', message: 'Busy.', headers: { 'retry-after': '0' } }
      scripts = [{ error }, { pieces: [{ text: 'At last.' }] }]
      expect(await ask('model', [hi], stream, 2)).toMatchObject({ text: 'At last.', finish: 'stop' })
    })
  })
}

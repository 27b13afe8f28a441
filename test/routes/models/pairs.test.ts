import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import {
  type Answered,
  type Asked,
  type Counts,
  MODELS,
  type ModelServer,
  type Said,
  type Script,
  startModel,
} from '../../kit/models/index.ts'
import { until } from '../../kit/processes.ts'

/**
 * Every protocol of models in front of every one: what a client asks is what the server gets, what the server answers is
 * what the client reads, over real sockets, in one piece and streamed. What cannot be the same is a loss of the turn, kept
 * in `pairs.losses.json`; `ACCEPT=1` rewrites that file.
 */
const ACCEPT = process.env['ACCEPT'] === '1'
const FILE = join(import.meta.dirname, 'pairs.losses.json')
const KEPT = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Record<string, string[]>>
const seen: typeof KEPT = {}
afterAll(() => {
  if (ACCEPT) writeFileSync(FILE, `${JSON.stringify(seen, undefined, 2)}\n`)
})

const hi: Said = { role: 'user', text: 'hi' }
const PARAMETERS = {
  type: 'object',
  properties: { a: { type: 'number' } },
  required: ['a'],
  additionalProperties: false,
}
const tools = [
  { name: 'add', description: 'Adds.', parameters: PARAMETERS },
  { name: 'sub', description: 'Subtracts.', parameters: PARAMETERS },
]
const call = (id: string, name: string, a: number) => ({ call: { id, name, args: `{"a":${a}}` } })
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const HELLO: Script = { pieces: [{ text: 'Hel' }, { text: 'lo.' }] }
const failing = (status: number, code: string, message: string): Script => ({ error: { status, code, message } })

/** A request, what the server does, and what the client reads; what is not said is the same on both sides. */
interface Row {
  asked?: Partial<Asked>
  script: Script
  read?: Partial<Answered>
}
const ROWS: Readonly<Record<string, Row>> = {
  'text, with options': {
    asked: { system: 'Be kind.', maxTokens: 99 },
    script: { ...HELLO, usage: { input: 7, output: 3 } },
    read: { text: 'Hello.', stop: 'end', usage: { input: 7, output: 3 } },
  },
  'a conversation with calls and results': {
    asked: {
      tools,
      messages: [
        hi,
        { role: 'assistant', text: 'Let me see.', calls: [call('c1', 'add', 1).call, call('c2', 'sub', 2).call] },
        { role: 'tool', text: 'one', result: 'c1' },
        { role: 'tool', text: 'two', result: 'c2' },
        { role: 'assistant', text: 'So it is.' },
        { role: 'user', text: 'And now?' },
      ],
    },
    script: HELLO,
    read: { text: 'Hello.', stop: 'end' },
  },
  'a picture': {
    asked: { messages: [{ role: 'user', text: 'What is it?', image: PNG }] },
    script: HELLO,
    read: { text: 'Hello.' },
  },
  'an answer of a schema': {
    asked: { schema: PARAMETERS },
    script: { pieces: [{ text: '{"a":1}' }] },
    read: { text: '{"a":1}' },
  },
  'a tool that must be called, and no other with it': {
    asked: { tools, toolChoice: 'required', parallel: false },
    script: { pieces: [call('c1', 'add', 1)], stop: 'tools' },
    read: { stop: 'tools' },
  },
  'one tool that must be called': {
    asked: { tools, toolChoice: { tool: 'sub' } },
    script: { pieces: [call('c1', 'sub', 1)], stop: 'tools' },
    read: { stop: 'tools' },
  },
  'reasoning, and tokens by their kind': {
    script: {
      pieces: [{ reasoning: 'Hm.' }, { text: 'Hello.' }],
      usage: { input: 9, output: 5, cached: 4, reasoning: 2 },
    },
    read: { reasoning: 'Hm.', text: 'Hello.', usage: { input: 9, output: 5, cached: 4, reasoning: 2 } },
  },
  'an effort, for a user': {
    asked: { effort: 'high', user: 'u-1' },
    script: HELLO,
    read: { text: 'Hello.', stop: 'end' },
  },
  'the limit of tokens': {
    script: { pieces: [{ text: 'Hel' }], stop: 'length' },
    read: { text: 'Hel', stop: 'length' },
  },
  'a refusal': {
    script: { pieces: [{ text: 'No.' }], stop: 'refusal' },
    read: { text: 'No.', stop: 'refusal' },
  },
  'a wrong key': {
    script: failing(401, 'invalid_api_key', 'Wrong key.'),
    read: { error: { code: '', message: 'Wrong key.' } },
  },
  'a limit of rates': {
    script: failing(429, 'rate_limit_error', 'Slow.'),
    read: { error: { code: '', message: 'Slow.' } },
  },
  'a server that is down': {
    script: failing(503, 'overloaded_error', 'Busy.'),
    read: { error: { code: '', message: 'Busy.' } },
  },
  'an error in the stream': {
    script: { pieces: [{ text: 'Half' }], error: { status: 500, code: 'api_error', message: 'It broke.' } },
    read: { error: { code: '', message: 'It broke.' } },
  },
  'a cut stream': {
    script: { ...HELLO, only: { frames: 3, end: 'cut' } },
    read: { error: { code: '', message: 'cut its answer off' } },
  },
}

const pairs = Object.keys(MODELS).flatMap((front) => Object.keys(MODELS).map((back) => [front, back] as const))
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(pairs)('%s → %s', (front, back) => {
  const client = MODELS[front]!
  let server: ModelServer
  let gateway: TestGateway
  let scripts: readonly Script[]
  let from = 0

  beforeAll(async () => {
    server = await startModel(MODELS[back]!, (_asked, at) => scripts[Math.min(at - from, scripts.length - 1)]!)
    gateway = await startGateway(`
agents: { model: { ${MODELS[back]!.agent(server.url)}, model: scripted } }
routes: [{ when: { session: "strict" }, agent: model, loss: strict }]`)
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  /** Asks, with the turn of the answer. */
  async function ask(asked: Asked, headers: object = {}): Promise<{ answered: Answered; turn: string }> {
    const answer = await fetch(gateway.url + client.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...client.headers, ...headers },
      body: JSON.stringify(client.write(asked)),
    })
    return { answered: client.read(await answer.text()), turn: answer.headers.get('turnpike-turn')! }
  }
  function play(...all: readonly Script[]): void {
    scripts = all
    from = server.requests.length
  }
  const requests = () => server.requests.slice(from).map(({ asked }) => asked)

  /** What the record of a turn says was lost. */
  async function lossesOf(turn: string, over: boolean): Promise<string[]> {
    const read = async () =>
      (await (await fetch(`${gateway.url}/v1/turns/${turn}`)).json()) as {
        state: string
        losses?: { kind: string; item: string; field?: string }[]
      }
    if (over) await until(async () => (await read()).state !== 'running')
    return ((await read()).losses ?? []).map(({ kind, item, field = '' }) => `${kind} ${item} ${field}`.trim()).sort()
  }
  async function losesWhatIsKept(what: string, turn: string, over = true): Promise<void> {
    const losses = await lossesOf(turn, over)
    const pair = `${front} → ${back}`
    if (losses.length > 0) seen[pair] = { ...seen[pair], [what]: losses }
    if (!ACCEPT) expect(losses).toEqual(KEPT[pair]?.[what] ?? [])
  }

  describe.each(FORMS)('%s', (form, stream) => {
    test.each(Object.entries(ROWS))('%s', async (what, { asked: said = {}, script, read = {} }) => {
      play(script)
      const asked: Asked = { model: 'model', messages: [hi], ...said, stream }
      const { answered, turn } = await ask(asked)
      const { stream: _stream, ...sent } = asked
      expect(requests()).toMatchObject([{ ...sent, model: 'scripted' }])
      const { error, ...others } = read
      if (error) expect(answered.error?.message).toContain(error.message)
      else expect(answered.error).toBeUndefined()
      expect(answered).toMatchObject(others)
      if (error) expect(answered.stop).toBeUndefined()
      await losesWhatIsKept(`${what}, ${form}`, turn, answered.stop !== 'tools')
    })

    test('a route that takes no losses takes it', async () => {
      play({ ...HELLO, usage: { input: 7, output: 3, cached: 2 } })
      const asked: Asked = { model: 'model', messages: [hi], system: 'Be kind.', maxTokens: 9, tools, stream }
      const { answered, turn } = await ask(asked, { 'turnpike-session': 'strict' })
      expect(answered).toMatchObject({ text: 'Hello.', stop: 'end', usage: { input: 7, output: 3, cached: 2 } })
      expect(await lossesOf(turn, true)).toEqual([])
    })

    test('two calls at once, their results in another order, and one more round', async () => {
      const pieces = [{ text: 'Let me see.' }, call('c1', 'add', 1), call('c2', 'sub', 2)]
      // Each answer has the tokens of its own request.
      const usages: Counts[] = [
        { input: 5, output: 2 },
        { input: 7, output: 3 },
        { input: 11, output: 4 },
      ]
      play(
        { pieces, stop: 'tools', usage: usages[0]! },
        { pieces: [call('c3', 'add', 3)], stop: 'tools', usage: usages[1]! },
        { ...HELLO, usage: usages[2]! },
      )
      const asked: Asked = { model: 'model', messages: [hi], tools, stream }
      const first = await ask(asked)
      expect(first.answered).toMatchObject({ text: 'Let me see.', stop: 'tools' })
      expect(first.answered.calls.map(({ name, args }) => [name, args])).toEqual([
        ['add', '{"a":1}'],
        ['sub', '{"a":2}'],
      ])
      const [one, two] = first.answered.calls as [Answered['calls'][0], Answered['calls'][0]]
      const said: Said = { role: 'assistant', text: 'Let me see.', calls: first.answered.calls }
      const results: Said[] = [
        { role: 'tool', text: 'two', result: two.id },
        { role: 'tool', text: 'one', result: one.id },
      ]
      const second = await ask({ ...asked, messages: [hi, said, ...results] })
      expect(second.answered).toMatchObject({ text: '', calls: [{ name: 'add', args: '{"a":3}' }], stop: 'tools' })
      const again: Said[] = [
        { role: 'assistant', calls: second.answered.calls },
        { role: 'tool', text: 'three', result: second.answered.calls[0]!.id },
      ]
      const last = await ask({ ...asked, messages: [hi, said, ...results, ...again] })
      expect(last.answered).toMatchObject({ text: 'Hello.', calls: [], stop: 'end' })
      expect([first, second, last].map(({ answered }) => answered.usage)).toMatchObject(usages)
      expect(new Set([first.turn, second.turn, last.turn]).size).toBe(1)
      const ids = pieces.flatMap((piece) => ('call' in piece ? piece.call : []))
      expect(requests().at(-1)!.messages).toEqual([
        hi,
        { role: 'assistant', text: 'Let me see.', calls: ids },
        { role: 'tool', text: 'one', result: 'c1' },
        { role: 'tool', text: 'two', result: 'c2' },
        { role: 'assistant', calls: [call('c3', 'add', 3).call] },
        { role: 'tool', text: 'three', result: 'c3' },
      ])
      await losesWhatIsKept(`calls, ${form}`, last.turn)
    })

    const sealed = client.seals === 'any' || (client.seals === 'own' && front === back)
    // Only some of the protocols have seals.
    if (client.seals !== 'none' && MODELS[back]!.seals !== 'none') {
      test('reasoning goes back to its model with its seal unchanged', async () => {
        const seal = 'c2VhbA+/=='
        const thought = { reasoning: 'Hm.', seal }
        play({ pieces: [thought, { text: 'Let me see.' }, call('c1', 'add', 1)], stop: 'tools' }, HELLO, HELLO)
        const asked: Asked = { model: 'model', messages: [hi], tools, stream }
        const { answered } = await ask(asked)
        expect(answered.seal !== undefined).toBe(sealed)
        const said: Said = {
          role: 'assistant',
          text: 'Let me see.',
          calls: answered.calls,
          ...(sealed && { thought: { text: answered.reasoning, seal: answered.seal! } }),
        }
        const result: Said = { role: 'tool', text: 'one', result: answered.calls[0]!.id }
        await ask({ ...asked, messages: [hi, said, result] })
        const known = { text: 'Hm.', seal }
        expect(requests()[1]!.messages[1]).toMatchObject({ role: 'assistant', thought: known })
        // Another server of the client's may have made the calls: then only the client knows what the model thought.
        const calls = [{ id: 'other_1', name: 'add', args: '{"a":1}' }]
        const results: Said[] = [{ role: 'tool', text: 'one', result: 'other_1' }]
        await ask({ ...asked, messages: [{ role: 'user', text: 'Anew.' }, { ...said, calls }, ...results] })
        expect(requests()[2]!.messages[1]!.thought).toEqual(sealed ? known : undefined)
      })
    }

    test('a tool that the client does not have is not for it to run', async () => {
      play({ pieces: [call('c1', 'format_disk', 1)], stop: 'tools' }, HELLO)
      const { answered, turn } = await ask({ model: 'model', messages: [hi], tools, stream })
      expect(answered).toMatchObject({ text: 'Hello.', calls: [], stop: 'end' })
      expect(requests().at(-1)!.messages.slice(1)).toEqual([
        { role: 'assistant', calls: [call('c1', 'format_disk', 1).call] },
        { role: 'tool', text: 'There is no tool "format_disk".', result: 'c1' },
      ])
      await losesWhatIsKept(`another tool, ${form}`, turn)
    })
  })
})

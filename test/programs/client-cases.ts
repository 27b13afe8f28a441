/** The cases that every official client of an API of models passes, before the example agents and before a model. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'
import { type ModelProtocol, type ModelServer, type Script, startModel } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { type Client, PARAMETERS, type Place } from './openai-clients.ts'

/** A row of the table: an API with its clients, and what differs for them. */
export interface ClientApi {
  clients: Readonly<Record<string, (place: Place) => Promise<Client>>>
  /** The reason that a client gives for the end of a whole answer, and, where it has one, of an answer with calls. */
  ends(client: string): { whole: string; calls?: string }
  /** The form of the ids of calls. */
  callId: RegExp
  /** A request to the model has nothing besides what the case says. */
  exact?: true
  /** Cases of this API alone. */
  more?: Readonly<Record<string, Case>>
}

/** A client in a case. */
export interface Play {
  client: Client
  /** The same one, which sends a request again twice. */
  again(): Promise<Client>
  stream: boolean
  ends: ReturnType<ClientApi['ends']>
  api: ClientApi
  scene: Scene
}
/** Plays a case to its end; rejects when it is broken. */
export type Case = (play: Play) => Promise<void>

const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const
const KIT = `${ROOT}/test/kit/agents`

const ANSWERS: Readonly<Record<string, string | RegExp>> = {
  helper: 'Turn 1 of this session. You said:\n> hi there',
  coder: 'You said: hi there (turn 1 of this session)',
  writer: 'You said: hi there (turn 1 of this session)',
  planner: /^You said: hi there \(session .+\)$/,
}
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
}
const HELLO: Script = { pieces: [{ text: 'Hello.' }], usage: { input: 7, output: 3 } }
const BUSY = { status: 503, code: 'busy', message: 'Busy.', headers: { 'retry-after': '0' } }
const BROKEN = { status: 500, code: 'broken', message: 'It broke.' }

/** A piece of an answer: a call of the tool `add`. */
export const add = (a: number, b: number) => ({ call: { id: `add-${a}`, name: 'add', args: JSON.stringify({ a, b }) } })

/** A gateway with the example agents and a scripted model of one protocol. */
export class Scene {
  gateway!: TestGateway
  model!: ModelServer
  /** What the model does with the requests of one test, in order; the last one goes on. */
  scripts: readonly Script[] = [HELLO]
  #from = 0

  async open(protocol: ModelProtocol): Promise<void> {
    const script = (at: number): Script => this.scripts[Math.min(at - this.#from, this.scripts.length - 1)]!
    this.model = await startModel(protocol, (_asked, at) => script(at))
    const careful = `protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true`
    this.gateway = await startGateway(`
routes:
  - { when: { agent: allowed }, agent: allowed, approvals: allow }
agents:${EXAMPLE_AGENTS}
  tools: { protocol: native, command: ${process.execPath}, args: [${KIT}/native.mjs] }
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
  careful: { ${careful} }
  allowed: { ${careful} }
  model: { ${protocol.agent(this.model.url)}, model: scripted }
`)
  }

  async close(): Promise<void> {
    await this.gateway?.close()
    await this.model?.close()
  }

  /** Begins a test. */
  begin(): void {
    this.#from = this.model.requests.length
    this.scripts = [HELLO]
  }

  /** The requests that the model has got in this test. */
  get requests(): ModelServer['requests'] {
    return this.model.requests.slice(this.#from)
  }

  async lastState(): Promise<string> {
    const { turns } = (await (await fetch(`${this.gateway.url}/v1/turns`)).json()) as { turns: { state: string }[] }
    return turns[0]!.state
  }
}

const CASES: Readonly<Record<string, Case>> = {
  async 'is served by a model, with its tokens'({ client, stream, ends, scene, api }) {
    const shown = await client.ask({ model: 'model', prompt: 'hi', stream })
    expect(shown).toEqual({ text: 'Hello.', finish: ends.whole, calls: [], tokens: [7, 3] })
    const asked = scene.requests.map((request) => request.asked)
    const wanted = [{ model: 'scripted', messages: [{ role: 'user', text: 'hi' }] }]
    if (api.exact) expect(asked).toEqual(wanted)
    else expect(asked).toMatchObject(wanted)
  },
  async 'does not run the tools that an agent runs itself'({ client, stream, ends }) {
    const shown = await client.ask({ model: 'tools', prompt: 'hi', stream, tools: { count: PARAMETERS } })
    expect(shown).toMatchObject({ text: expect.stringContaining('You said: hi'), finish: ends.whole, calls: [] })
  },
  async 'runs its tool between two answers of one turn'({ client, stream, scene }) {
    scene.scripts = [
      { pieces: [{ text: 'Let me see.' }, add(2, 3)], stop: 'tools' },
      { pieces: [{ text: 'It is 5.' }] },
    ]
    const added: object[] = []
    const shown = await client.withTool({ model: 'model', prompt: 'Add.', stream }, (args) => {
      added.push(args)
      return String(args.a + args.b)
    })
    expect(added).toEqual([{ a: 2, b: 3 }])
    expect(shown.text.replace('Let me see.', '')).toBe('It is 5.')
    expect(scene.requests.at(-1)!.asked.messages).toEqual([
      { role: 'user', text: 'Add.' },
      { role: 'assistant', text: 'Let me see.', calls: [{ id: 'add-2', name: 'add', args: '{"a":2,"b":3}' }] },
      { role: 'tool', text: '5', result: 'add-2' },
    ])
  },
  async 'runs two tools that are called at once'({ client, stream, scene }) {
    scene.scripts = [{ pieces: [add(1, 1), add(2, 2)], stop: 'tools' }, { pieces: [{ text: 'Both are added.' }] }]
    const added: number[] = []
    const shown = await client.withTool({ model: 'model', prompt: 'Add.', stream }, ({ a, b }) => {
      added.push(a + b)
      return String(a + b)
    })
    expect(added.sort()).toEqual([2, 4])
    expect(shown.text).toBe('Both are added.')
    expect(scene.requests).toHaveLength(2)
  },
  async 'sees a call as one of its own tool, in a turn that waits'({ client, stream, ends, scene, api }) {
    scene.scripts = [{ pieces: [add(2, 3)], stop: 'tools' }]
    const shown = await client.ask({ model: 'model', prompt: 'Add.', stream, tools: { add: PARAMETERS } })
    const call = { id: expect.stringMatching(api.callId), name: 'add', args: { a: 2, b: 3 } }
    expect(shown).toMatchObject({ text: '', calls: [call], ...(ends.calls !== undefined && { finish: ends.calls }) })
  },
  async 'sends a picture'({ client, stream, scene }) {
    await client.ask({ model: 'model', prompt: 'What is it?', image: PNG, stream })
    expect(scene.requests[0]!.asked.messages).toEqual([{ role: 'user', text: 'What is it?', image: PNG }])
  },
  async 'reports a model that does not exist, with those that do'({ client, stream }) {
    await expect(client.ask({ model: 'other', prompt: 'hi', stream })).rejects.toThrow(/helper.*model/)
  },
  async 'sends a request again that failed before the agent had begun'({ again, stream, scene }) {
    scene.scripts = [{ error: BUSY }, { error: BUSY }, { pieces: [{ text: 'At last.' }] }]
    const client = await again()
    expect(await client.ask({ model: 'model', prompt: 'hi', stream })).toMatchObject({ text: 'At last.' })
    expect(scene.requests).toHaveLength(3)
  },
  async 'does not have an agent work again whose answer has failed'({ again, stream, scene }) {
    scene.scripts = [{ pieces: [{ text: 'Half of it' }], error: BROKEN }]
    const client = await again()
    await expect(client.ask({ model: 'model', prompt: 'hi', stream })).rejects.toThrow()
    expect(scene.requests).toHaveLength(1)
  },
  async 'reports an answer that was cut, and asks once'({ again, stream, scene }) {
    scene.scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'cut' } }]
    const client = await again()
    await expect(client.ask({ model: 'model', prompt: 'hi', stream })).rejects.toThrow()
    expect(scene.requests).toHaveLength(1)
  },
  async 'cancels its turn when it leaves'({ client, stream, scene }) {
    scene.scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'stall' } }]
    const abort = new AbortController()
    const asked = client.ask({ model: 'model', prompt: 'hi', stream, signal: abort.signal })
    // A client that iterates over the pieces ends without a reason for the end, the others fail.
    const finish = asked.then(
      (shown) => shown.finish,
      () => undefined,
    )
    await until(() => scene.requests.length === 1)
    abort.abort()
    expect(await finish).toBeUndefined()
    await until(async () => (await scene.lastState()) === 'cancelled' && scene.model.open() === 0)
  },
}

/** Tests all clients of an API before a model of this protocol; gives what further tests of the API may use. */
export function describeClients(api: ClientApi, protocol: ModelProtocol): Scene {
  const scene = new Scene()
  beforeAll(() => scene.open(protocol))
  afterAll(() => scene.close())
  beforeEach(() => scene.begin())

  describe.each(Object.entries(api.clients))('%s', (name, open) => {
    const ends = api.ends(name)
    let client: Client
    beforeAll(async () => {
      client = await open({ url: scene.gateway.url })
    })
    const again = (): Promise<Client> => open({ url: scene.gateway.url, retries: 2 })

    describe.each(FORMS)('%s', (_form, stream) => {
      test.each(Object.entries({ ...CASES, ...api.more }))('%s', (_name, play) =>
        play({ client, again, stream, ends, api, scene }),
      )

      test.each(Object.entries(ANSWERS))('is served by %s', async (agent, answer) => {
        const { text, finish, calls } = await client.ask({ model: agent, prompt: 'hi there', stream })
        expect(text).toEqual(typeof answer === 'string' ? answer : expect.stringMatching(answer))
        expect({ finish, calls }).toEqual({ finish: ends.whole, calls: [] })
      })

      test.each(['failing', 'missing'])('reports an error of the agent %s, never an answer', async (agent) => {
        await expect(client.ask({ model: agent, prompt: 'hi', stream })).rejects.toThrow()
      })
    })

    test('gets an answer of its schema', async () => {
      scene.scripts = [{ pieces: [{ text: '{"sum":5}' }] }]
      expect(await client.structured({ model: 'model', prompt: 'Add.', stream: false }, SCHEMA)).toEqual({ sum: 5 })
      // Of a model of Messages that it does not know, the AI SDK asks for the answer as a call.
      const { schema, tools } = scene.requests[0]!.asked
      expect(schema ?? tools?.[0]?.parameters).toMatchObject(SCHEMA)
    })
  })
  return scene
}

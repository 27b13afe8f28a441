/** Clients that send the whole conversation with each request: which session goes on with it, and what its agent hears. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Hooks, silentHooks } from '../../src/contract/index.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const LISTENS = new URL('../kit/agents/listens.mjs', import.meta.url).pathname

/** An agent over HTTP that takes a prompt alone, and remembers what each of its sessions was told. */
const memory = new Map<string, string[]>()
/** What the session that answered last was told, with its answers. */
let latest: readonly string[] = []
const engine: Server = createServer(async (request, response) => {
  const { request_id, request: asked } = JSON.parse(await text(request))
  const { session_id, user_intent } = asked.context
  const told = [...(memory.get(session_id) ?? []), ...turnsOf(user_intent)]
  const answer = `a${told.length}`
  latest = [...told, answer]
  memory.set(session_id, [...latest])
  const said = { action_type: 'render_message', priority: 'normal', payload: { text: answer } }
  response.setHeader('content-type', 'application/json')
  const action = { status: 'success', action_directives: [said] }
  response.end(JSON.stringify({ protocol_version: '1.0.0', request_id, response: action }))
})

/** What a prompt says: itself, or before it the conversation so far, as text. */
function turnsOf(prompt: string): string[] {
  const [, before, last] =
    /^The conversation so far:\n\n(.*?)\n\nIt goes on with this message:\n*(.*)$/s.exec(prompt) ?? []
  if (before === undefined) return [prompt]
  return [...before.split('\n\n').map((line) => line.replace(/^\w+: /, '')), last!]
}

let gateway: TestGateway
/** How requests share a turn, in the order they came to it. */
const shared: string[] = []
const request: Hooks['request'] = (about) => ({ ...silentHooks.request(about), shares: (how) => shared.push(how) })

/** Has the agents go on that wait until this. */
const open = (gate: string): void => writeFileSync(`${gateway.folder}/heard-${gate}`, '')

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    engine.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`
  process.env['CONVERSATIONS_TEST'] = 'mine'
  process.env['CONVERSATIONS_OTHER'] = 'theirs'
  const listens = `{ protocol: native, command: ${process.execPath}, args: [${LISTENS}, "\${TEST_FOLDER}/heard"], pool: { max: 99 } }`
  gateway = await startGateway(
    `
server: { keys: [{ name: mine, env: CONVERSATIONS_TEST }, { name: theirs, env: CONVERSATIONS_OTHER }] }
agents:
  listener: ${listens}
  other: ${listens}
  replayed: ${listens}
  prompts: { protocol: openharness, url: '${url}' }
routes: [{ when: { agent: replayed }, agent: replayed, history: replay }]
`,
    { hooks: { ...silentHooks, request } },
  )
})
afterAll(async () => {
  delete process.env['CONVERSATIONS_TEST']
  delete process.env['CONVERSATIONS_OTHER']
  await gateway.close()
  engine.close()
})

interface Message {
  role: string
  content: string
}
interface Request {
  model?: string
  headers?: Record<string, string>
  key?: string
  more?: object
}

async function post(messages: Message[], { model = 'listener', headers = {}, key = 'mine', more = {} }: Request = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model, messages, ...more }),
  })
  const { choices, turnpike } = (await response.json()) as {
    choices: { message: Message }[]
    turnpike?: { losses: { item: string; kind: string }[] }
  }
  return { answer: choices[0]!.message.content, losses: turnpike?.losses ?? [] }
}

/** What the agents have heard, turn by turn: the session, and all that it has heard. */
interface Heard {
  session: string
  heard: string[]
  system?: string
  tools: number
}
const allHeard = (): Heard[] =>
  readFileSync(`${gateway.folder}/heard`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Heard)

/** A client that keeps its conversation. */
class Chat {
  messages: Message[]
  readonly #request: Request

  constructor(request: Request = {}, messages: Message[] = []) {
    this.#request = request
    this.messages = messages
  }

  /** Says something; gives the session that answered, and what its agent had heard then. */
  async say(said: string, more: Request = {}): Promise<Heard> {
    const before = [...this.messages, { role: 'user', content: said }]
    const { answer } = await post(before, { ...this.#request, ...more })
    this.messages = [...before, { role: 'assistant', content: answer }]
    return allHeard().findLast(({ heard }) => heard.at(-1) === `user: ${said}`)!
  }

  /** All of it but the last answer, as an agent hears it. */
  get told(): string[] {
    return this.messages.slice(0, -1).map(({ role, content }) => `${role}: ${content}`)
  }
}

let count = 0
/** A client with a conversation that no other has, after these many rounds; and the session that has it. */
async function talked(rounds = 1, request: Request = {}): Promise<{ chat: Chat; session: string }> {
  const chat = new Chat(request)
  let session = ''
  for (let round = 1; round <= rounds; round += 1) ({ session } = await chat.say(`start ${count++}.${round}`))
  return { chat, session }
}

/** Deletes the session that was used last. */
async function deleteNewest(): Promise<void> {
  const headers = { authorization: 'Bearer mine' }
  const { sessions } = (await (await fetch(`${gateway.url}/v1/sessions`, { headers })).json()) as {
    sessions: { id: string }[]
  }
  const deleted = await fetch(`${gateway.url}/v1/sessions/${sessions[0]!.id}`, { method: 'DELETE', headers })
  expect(deleted.ok).toBe(true)
}

/** Every session is out of memory, and its process gone, as after a restart. */
function restart(): void {
  const { engine: running } = gateway
  const { settings } = running
  running.reload({ ...settings, agents: new Map([...settings.agents].map(([name, agent]) => [name, { ...agent }])) })
}

describe('a whole conversation goes on', () => {
  test('in the session that knows it, whose agent hears only what is new', async () => {
    const { chat, session } = await talked(3)
    const next = await chat.say('next')
    expect([next.session, next.heard]).toEqual([session, chat.told])
  })

  test.each<[what: string, change: (chat: Chat) => Request | undefined]>([
    ['with another system prompt', (chat) => void chat.messages.unshift({ role: 'system', content: 'be brief' })],
    ['with other tools', () => ({ more: { tools: [{ type: 'function', function: { name: 'ls' } }] } })],
    ['with another temperature', () => ({ more: { temperature: 0.5 } })],
    [
      'with the answer in other white space',
      ({ messages }) => void Object.assign(messages.at(-1)!, { content: '\n heard\r\n1 ' }),
    ],
    [
      'with the answer as parts, and reasoning besides',
      ({ messages }) =>
        void Object.assign(messages.at(-1)!, {
          content: [
            { type: 'text', text: 'heard ' },
            { type: 'text', text: '1' },
          ],
          reasoning_content: 'hm',
        }),
    ],
  ])('%s', async (_what, change) => {
    const { chat, session } = await talked()
    const more = change(chat)
    const next = await chat.say(`next ${count++}`, more)
    expect([next.session, next.heard.length]).toEqual([session, 3])
    if (chat.messages[0]!.role === 'system') expect(next.system).toBe('be brief')
    expect(next.tools).toBe(more?.more && 'tools' in more.more ? 1 : 0)
  })
})

describe('a session of its own, whose agent is told all of it, gets a conversation', () => {
  /** Says something more, which must be heard in another session with all that was said. */
  async function isRetold(chat: Chat, session: string, more: Request = {}): Promise<Heard> {
    const next = await chat.say(`next ${count++}`, more)
    expect(next.session).not.toBe(session)
    expect(next.heard).toEqual(chat.told)
    // From there on it goes on as any other.
    const last = await chat.say(`last ${count++}`, more)
    expect([last.session, last.heard]).toEqual([next.session, chat.told])
    return next
  }

  test.each<[what: string, change: (chat: Chat) => unknown, more?: Request]>([
    ['that was edited', ({ messages }) => Object.assign(messages[0]!, { content: 'another beginning' })],
    ['with other white space of the user', ({ messages }) => Object.assign(messages[0]!, { content: ' start' })],
    ['whose answer was edited', ({ messages }) => Object.assign(messages[1]!, { content: 'heard nothing' })],
    ['whose beginning was cut off', ({ messages }) => messages.splice(0, 2)],
    ['whose end was cut off', ({ messages }) => messages.splice(2, 2)],
    ['with a message between', ({ messages }) => messages.splice(2, 0, { role: 'user', content: 'oh' })],
    ['whose session was deleted', deleteNewest],
    ['for another agent', () => {}, { model: 'other' }],
    ['of another key', () => {}, { key: 'theirs' }],
    ['after its session has gone on', async ({ messages }) => new Chat({}, [...messages]).say('elsewhere')],
  ])('%s', async (_what, change, more) => {
    const { chat, session } = await talked(2)
    await change(chat)
    await isRetold(chat, session, more)
  })

  test('that nobody has had here', async () => {
    const chat = new Chat({}, [
      { role: 'user', content: 'from elsewhere' },
      { role: 'assistant', content: 'yes' },
    ])
    await isRetold(chat, '')
  })

  test('whose last answer is made again', async () => {
    const { chat, session } = await talked(2)
    const before = chat.messages.slice(0, 2)
    const again = new Chat({}, before)
    const regenerated = await isRetold(again, session)
    expect(regenerated.heard.slice(0, 2)).toEqual(chat.told.slice(0, 2))
  })

  test('once its process is gone, in the same session', async () => {
    const { chat, session } = await talked(2)
    restart()
    const next = await chat.say(`next ${count++}`)
    expect([next.session, next.heard]).toEqual([session, chat.told])
  })

  test('on a route that replays it', async () => {
    const { chat, session } = await talked(1, { model: 'replayed' })
    const next = await chat.say(`next ${count++}`)
    expect(next.session).not.toBe(session)
    expect(next.heard).toEqual(chat.told)
    expect((await chat.say(`last ${count++}`)).session).not.toBe(next.session)
  })

  test.each([
    ['at once', 'both '],
    ['while the first still runs', 'until both '],
  ])('of two that come %s: one goes on with the session', async (_when, how) => {
    const { chat, session } = await talked(2)
    const told = chat.messages.map(({ role, content }) => `${role}: ${content}`)
    const said = [`${how}${count++}`, `${how}${count++}`]
    const answers = said.map((one) => new Chat({}, [...chat.messages]).say(one))
    await until(() => said.every((one) => allHeard().some(({ heard }) => heard.at(-1) === `user: ${one}`)))
    open('both')
    await Promise.all(answers)
    const heard = said.map((one) => allHeard().findLast((turn) => turn.heard.at(-1) === `user: ${one}`)!)
    expect(heard.map((turn) => turn.heard)).toEqual(said.map((one) => [...told, `user: ${one}`]))
    expect(heard.filter((turn) => turn.session === session).length).toBe(1)
  })
})

describe('a request that its client repeats by itself', () => {
  const repeated: Request = { headers: { 'x-stainless-retry-count': '1' } }
  const turns = (said: string): number => allHeard().filter(({ heard }) => heard.at(-1) === `user: ${said}`).length

  test('joins the turn of the first while that runs, and runs again after its end', async () => {
    const { chat } = await talked()
    const said = `until joined ${count++}`
    const messages = [...chat.messages, { role: 'user', content: said }]
    const first = post(messages)
    await until(() => turns(said) === 1)
    const others = [post(messages, repeated), post(messages, repeated)]
    await until(() => shared.length === 2)
    open('joined')
    expect((await Promise.all(others)).map(({ answer }) => answer)).toEqual(Array(2).fill((await first).answer))
    expect(shared).toEqual(['joined', 'joined'])
    expect(turns(said)).toBe(1)
    await post(messages, repeated)
    expect(turns(said)).toBe(2)
  })

  test.each<[how: string, one: Request, other: Request]>([
    ['as another client', repeated, { ...repeated, key: 'theirs' }],
    ['with another option', repeated, { ...repeated, more: { temperature: 1 } }],
    ['for another agent', repeated, { ...repeated, model: 'other' }],
    ['for the first time', {}, {}],
  ])('%s runs by itself', async (_how, one, other) => {
    const said = `until ${count} ${count}`
    const messages = [{ role: 'user', content: said }]
    const answers = [post(messages, one), post(messages, other)]
    await until(() => turns(said) === 2)
    open(String(count++))
    await Promise.all(answers)
  })
})

describe('a session that the client names', () => {
  const named = (): Request => ({ headers: { 'turnpike-session': `named-${count++}` } })
  const cached = (): Request => ({ more: { prompt_cache_key: `key-${count++}` } })

  test('takes what is new alone, and then the whole conversation', async () => {
    const request = named()
    const first = await new Chat(request).say('one')
    const second = await new Chat(request).say('two')
    expect([second.session, second.heard.length]).toEqual([first.session, 3])
    // It knows more than this client tells.
    const whole = new Chat(request)
    whole.messages = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'heard 1' },
    ]
    const third = await whole.say('three')
    expect(third.session).not.toBe(first.session)
    expect(third.heard).toEqual(whole.told)
  })

  test.each([
    ['by the header', named],
    ['by a key for a cache', cached],
  ])('%s has one conversation at a time', async (_how, name) => {
    const request = name()
    const { chat, session } = await talked(2, request)
    const next = await chat.say('go on')
    expect([next.session, next.heard]).toEqual([session, chat.told])
    const other = await talked(2, name === named ? named() : request)
    expect(other.session).not.toBe(session)
    const last = await chat.say('still here')
    expect([last.session, last.heard]).toEqual([session, chat.told])
  })

  test('is never that of a conversation without its name', async () => {
    const { chat, session } = await talked(1, cached())
    const next = await new Chat({}, [...chat.messages]).say(`next ${count++}`)
    expect(next.session).not.toBe(session)
  })
})

describe('an agent that takes a prompt alone', () => {
  test('reads a conversation that it does not know before the prompt, as a loss of form', async () => {
    const messages = ['u', 'v', 'w'].flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: `${content}!` },
    ])
    const { losses } = await post(messages.slice(0, 3), { model: 'prompts' })
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'weakened', item: 'start.history' }))
    expect(latest).toEqual(['u', 'u!', 'v', 'a3'])
  })

  test('has always been told what its client said, nothing twice and nothing left out', async () => {
    /** A step of a client: it says more, cuts its conversation to so many rounds, or changes a message. */
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('say' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), at: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('edit' as const), at: fc.nat(6) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), at: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('swap' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        const run = count++
        // Two clients that begin alike.
        let [one, other]: [Message[], Message[]] = [[], []]
        let said = 0
        for (const each of [{ do: 'say' as const }, { do: 'swap' as const }, { do: 'say' as const }, ...steps]) {
          if (each.do === 'cut') one = one.slice(0, 2 * each.at)
          else if (each.do === 'drop') one = one.slice(2 * each.at)
          else if (each.do === 'swap') [one, other] = [other, one]
          else if (each.do === 'edit') {
            one = one.map((message, at) => (at === each.at ? { ...message, content: `e${said++}` } : message))
          } else {
            const content = one.length === 0 ? `run ${run}` : `u${said++}`
            const before = [...one, { role: 'user', content }]
            const { answer } = await post(before, { model: 'prompts' })
            one = [...before, { role: 'assistant', content: answer }]
            // The session that answered has heard this conversation and nothing else.
            expect(latest).toEqual(one.map((message) => message.content))
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})

import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import {
  asBack,
  asFront,
  type BackContext,
  type Call,
  type Dialect,
  type FrontContext,
} from '../../src/contract/index.ts'
import { type AgentListener, RecordedAgent, RecordedClient } from '../../src/engine/replay/observables.ts'
import { namedDialects } from '../../src/matrix/index.ts'
import {
  type AgentEvent,
  type Command,
  ITEMS,
  type Item,
  type Loss,
  QUERIES,
  type TurnStart,
} from '../../src/model/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/**
 * The commands beside turns are what the tables say: what a back half carries it says on its wire, what a front half
 * carries it reads there, and the answer comes back the same way. What a back half has no word for is said by a client
 * of the protocol itself, in WORDS.
 */
const codecs = await loadCodecs()
const dialects = namedDialects(Object.values(codecs))

type Control = Exclude<Command, TurnStart>

/** Every command that starts no turn. Which question an `ask-reply` answers is tested with approvals, in pairs. */
const CONTROLS: Partial<Record<Item, Control>> = {
  'turn-cancel': { exchange: 'x9', type: 'turn-cancel', target: 'running' },
  'turn-steer': { exchange: 'x9', type: 'turn-steer', target: 'running', input: [{ type: 'text', text: 'Left.' }] },
  'turn-follow': { exchange: 'x9', type: 'turn-follow', target: { turn: 'turn-1' } },
  'turn-delete': { exchange: 'x9', type: 'turn-delete', id: 'turn-1' },
  'session-open': { exchange: 'x9', type: 'session-open', session: { id: 's1' } },
  'session-close': { exchange: 'x9', type: 'session-close', session: { id: 's1' } },
  'session-clear': { exchange: 'x9', type: 'session-clear', session: { id: 's1' } },
  'session-delete': { exchange: 'x9', type: 'session-delete', id: 'g1' },
  'session-fork': { exchange: 'x9', type: 'session-fork', id: 'g1' },
  'config-set': { exchange: 'x9', type: 'config-set', session: { id: 's1' }, model: 'm2' },
  ...Object.fromEntries(
    QUERIES.map((what) => [
      `query.${what}`,
      { exchange: 'x9', type: 'query', session: { id: 's1' }, what } satisfies Control,
    ]),
  ),
}

/** What the gateway answers. */
const ANSWERS: Readonly<Record<string, object>> = {
  'query.state': { agent: 'agent', session: 's1', model: 'm1', busy: false, messageCount: 0 },
  'query.messages': { messages: [] },
  'query.models': {
    models: [
      { id: 'm1', provider: 'p1' },
      { id: 'm2', provider: 'p1' },
    ],
  },
  'query.offers': { modes: [{ id: 'plan' }] },
  'query.agents': { agents: [] },
  'query.session': { id: 'g1', messages: [] },
  'query.agent-sessions': { sessions: [] },
  'query.input': { messages: [] },
  'query.hints': { suggestions: [] },
  'query.health': { ok: true },
}

/**
 * How clients say what no agent is told: a line, or a request over HTTP. `before`: lines that come first. `$ID` is the
 * session that they have opened. `among`: the line says more than this.
 */
type Word =
  | { line: string; argv?: readonly string[]; before?: readonly string[]; among?: true }
  | { request: string; params?: Readonly<Record<string, string>>; query?: string; body?: string }
const resource = (request: string, params?: Readonly<Record<string, string>>, query = ''): Word => ({
  request,
  query,
  ...(params && { params }),
})
const line = (command: object): { line: string } => ({ line: JSON.stringify(command) })
const rpc = (method: string, params: object) => line({ jsonrpc: '2.0', id: 1, method, params })
const WORK = { cwd: '/work', mcpServers: [] }
const GREETED = [rpc('initialize', { protocolVersion: 1 }).line]
const opening = () => ({ ...rpc('session/new', WORK), before: GREETED })
const WORDS: Readonly<Record<string, Partial<Record<Item, Word>>>> = {
  native: {
    'turn-follow': line({ type: 'turn-follow', target: { turn: 't1' } }),
    'turn-delete': line({ type: 'turn-delete', id: 't1' }),
    'session-close': line({ type: 'session-close' }),
    'session-delete': line({ type: 'session-delete', id: 'g1' }),
    'session-fork': line({ type: 'session-fork', id: 'g1' }),
    'query.agent': line({ type: 'query', what: 'agent' }),
    'query.agents': line({ type: 'query', what: 'agents' }),
    'query.sessions': line({ type: 'query', what: 'sessions' }),
    'query.session': line({ type: 'query', what: 'session', args: { id: 'g1' } }),
    'query.agent-sessions': line({ type: 'query', what: 'agent-sessions' }),
    'query.turns': line({ type: 'query', what: 'turns' }),
    'query.turn': line({ type: 'query', what: 'turn', args: { turn: 't1' } }),
    'query.input': line({ type: 'query', what: 'input', args: { turn: 't1' } }),
    'query.health': line({ type: 'query', what: 'health' }),
  },
  'native@resource': {
    'turn-follow': resource('GET /v1/turns/:turn/events', { turn: 't1' }),
    'turn-cancel': resource('POST /v1/turns/:turn/cancel', { turn: 't1' }),
    'turn-delete': resource('DELETE /v1/turns/:turn', { turn: 't1' }),
    'session-delete': resource('DELETE /v1/sessions/:session', { session: 'g1' }),
    'session-fork': resource('POST /v1/sessions/:session/fork', { session: 'g1' }),
    'query.sessions': resource('GET /v1/sessions'),
    'query.session': resource('GET /v1/sessions/:session', { session: 'g1' }),
    'query.agent-sessions': resource('GET /v1/agents/:agent/sessions', { agent: 'a' }),
    'query.turns': resource('GET /v1/turns'),
    'query.turn': resource('GET /v1/turns/:turn', { turn: 't1' }),
    'query.input': resource('GET /v1/turns/:turn/input', { turn: 't1' }),
  },
  acp: {
    'query.agent': rpc('initialize', { protocolVersion: 1 }),
    'query.state': { ...opening(), among: true },
    'query.sessions': { ...rpc('session/list', {}), before: GREETED },
    'query.session': { ...rpc('session/load', { sessionId: 's1', ...WORK }), before: GREETED, among: true },
    'session-fork': { ...rpc('session/fork', { sessionId: 's1', ...WORK }), before: GREETED, among: true },
  },
  anthropic: {
    'query.agents': resource('GET /v1/models'),
  },
  openai: {
    'query.agents': resource('GET /v1/models'),
  },
  'openai@responses': {
    'turn-delete': resource('DELETE /v1/responses/:response', { response: 'resp_t1' }),
    'query.turn': resource('GET /v1/responses/:response', { response: 'resp_t1' }),
    'query.input': resource('GET /v1/responses/:response/input_items', { response: 'resp_t1' }),
    'turn-follow': resource('GET /v1/responses/:response', { response: 'resp_t1' }, 'stream=true'),
  },
  qwen: {
    'session-clear': line({
      session_id: 'lake',
      prompt_id: 'lake########1',
      input: { origin: 'user', parts: [{ type: 'text', text: '/clear' }], command: null },
    }),
  },
  'qwen-code': {
    'session-clear': {
      ...line({ type: 'user', message: { role: 'user', content: '/clear' } }),
      argv: ['--input-format', 'stream-json', '--output-format', 'stream-json'],
    },
  },
}

/** What a client says in the same words: the sessions of its agent are those that the gateway has of it. */
const HEARD: Partial<Record<Item, Item>> = { 'query.agent-sessions': 'query.sessions' }

const itemOf = (command: Command): Item => (command.type === 'query' ? `query.${command.what}` : command.type) as Item

/** Both halves of a dialect, with a turn that runs; what the front half is asked is answered. */
class Talk {
  /** What the front half read. */
  readonly asked: Item[] = []
  readonly losses: Loss[] = []
  readonly replies: AgentEvent[] = []
  readonly agent: RecordedAgent
  #client: RecordedClient | undefined
  readonly #exits: number[] = []
  #endTurn: () => void = () => {}

  constructor(dialect: Dialect, options: unknown) {
    const process = { command: 'agent', args: [], env: {}, cwd: '/' }
    const context: BackContext<unknown> = { options, agent: 'agent', env: {}, folder: '/', process }
    const listener: AgentListener = {
      event() {},
      link: (event) => {
        if (event.type === 'command-reply') this.replies.push(event)
      },
      loss: (loss) => this.losses.push(loss),
    }
    this.agent = new RecordedAgent(asBack(dialect), context, listener, {
      open: (call) => this.#open(dialect, call),
      send: (frame) => this.#client?.decode(frame),
      end: () => this.#client?.end(),
    })
    this.agent.open()
  }

  start(): void {
    const input = [{ type: 'text', text: 'hi' }] as const
    const turn = { turn: 'turn-1', task: 'prompt', input, options: { streaming: true } } as const
    this.agent.start({ exchange: 'x1', session: { id: 's1' }, type: 'turn-start', ...turn })
    this.losses.length = 0
    this.asked.length = 0
  }

  /** Says a command: while the turn runs, but for one that has to wait for its end. */
  say(command: Control): void {
    if (command.type === 'session-clear') this.#endTurn()
    this.agent.send(command)
    // A process ends behind what starts it.
    for (const exitCode of this.#exits.splice(0)) this.agent.end({ why: 'closed', exitCode })
  }

  #open(dialect: Dialect, call: Call): void {
    this.#client = new RecordedClient(
      { dialect: asFront(dialect), context: contextOf(call) },
      {
        command: (command, exchange) => {
          this.asked.push(itemOf(command))
          if (command.type === 'turn-start' && exchange) {
            const accepted = { type: 'turn-accepted', turn: command.turn, how: 'new', session: 's1' } as const
            this.#client!.deliver(accepted, exchange)
            this.#client!.deliver({ type: 'turn-started', turn: command.turn }, exchange)
            this.#endTurn = () =>
              this.#client!.deliver(
                { type: 'turn-end', turn: command.turn, outcome: 'completed', stop: 'end' },
                exchange,
              )
          } else exchange?.reply({ data: JSON.stringify(ANSWERS[itemOf(command)] ?? {}) })
        },
        send: (frame) => this.agent.decode(frame),
        close: (exitCode) => this.#exits.push(exitCode),
      },
    )
    this.#client.open()
    if (call.kind === 'http') this.#client.decode(call.body)
  }
}

function contextOf(call: Call): FrontContext {
  const none = { method: '', path: '', query: '', headers: {}, argv: [], env: {} }
  if (call.kind === 'process') return { ...none, transport: 'stdio', argv: call.args ?? [], env: call.env ?? {} }
  return { ...none, transport: 'http', method: call.method, path: call.path ?? '', headers: call.headers ?? {} }
}

describe.each(dialects.filter(({ dialect }) => dialect.front && dialect.back))('commands of $name', (named) => {
  const { name, dialect } = named
  const [front, back] = [dialect.front!.capabilities, dialect.back!.capabilities]

  test.each(Object.entries(CONTROLS) as [Item, Control][])('%s', (item, command) => {
    const talk = new Talk(dialect, optionsOf(codecs[name.split('@')[0]!]!))
    talk.start()
    talk.say(command)
    const own = talk.losses.filter((loss) => loss.item === item)
    if (back[item] === 'none') {
      expect(own).toEqual([{ kind: 'dropped', item, why: 'no-place', count: 1 }])
      expect(talk.asked).toEqual([])
      return
    }
    // Where a protocol has no word for a cancel, the gateway stops the process. What is partial may have no word here.
    const isSaid = item !== 'turn-cancel' && back[item] === 'full'
    if (back[item] === 'full') expect(own).toEqual([])
    const heard = HEARD[item] ?? item
    if (isSaid || talk.asked.length > 0) expect(talk.asked).toEqual(front[heard] === 'none' ? [] : [heard])
    if (item.startsWith('query.') && front[item] !== 'none') {
      expect(talk.replies).toMatchObject([{ exchange: 'x9', data: expect.any(String) }])
    }
  })
})

const alone = dialects.flatMap(({ name, dialect }) =>
  (Object.keys(CONTROLS) as Item[])
    .filter((item) => dialect.front && dialect.front.capabilities[item] !== 'none')
    .filter((item) => (dialect.back?.capabilities[item] ?? 'none') === 'none')
    .map((item) => ({ name, item, dialect })),
)

describe('commands that only clients say', () => {
  test('all have words here, and no others', () => {
    const worded = Object.entries(WORDS).flatMap(([name, words]) => Object.keys(words).map((item) => `${name} ${item}`))
    expect(worded.sort()).toEqual(alone.map(({ name, item }) => `${name} ${item}`).sort())
  })

  test.each(alone)('$name: $item', ({ name, item, dialect }) => {
    const word = WORDS[name]![item]!
    const asked: Item[] = []
    const answered: string[] = []
    const none = { query: '', headers: {}, argv: [], env: {} }
    const [method = '', path = ''] = 'request' in word ? word.request.split(' ') : []
    const context: FrontContext =
      'request' in word
        ? { ...none, transport: 'http', method, path, params: word.params ?? {}, query: word.query ?? '' }
        : { ...none, transport: 'stdio', method, path, argv: word.argv ?? [] }
    const client = new RecordedClient(
      { dialect: asFront(dialect), context },
      {
        command: (command, exchange) => {
          asked.push(itemOf(command))
          exchange?.reply({ data: JSON.stringify(ANSWERS[itemOf(command)] ?? {}) })
        },
        send: (frame) => answered.push(typeof frame === 'string' ? frame : frame.data),
      },
    )
    client.open()
    const { before = [], among } = 'line' in word ? word : {}
    for (const first of before) client.decode(first)
    const session = /"sessionId":"([^"]+)"/.exec(answered.join('\n'))?.[1] ?? ''
    answered.length = asked.length = 0
    client.decode('line' in word ? word.line.replace('$ID', session) : (word.body ?? ''))
    if (among) expect(asked).toContain(item)
    else expect(asked).toEqual([item])
    expect(answered.length).toBeGreaterThan(0)
  })

  test('every command there is, is looked at', () => {
    const commands = ITEMS.slice(0, ITEMS.indexOf('start.compact')).filter(
      (item) => !['turn-start', 'ask-reply', 'query'].includes(item),
    )
    const queries = ITEMS.filter((item) => item.startsWith('query.'))
    expect(Object.keys(CONTROLS).sort()).toEqual([...commands, ...queries].sort())
  })
})

import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { isServedHere } from '../../src/engine/carry/carry.ts'
import { type Named, namedDialects } from '../../src/matrix/index.ts'
import type { AgentEvent, Command, Item, Loss, Part, TurnEvent, TurnStart, Usage } from '../../src/model/index.ts'
import { Mirror, optionsOf } from '../kit/mirror.ts'
import { FrontClient } from './pairs.clients.ts'

/**
 * The capabilities of every dialect are true: what a half carries in full is not lost, what it carries in part loses
 * nothing but itself, and what it has no place for is taken out and reported once. Each item is said alone, by a client
 * and an agent of the one dialect.
 */
const codecs = await loadCodecs()
const dialects = namedDialects(Object.values(codecs))
const whole = dialects.filter(({ dialect }) => dialect.front && dialect.back)
const alone = dialects.filter(({ dialect }) => dialect.front && !dialect.back)

/** An event without its turn. */
type Told = TurnEvent extends infer E ? (E extends { turn: string } ? Omit<E, 'turn'> : never) : never
const told = (event: object): Told => event as Told

const OPEN = told({ type: 'message-start', message: 'm1', role: 'assistant' })
const CLOSE = told({ type: 'message-end', message: 'm1' })
const CALL = told({ type: 'tool-call', tool: 't1', name: 'read', args: '{"a":1}', executor: 'agent' })
const ENDED = told({ type: 'tool-end', tool: 't1', status: 'ok', parts: [] })
const MARK = 'W7xQ'

const PARTS: Readonly<Record<Exclude<Part['type'], 'text' | 'reasoning' | 'tool-call' | 'tool-reply'>, Part>> = {
  image: { type: 'image', mime: 'image/png', url: `https://files.example/${MARK}.png`, bytes: 9 },
  audio: { type: 'audio', mime: 'audio/wav', url: `https://files.example/${MARK}.wav`, bytes: 9 },
  file: { type: 'file', mime: 'application/pdf', url: `https://files.example/${MARK}.pdf`, bytes: 9 },
  data: { type: 'data', json: `{"kind":"${MARK}"}` },
  diff: { type: 'diff', path: MARK, before: 'a\n', after: 'b\n' },
}

/** The shortest turn that says an item. What else it says is carried by every front, or is not looked at. */
const SAID: Partial<Record<Item, readonly Told[]>> = {
  'text-delta': [OPEN, told({ type: 'text-delta', message: 'm1', text: MARK }), CLOSE],
  'reasoning-delta': [OPEN, told({ type: 'reasoning-delta', message: 'm1', text: MARK }), CLOSE],
  'message-retract': [
    OPEN,
    told({ type: 'text-delta', message: 'm1', text: 'x' }),
    told({ type: 'message-retract', message: 'm1', keepText: false }),
    CLOSE,
  ],
  'step-start': [told({ type: 'step-start', step: 1 }), told({ type: 'step-end', step: 1, stop: 'end' })],
  'step-end': [told({ type: 'step-start', step: 1 }), told({ type: 'step-end', step: 1, stop: 'end' })],
  'tool-start': [told({ type: 'tool-start', tool: 't1', name: 'read', executor: 'agent' }), CALL, ENDED],
  'tool-args-delta': [
    told({ type: 'tool-start', tool: 't1', name: 'read', executor: 'agent' }),
    told({ type: 'tool-args-delta', tool: 't1', text: '{"a":1}' }),
    CALL,
    ENDED,
  ],
  'tool-call': [CALL, ENDED],
  'tool-end': [CALL, ENDED],
  'tool-progress': [CALL, told({ type: 'tool-progress', tool: 't1', parts: [{ type: 'text', text: MARK }] }), ENDED],
  'terminal-output': [told({ type: 'terminal-output', stream: 'stdout', text: MARK })],
  directive: [
    told({ type: 'directive', action: 'open_panel', json: `{"action_type":"open_panel","payload":{"id":"${MARK}"}}` }),
  ],
  plan: [told({ type: 'plan', json: '[]' })],
  notice: [told({ type: 'notice', severity: 'warning', code: 'slow', text: MARK })],
  ...Object.fromEntries(
    (['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite', 'total', 'costUsd'] as const).map((field) => [
      `usage.${field}`,
      [usage({ [field]: 7 })],
    ]),
  ),
  'usage.estimated': [told({ type: 'usage', scope: 'turn', usage: { input: 5, output: 2 }, estimated: true })],
  ...Object.fromEntries(
    Object.entries(PARTS).map(([type, part]) => [`part.${type}`, [CALL, { ...ENDED, parts: [part] }]]),
  ),
  'part.ext': [
    CALL,
    told({ ...ENDED, parts: [{ type: 'text', text: 'x', ext: { protocol: 'other', json: `{"k":"${MARK}"}` } }] }),
  ],
  'part.reasoning': [OPEN, told({ ...CLOSE, parts: [{ type: 'reasoning', text: MARK }] })],
}

function usage(counts: Usage): Told {
  return told({ type: 'usage', scope: 'turn', usage: { input: 5, output: 2, ...counts } })
}

/** Not every protocol has empty answers. */
const ANSWER = [
  told({ type: 'message-start', message: 'm9', role: 'assistant' }),
  told({ type: 'text-delta', message: 'm9', text: 'Done.' }),
  told({ type: 'message-end', message: 'm9' }),
]

/** What becomes of one turn of a dialect on its way there and back. */
interface Seen {
  /** What its request and its answer lost, without what had to be made up. */
  asked: Loss[]
  shown: Loss[]
  /** What the front half read of the request, and the back half of the answer. */
  command: (Command & TurnStart) | undefined
  events: AgentEvent[]
}

function play({ name, dialect }: Named, command: Command & TurnStart, events: readonly Told[]): Seen {
  const seen: Seen = { asked: [], shown: [], command: undefined, events: [] }
  const add = (list: Loss[]) => (loss: Loss) => {
    if (loss.kind !== 'invented') list.push(loss)
  }
  const mirror: Mirror = new Mirror(dialect, optionsOf(codecs[name.split('@')[0]!]!), {
    started(told) {
      seen.command = told
    },
    command() {},
    event: (event) => seen.events.push(event),
    shown: add(seen.shown),
    asked: add(seen.asked),
  })
  mirror.open()
  mirror.start(command)
  if (!mirror.exchange) return seen
  for (const event of turnOf(events)) mirror.show({ ...event, turn: '' } as TurnEvent)
  return seen
}

/** A whole turn that says this. */
function turnOf(events: readonly Told[]): Told[] {
  return [
    told({ type: 'turn-accepted', how: 'new', session: 's1' }),
    told({ type: 'turn-started' }),
    ...events,
    ...ANSWER,
    told({ type: 'turn-end', outcome: 'completed', stop: 'end' }),
  ]
}

function start(more: Partial<TurnStart> & { session?: object } = {}): Command & TurnStart {
  return {
    exchange: 'x1',
    session: { id: 's1' },
    type: 'turn-start',
    turn: 'turn-1',
    task: 'prompt',
    input: [{ type: 'text', text: 'hi' }],
    options: { streaming: true },
    ...more,
  }
}

/** An item that is not the event's own is reported with it: an event without a place takes all that is in it along. */
function isOwn(item: Item, { item: lost }: Loss): boolean {
  return lost === item || item.startsWith(`${lost}.`)
}

/** Whether what was said is among what was read. */
function isRead(item: Item, events: readonly AgentEvent[]): boolean {
  const read = JSON.stringify(events)
  if (item === 'usage.estimated') return read.includes('"estimated":true')
  if (item.startsWith('usage.')) return read.includes(`"${item.slice('usage.'.length)}":7`)
  return read.includes(MARK) || events.some(({ type }) => type === item)
}

describe.each(whole)('what clients of $name are shown', (named) => {
  const front = named.dialect.front!.capabilities
  const back = named.dialect.back!.capabilities

  test.each(Object.keys(SAID) as Item[])('%s', (item) => {
    const { shown, events } = play(named, start(), SAID[item]!)
    const own = shown.filter((loss) => isOwn(item, loss))
    if (item.startsWith('part.') && item !== 'part.reasoning' && front['tool-end'] === 'none') {
      return expect(shown.map((loss) => loss.item)).toContain('tool-end')
    }
    if (front[item] === 'none') {
      expect(own.map(({ kind, count }) => ({ kind, count }))).toEqual([{ kind: 'dropped', count: 1 }])
    } else if (front[item] === 'full') {
      expect(own).toEqual([])
      if (back[item] === 'full') expect(isRead(item, events)).toBe(true)
    }
    expect(shown.filter((loss) => !isOwn(item, loss) && front[loss.item] === 'full')).toEqual([])
  })
})

describe.each(alone)('what clients of $name, which has no agents, are shown', ({ name, dialect }) => {
  const { capabilities } = dialect.front!

  test.each(Object.keys(SAID) as Item[])('%s', (item) => {
    const shown: Loss[] = []
    const client = new FrontClient(
      dialect,
      name,
      () => {},
      (loss) => loss.kind !== 'invented' && shown.push(loss),
    )
    client.start(start())
    for (const event of turnOf(SAID[item]!)) client.show({ ...event, turn: '' } as TurnEvent)
    const own = shown.filter((loss) => isOwn(item, loss))
    if (capabilities[item] === 'full') {
      expect(own).toEqual([])
      // What a tool says on its way has become its result where the answer is one piece.
      const isKept = item !== 'tool-progress' && JSON.stringify(SAID[item]).includes(MARK)
      if (isKept) expect(client.raw).toContain(MARK)
    } else if (capabilities[item] === 'none' && !item.startsWith('part.')) {
      expect(own.map(({ kind, count }) => ({ kind, count }))).toEqual([{ kind: 'dropped', count: 1 }])
    }
    expect(shown.filter((loss) => !isOwn(item, loss) && capabilities[loss.item] === 'full')).toEqual([])
  })
})

/** The smallest request that holds an item. */
const ASKED: Partial<Record<Item, Parameters<typeof start>[0]>> = {
  'start.compact': { task: 'compact', input: [] },
  'start.request': { request: MARK },
  'start.agent': { agent: MARK },
  'start.once': { once: { key: MARK, duplicate: 'join', replay: 'never' } },
  'start.invocation': { invocation: { kind: 'slash', path: [MARK], args: '' } },
  'start.history': { history: [{ role: 'user', parts: [{ type: 'text', text: MARK }] }] },
  'start.clientTools': { clientTools: [{ name: MARK, schema: '{"type":"object"}' }] },
  'start.askedCapabilities': { askedCapabilities: [MARK] },
  'start.environment': { environment: { privacy: 'restricted', json: `{"project":"${MARK}"}` } },
  'start.cwd': { cwd: `/${MARK}` },
  'start.folders': { folders: [`/${MARK}`] },
  'start.mcpServers': { mcpServers: [{ type: 'stdio', name: MARK, command: ['m'], env: {} }] },
  'option.model': { options: { model: MARK } },
  'option.temperature': { options: { temperature: 0.25 } },
  'option.topP': { options: { topP: 0.5 } },
  'option.maxTokens': { options: { maxTokens: 4242 } },
  'option.stop': { options: { stop: [MARK] } },
  'option.effort': { options: { effort: 'high' } },
  'option.totalMs': { options: { totalMs: 61_000 } },
  'option.systemPrompt': { options: { systemPrompt: MARK } },
  'option.tools': { options: { tools: [MARK] } },
  'option.toolChoice': { options: { toolChoice: { tool: MARK } } },
  'option.parallelTools': { options: { parallelTools: false } },
  'option.outputSchema': { options: { outputSchema: '{"type":"object"}' } },
  'option.locale': { options: { locale: 'pl-PL' } },
  'part.ext': { input: [{ type: 'text', text: 'hi', ext: { protocol: 'other', json: `{"k":"${MARK}"}` } }] },
  'session.conversation': { session: { id: 's1', conversation: MARK } },
  'session.channel': { session: { id: 's1', channel: MARK } },
  'session.name': { session: { id: 's1', name: MARK } },
  'session.continuation': { session: { id: 's1', continuation: MARK } },
  ...Object.fromEntries(
    Object.entries(PARTS).map(([type, part]) => [`part.${type}`, { input: [{ type: 'text', text: 'hi' }, part] }]),
  ),
}

/** Whether a request that was read holds the item. */
function isAsked(item: Item, command: Command & TurnStart): boolean {
  const [group = '', name = ''] = item.split('.', 2)
  if (item === 'start.compact') return command.task === 'compact'
  if (item === 'part.ext') return command.input.some(({ ext }) => ext !== undefined)
  if (group === 'part') return command.input.some(({ type }) => type === name)
  const holder: object = group === 'option' ? command.options : group === 'session' ? (command.session ?? {}) : command
  return Object.hasOwn(holder, name)
}

describe.each(whole)('what agents of $name are told', (named) => {
  const front = named.dialect.front!.capabilities
  const back = named.dialect.back!.capabilities

  test.each(Object.keys(ASKED) as Item[])('%s', (item) => {
    const { asked, command } = play(named, start(ASKED[item]), [])
    const own = asked.filter((loss) => loss.item === item)
    if (back[item] === 'none') {
      const dropped = isServedHere(item) ? [] : [{ kind: 'dropped', count: 1 }]
      expect(own.map(({ kind, count }) => ({ kind, count }))).toEqual(dropped)
    } else if (back[item] === 'full') {
      expect(own).toEqual([])
      if (front[item] === 'full') expect(isAsked(item, command!)).toBe(true)
    }
    expect(asked.filter((loss) => loss.item !== item)).toEqual([])
  })
})

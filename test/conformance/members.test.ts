import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { Fault, Loss, Part, Role, Stop, ToolStatus, TurnEvent, Usage } from '../../src/model/index.ts'
import { formsOf, type Shown } from '../kit/shown.ts'

/**
 * Every member of every event of a turn reaches the client, or is a loss; and what reached it is none. The tables below
 * are typed by the model: a member that is added there does not compile here until it has a row.
 */

const forms = formsOf(await loadCodecs())

/** In every value that a member gets; it is found again in what the client reads. */
const MARK = 'W7xQ'

type Fields<E> = E extends unknown ? Omit<E, 'type' | 'turn' | 'lane' | 'ext'> : never
/** The event of one type, also of those types that share a shape. */
type Of<T extends TurnEvent['type']> = TurnEvent extends infer E
  ? E extends { type: infer K }
    ? T extends K
      ? E
      : never
    : never
  : never
type Keys<E> = E extends unknown ? keyof E : never

/** A member without (or with another value) and with what is looked for. `unmarked`: it is seen in the difference alone. */
interface Row {
  readonly without: unknown
  readonly with: unknown
  readonly unmarked?: true
  /** Members that it stands beside. */
  readonly beside?: object
}

/** Every event has it: where the event has no place, it goes with it. */
const always = (before: unknown, after: unknown): Row => ({ without: before, with: after })
/** Only some events have it: it is told of, or reported, for itself. */
const sometimes = (value: unknown, beside?: object): Row => ({
  without: undefined,
  with: value,
  ...(beside && { beside }),
})
const unmarked = (row: Row): Row => ({ ...row, unmarked: true })
/** What an id, or a word of the gateway's own, is: clients get their own. */
const ID = undefined

const TEXT: Part = { type: 'text', text: 'done' }

/** The rows of all members of an event; each also has `lane` and `ext`. */
const MEMBERS: { readonly [T in TurnEvent['type']]: { readonly [M in Keys<Fields<Of<T>>>]: Row | undefined } } = {
  'turn-accepted': { how: ID, session: ID, request: ID, denials: ID },
  'turn-started': {},
  'turn-parked': { asks: ID, continuation: ID, deadline: ID },
  'turn-end': {
    outcome: unmarked(always('completed', 'failed')),
    stop: unmarked(sometimes('max-tokens')),
    fault: sometimes({ code: 'internal', message: MARK, retryable: false }, { outcome: 'failed' }),
    continuation: sometimes(MARK),
    summary: sometimes(MARK),
  },
  'step-start': { step: ID },
  'step-end': { step: ID, stop: unmarked(always('end', 'max-tokens')) },
  'message-start': {
    message: ID,
    role: unmarked(always('assistant', 'system')),
    phase: unmarked(sometimes('commentary')),
  },
  'text-delta': { message: ID, text: always('x', MARK) },
  'reasoning-delta': { message: ID, text: always('x', MARK) },
  // The end of the message repeats it.
  'reasoning-end': { message: ID, seal: ID },
  // The end of the message repeats all of it.
  citation: { message: ID, title: ID, url: ID, ref: ID, quote: ID, start: ID, end: ID },
  'message-end': { message: ID, parts: sometimes([{ type: 'text', text: MARK }]), revised: ID },
  'message-retract': { message: ID, keepText: unmarked(always(true, false)) },
  'tool-start': {
    tool: ID,
    message: ID,
    name: always('read', MARK),
    kind: sometimes(MARK),
    title: sometimes(MARK),
    executor: unmarked(always('agent', 'client')),
  },
  'tool-args-delta': { tool: ID, text: always('{"a":1}', `{"a":"${MARK}"}`) },
  'tool-call': {
    tool: ID,
    name: always('read', MARK),
    args: always('{"a":1}', `{"a":"${MARK}"}`),
    executor: unmarked(always('agent', 'client')),
  },
  'tool-progress': { tool: ID, parts: always([TEXT], [{ type: 'text', text: MARK }]) },
  'tool-end': {
    tool: ID,
    status: unmarked(always('ok', 'denied')),
    parts: always([TEXT], [{ type: 'text', text: MARK }]),
  },
  'terminal-output': { stream: unmarked(always('stdout', 'stderr')), text: always('x', MARK) },
  directive: {
    action: ID,
    json: always(directive('x'), directive(MARK)),
  },
  plan: { json: always('["x"]', `["${MARK}"]`) },
  usage: {
    scope: unmarked(always('turn', 'session')),
    usage: always({ input: 5, output: 2 }, { input: 4242, output: 2 }),
    estimated: unmarked(sometimes(true)),
  },
  notice: {
    severity: unmarked(always('info', 'warning')),
    code: always('ext-notify', MARK),
    text: always('x', MARK),
  },
  ask: { ask: ID, question: ID, deadline: ID },
  'ask-settled': { ask: ID, how: ID, by: ID, option: ID },
  foreign: { protocol: ID, frame: always('{"k":"x"}', `{"k":"${MARK}"}`) },
}

function directive(text: string): string {
  return `{"action_type":"open","payload":{"id":"${text}"}}`
}

/** An event as rows write it: without its turn. */
type Told = Record<string, unknown> & { type: TurnEvent['type'] }

const OPEN: Told = { type: 'message-start', message: 'm1', role: 'assistant' }
const SAY: Told = { type: 'text-delta', message: 'm1', text: 'partial' }
const CLOSE: Told = { type: 'message-end', message: 'm1' }
const START: Told = { type: 'tool-start', tool: 't1', name: 'read', executor: 'agent' }
const CALL: Told = { type: 'tool-call', tool: 't1', name: 'read', args: '{"a":1}', executor: 'agent' }
const DONE: Told = { type: 'tool-end', tool: 't1', status: 'ok', parts: [TEXT] }
const END: Told = { type: 'turn-end', outcome: 'completed' }

/** Not every protocol has empty answers. */
const ANSWER: readonly Told[] = [
  { type: 'message-start', message: 'm9', role: 'assistant' },
  { type: 'text-delta', message: 'm9', text: 'Done.' },
  { type: 'message-end', message: 'm9' },
]

/** The least events of a turn that an event of a type stands among, with the event itself in its place. */
const AMONG: { readonly [T in TurnEvent['type']]: (given: Told) => readonly Told[] } = {
  'turn-accepted': () => [],
  'turn-started': () => [],
  'turn-parked': () => [],
  'turn-end': () => [],
  'step-start': (step) => [step, { type: 'step-end', step: step['step'], stop: 'end' }],
  'step-end': (end) => [{ type: 'step-start', step: 1 }, end],
  'message-start': (start) => [start, SAY, CLOSE],
  'text-delta': (delta) => [OPEN, delta, CLOSE],
  'reasoning-delta': (delta) => [OPEN, delta, SAY, CLOSE],
  'reasoning-end': (end) => [OPEN, end, SAY, CLOSE],
  citation: (citation) => [OPEN, SAY, citation, CLOSE],
  'message-end': ({ streamed, ...end }) => [OPEN, ...(streamed ? [{ ...SAY, text: 'done' }] : []), end as Told],
  'message-retract': (retract) => [OPEN, SAY, retract, CLOSE],
  'tool-start': (start) => [start, { ...CALL, name: start['name'], executor: start['executor'] }, DONE],
  'tool-args-delta': (delta) => [START, delta, { ...CALL, args: delta['text'] }, DONE],
  'tool-call': (call) => [call, DONE],
  'tool-progress': (progress) => [CALL, progress, DONE],
  'tool-end': (end) => [CALL, end],
  'terminal-output': (output) => [output],
  directive: (directive) => [directive],
  plan: (plan) => [plan],
  usage: (usage) => [usage],
  notice: (notice) => [notice],
  ask: () => [],
  'ask-settled': () => [],
  foreign: (foreign) => [foreign],
}

/** Members of an event that have their usual value. */
const USUAL: Partial<Record<TurnEvent['type'], object>> = {
  'step-start': { step: 1 },
  'step-end': { step: 1, stop: 'end' },
  'message-start': { message: 'm1', role: 'assistant' },
  'text-delta': { message: 'm1', text: 'said' },
  'reasoning-delta': { message: 'm1', text: 'thought' },
  'message-end': { message: 'm1', parts: [TEXT] },
  'message-retract': { message: 'm1', keepText: true },
  'tool-start': { tool: 't1', name: 'read', executor: 'agent' },
  'tool-args-delta': { tool: 't1', text: '{"a":1}' },
  'tool-call': { tool: 't1', name: 'read', args: '{"a":1}', executor: 'agent' },
  'tool-progress': { tool: 't1', parts: [TEXT] },
  'tool-end': { tool: 't1', status: 'ok', parts: [TEXT] },
  'terminal-output': { stream: 'stdout', text: 'x' },
  directive: { action: 'open', json: directive('x') },
  plan: { json: '[]' },
  usage: { scope: 'turn', usage: { input: 5, output: 2 } },
  notice: { severity: 'info', code: 'c', text: 'x' },
  foreign: { protocol: 'other', frame: '{}' },
  'turn-end': { outcome: 'completed' },
}

function turnOf(event: Told): TurnEvent[] {
  const among = AMONG[event.type](event)
  const lane = event['lane']
  const laned = lane === undefined || event.type === 'turn-end' ? among : among.map((one) => ({ ...one, lane }))
  const all = [
    { type: 'turn-accepted', how: 'new', session: 's' },
    { type: 'turn-started' },
    ...laned,
    ...ANSWER,
    event.type === 'turn-end' ? event : END,
  ]
  return all.map((one) => ({ turn: 't', ...without(one) }) as TurnEvent)
}

function without(event: object): object {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined))
}

/** What is new in the losses of the second turn. */
function newLosses(before: Shown, after: Shown): string[] {
  const count = new Map(before.losses.map((loss) => [nameOf(loss), loss.count]))
  return after.losses.filter((loss) => loss.count > (count.get(nameOf(loss)) ?? 0)).map(nameOf)
}

const nameOf = ({ kind, item, field }: Loss): string => `${kind} ${item}${field === undefined ? '' : `(${field})`}`

/** What is wrong with how a member fares; undefined when it is shown and no loss, or not shown and a loss. */
function judge(row: Row, within: readonly string[], before: Shown, after: Shown): string | undefined {
  const lost = newLosses(before, after)
  const differs = before.text !== after.text
  const isShown = differs && (row.unmarked === true || after.text.includes('4242') || after.text.includes(MARK))
  const isGone = after.losses.some(({ item }) => within.includes(item))
  if (!isShown && lost.length === 0 && !isGone) return differs ? 'shown without its value, and no loss' : 'silent'
  const dropped = lost.filter((loss) => loss.startsWith('dropped'))
  return isShown && dropped.length > 0 && !row.unmarked ? `shown, and ${dropped.join(', ')}` : undefined
}

interface Case {
  readonly name: string
  readonly row: Row
  /** What it goes with, as items: where that has no place, it is no loss of its own. */
  readonly within: readonly string[]
  readonly before: Told
  readonly after: Told
}

/** What answers in one piece count of tools and thoughts that they do not show. */
const TOLD_BY: Partial<Record<TurnEvent['type'], readonly string[]>> = {
  'tool-start': ['tool-call'],
  'tool-args-delta': ['tool-call'],
  'tool-progress': ['tool-call'],
  'tool-end': ['tool-call'],
}

/** Members that every event may have. */
const OF_EVERY: ReadonlySet<string> = new Set(['lane', 'ext', 'estimated'])

function caseOf(type: TurnEvent['type'], member: string, row: Row): Case {
  const usual = { ...USUAL[type], ...row.beside }
  return {
    name: `${type}.${member}`,
    row,
    within: row.without !== undefined || OF_EVERY.has(member) ? [type, ...(TOLD_BY[type] ?? [])] : [],
    before: { ...usual, type, [member]: row.without },
    after: { ...usual, type, [member]: row.with },
  }
}

const OWN = Object.entries(MEMBERS).flatMap(([type, members]) =>
  Object.entries(members as Record<string, Row | undefined>).flatMap(([member, row]) =>
    row === undefined ? [] : [caseOf(type as TurnEvent['type'], member, row)],
  ),
)
const EVERY = (Object.keys(USUAL) as TurnEvent['type'][]).flatMap((type) => [
  // The tokens of all lanes are the turn's.
  ...(type === 'turn-end' || type === 'usage' ? [] : [caseOf(type, 'lane', unmarked(sometimes('sub')))]),
  caseOf(type, 'ext', sometimes({ protocol: 'other', json: `{"k":"${MARK}"}` })),
])

/** The members of parts, in a message and in the result of a tool. */
const PARTS: { readonly [P in Exclude<Part['type'], 'tool-call' | 'tool-reply'>]: PartRows<P> } = {
  text: {
    text: always('x', MARK),
    citations: sometimes([{ title: MARK, url: 'https://pages.example/x', start: 0, end: 1 }], { text: 'done' }),
  },
  image: blobRows('image/png'),
  audio: blobRows('audio/wav'),
  file: blobRows('application/pdf'),
  data: { json: always('{"k":"x"}', `{"k":"${MARK}"}`), mime: sometimes(`text/${MARK}`, { json: '{}' }) },
  reasoning: {
    text: always('x', MARK),
    seal: sometimes({ provider: 'p', data: MARK }, { text: 'thought' }),
  },
  diff: {
    path: always('x', MARK),
    before: always('x', MARK),
    after: always('x', MARK),
  },
}
type PartRows<P extends Part['type']> = {
  readonly [M in Exclude<Keys<Extract<Part, { type: P }>>, 'type' | 'ext'>]: Row
}

function blobRows(mime: string) {
  const url = { url: 'https://files.example/x', mime, bytes: 9 }
  return {
    mime: { without: mime, with: `${mime}-${MARK}`, beside: url },
    name: sometimes(MARK, url),
    url: always('https://files.example/x', `https://files.example/${MARK}`),
    ref: always('x', MARK),
    base64: always('QUFB', `QUFB${MARK}`),
    bytes: { without: undefined, with: 4242, beside: { url: 'https://files.example/x', mime } },
  }
}

const USUAL_PARTS: Partial<Record<Part['type'], object>> = {
  image: { mime: 'image/png', bytes: 9 },
  audio: { mime: 'audio/wav', bytes: 9 },
  file: { mime: 'application/pdf', bytes: 9 },
  diff: { path: 'a', before: 'a', after: 'b' },
}

const OF_PARTS = Object.entries(PARTS).flatMap(([part, members]) =>
  Object.entries(members as Record<string, Row>).flatMap(([member, row]) =>
    (['message-end', 'streamed message-end', 'tool-end'] as const)
      .filter(
        (where) =>
          (where !== 'tool-end' || part !== 'reasoning') && (where !== 'streamed message-end' || part !== 'text'),
      )
      .map((where): Case => {
        const type = where === 'tool-end' ? where : 'message-end'
        const streamed = where === 'streamed message-end' ? true : undefined
        const held = (value: unknown) => ({
          type: part,
          ...USUAL_PARTS[part as Part['type']],
          ...row.beside,
          [member]: value,
        })
        const event = (value: unknown): Told => ({
          ...USUAL[type],
          type,
          streamed,
          parts: [TEXT, without(held(value))],
        })
        return {
          name: `${where}: part.${part}.${member}`,
          row,
          within: [
            type,
            `part.${part}`,
            ...(part === 'reasoning' ? ['reasoning-delta'] : []),
            ...(TOLD_BY[type] ?? []),
          ],
          before: event(row.without),
          after: event(row.with),
        }
      }),
  ),
)

/** The counts of a usage. */
const USAGES: { readonly [U in keyof Usage]-?: Row } = {
  input: always(5, 4242),
  output: always(5, 4242),
  reasoning: unmarked(sometimes(4242)),
  cacheRead: sometimes(4242),
  cacheWrite: sometimes(4242),
  total: sometimes(4242),
  costUsd: sometimes(0.4242),
}
const OF_USAGE = Object.entries(USAGES).map(([member, row]): Case => {
  const event = (value: unknown): Told => ({
    type: 'usage',
    scope: 'turn',
    usage: without({ input: 5, output: 2, [member]: value }),
  })
  return {
    name: `usage.${member}`,
    row,
    within: ['usage'],
    before: event(row.without),
    after: event(row.with),
  }
})

/** The members of a fault. `retry` is for the engine, `retryAfterMs` for it and the head of an HTTP answer. */
const FAULTS: { readonly [F in Exclude<keyof Fault, 'retry' | 'retryAfterMs'>]-?: Row } = {
  code: unmarked(always('internal', 'provider-rate-limit')),
  message: always('x', MARK),
  retryable: unmarked(always(false, true)),
  ext: sometimes({ protocol: 'other', json: `{"k":"${MARK}"}` }),
}
const OF_FAULTS = Object.entries(FAULTS).map(([member, row]): Case => {
  const event = (value: unknown): Told => ({
    type: 'turn-end',
    outcome: 'failed',
    stop: 'error',
    // A limit of rates is one that may be tried again, and goes without saying so.
    fault: without({
      code: 'internal',
      message: 'It broke.',
      retryable: value === 'provider-rate-limit',
      [member]: value,
    }),
  })
  return { name: `fault.${member}`, row, within: [], before: event(row.without), after: event(row.with) }
})

/** Every value that is not the usual one. `max-turns` is no end of a turn that completed. */
const STOPS: Readonly<Record<Stop, boolean>> = {
  end: false,
  'max-tokens': true,
  'context-window': true,
  'max-turns': true,
  'max-budget': true,
  'tool-use': false,
  'stop-sequence': true,
  refusal: true,
  'content-filter': true,
  aborted: false,
  error: false,
}
const STATUSES: Readonly<Record<ToolStatus, boolean>> = { ok: false, error: true, denied: true, cancelled: true }
const ROLES: Readonly<Record<Role, boolean>> = { assistant: false, user: true, system: true, tool: true }

const valued = (type: TurnEvent['type'], member: string, usual: string, values: Readonly<Record<string, boolean>>) =>
  Object.keys(values)
    .filter((value) => values[value])
    .map((value) => {
      const one = caseOf(type, member, unmarked(always(usual, value)))
      return { ...one, name: `${one.name} ${value}`, within: type === 'turn-end' ? [] : one.within }
    })
const VALUES = [
  ...valued('turn-end', 'stop', 'end', STOPS),
  ...valued('tool-end', 'status', 'ok', STATUSES),
  ...valued('message-start', 'role', 'assistant', ROLES),
]

/** The tokens since the session began, beside those of the turn. */
const OF_SESSION: Case = {
  name: 'usage of the session',
  row: sometimes(4242),
  within: ['usage'],
  before: { type: 'usage', scope: 'turn', usage: { input: 5, output: 2 } },
  after: { type: 'usage', scope: 'session', usage: { input: 4242 } },
}

const CASES = [OF_SESSION, ...VALUES, ...OWN, ...EVERY, ...OF_PARTS, ...OF_USAGE, ...OF_FAULTS]

describe.each(forms)('a client of $name', (form) => {
  test.each(CASES)('is shown $name, or it is a loss', ({ row, within, before, after }) => {
    expect(judge(row, within, form.show(turnOf(before)), form.show(turnOf(after)))).toBeUndefined()
  })
})

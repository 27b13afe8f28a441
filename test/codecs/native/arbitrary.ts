/** Arbitrary values of the canonical model, all of them. */
import fc from 'fast-check'
import {
  type AgentEvent,
  type Command,
  ERROR_CODES,
  EXECUTORS,
  type Fault,
  ITEMS,
  type JsonText,
  LOSS_KINDS,
  LOSS_REASONS,
  type Loss,
  type Part,
  QUERIES,
  quote,
  ROLES,
  STOPS,
  TOOL_STATUSES,
} from '../../../src/model/index.ts'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => (n === 0 ? 0 : n))

/** JSON text with what `JSON.parse` would change: digits, exponents, doubled and odd keys, separators of lines. */
export const json: fc.Arbitrary<JsonText> = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }).map((value) => escaped(JSON.stringify(value))),
  fc.constantFrom(
    '1e400',
    '-0',
    '1.0',
    '12345678901234567890',
    '{"a":1,"a":2}',
    '{"__proto__": {"x":1}}',
    '[ 1 , {} ]',
  ),
  text.map((held) => quote(held)),
)

const objectJson = fc.oneof(
  fc.constantFrom('{}', '{"zot":1e400}', '{"a":{"b":[1]},"a":2}'),
  fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })).map((value) => escaped(JSON.stringify(value))),
)

function escaped(raw: JsonText): JsonText {
  return raw.replace(/[\u2028\u2029\u0085]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** An `ext` of another protocol. */
const ext = fc.record({ protocol: fc.constantFrom('zot', 'zene'), json: objectJson })
/** The names are of no message's own: they are what this protocol's reader does not know. */
const ownExt = fc
  .dictionary(fc.constantFrom('x-a', 'x b', '__proto__', 'später'), json, { minKeys: 1 })
  .map((held) => ({ protocol: 'native', json: `{${Object.entries(held).map(([k, v]) => `${quote(k)}:${v}`)}}` }))
const anyExt = fc.oneof(ext, ownExt)

type Members = Record<string, fc.Arbitrary<unknown>>

/** Objects with these members, and any of `more`. */
function record(needed: Members, more: Members = {}): fc.Arbitrary<unknown> {
  return fc.record({ ...needed, ...more }, { requiredKeys: Object.keys(needed), noNullPrototype: true })
}

const status = fc.constantFrom(...TOOL_STATUSES)
const executor = fc.constantFrom(...EXECUTORS)
const role = fc.constantFrom(...ROLES)
const stop = fc.constantFrom(...STOPS)
const blob = { mime: text, name: text, url: text, ref: text, base64: text, bytes: fc.nat() }

const cited = { title: text, url: text, ref: text, quote: text, start: fc.nat(), end: fc.nat() }
const citations = fc.array(record({}, { ...cited, ext }), { maxLength: 2 })

const seal = record({ provider: text, data: text }, { kind: fc.constantFrom('encrypted', 'redacted') })

const { part } = fc.letrec<{ part: unknown; parts: unknown }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2 },
    record({ type: fc.constant('text'), text }, { citations, ext }),
    record({ type: fc.constantFrom('image', 'audio', 'file') }, { ...blob, ext }),
    record({ type: fc.constant('data'), json }, { mime: text, ext }),
    record({ type: fc.constant('reasoning'), text }, { seal, ext }),
    record({ type: fc.constant('tool-call'), tool: text, name: text, args: json }, { ext }),
    record({ type: fc.constant('diff'), path: text, before: fc.option(text), after: text }, { ext }),
    record({ type: fc.constant('tool-reply'), tool: text, status, parts: tie('parts') }, { ext }),
  ),
  parts: fc.array(tie('part'), { maxLength: 3 }),
}))
const parts = fc.array(part, { maxLength: 3 }) as fc.Arbitrary<Part[]>

/** Any fault. */
export const fault = record(
  { code: fc.constantFrom(...ERROR_CODES), message: text, retryable: fc.boolean() },
  { retry: fc.constant('fresh-session'), retryAfterMs: fc.nat(), ext },
) as fc.Arbitrary<Fault>

const question = fc.oneof(
  record(
    {
      kind: fc.constant('approval'),
      name: text,
      args: json,
      options: fc.array(
        record(
          { id: text, kind: fc.constantFrom('allow', 'deny'), scope: fc.constantFrom('once', 'session', 'always') },
          { label: text },
        ),
        { maxLength: 2 },
      ),
    },
    { tool: text, description: text },
  ),
  record({ kind: fc.constant('input'), message: text }, { schema: json }),
  record({ kind: fc.constant('client'), method: text, params: json }),
  record({ kind: fc.constant('tool'), tool: text }),
)
const ask = record({ ask: text, question }, { deadline: number })
const tokens = fc.nat()
const cost = fc.double({ min: 0, max: 1e9, noNaN: true }).map((usd) => usd + 0)
const usage = record({}, { input: tokens, output: tokens, reasoning: tokens, cacheRead: tokens, costUsd: cost })

/** The members of every event of a turn: needed ones, then those that may be absent. */
const TURN_EVENTS: Record<string, [Members, Members?]> = {
  'turn-accepted': [
    { how: fc.constantFrom('new', 'joined', 'replayed'), session: text },
    { request: text, denials: fc.array(record({ capability: text, code: text }), { maxLength: 2 }) },
  ],
  'turn-started': [{}],
  'turn-parked': [{ asks: fc.array(ask, { maxLength: 2 }), continuation: text, deadline: number }],
  'turn-end': [
    { outcome: fc.constantFrom('completed', 'failed', 'cancelled') },
    { stop, fault, continuation: text, summary: text },
  ],
  'step-start': [{ step: number }],
  'step-end': [{ step: number, stop }],
  'message-start': [{ message: text, role }, { phase: fc.constantFrom('commentary', 'final', 'refusal') }],
  'text-delta': [{ message: text, text }],
  'reasoning-delta': [{ message: text, text }],
  'reasoning-end': [{ message: text }, { seal }],
  citation: [{ message: text }, cited],
  'message-end': [{ message: text }, { parts }],
  'message-retract': [{ message: text, keepText: fc.boolean() }],
  'tool-start': [
    { tool: text, name: text, executor },
    { message: text, kind: text, title: text },
  ],
  'tool-args-delta': [{ tool: text, text }],
  'tool-call': [{ tool: text, name: text, args: json, executor }],
  'tool-progress': [{ tool: text, parts }],
  'tool-end': [{ tool: text, status, parts }],
  'terminal-output': [{ stream: fc.constantFrom('stdout', 'stderr'), text }],
  directive: [{ action: text, json }],
  plan: [{ json }],
  usage: [{ scope: fc.constantFrom('call', 'turn', 'session'), usage }, { estimated: fc.constant(true) }],
}

/** The members of the events that may belong to a turn or to none. */
const SHARED: Record<string, [Members, Members?]> = {
  notice: [{ severity: fc.constantFrom('info', 'warning', 'error'), code: text, text }],
  ask: [{ ask: text, question }, { deadline: number }],
  'ask-settled': [{ ask: text, how: fc.constantFrom('answered', 'timeout', 'cancelled') }, { by: text }],
  foreign: [{ protocol: fc.constantFrom('zot', 'other'), frame: text }],
}

/** The members of the events that belong to no turn. */
const LINK_EVENTS: Record<string, [Members, Members?]> = {
  'agent-ready': [{}, { model: text, version: text, json }],
  'session-bound': [{ agentSession: text }],
  'session-changed': [{ json }],
  'command-reply': [{ exchange: text }, { data: json, fault }],
}

function messages(table: Record<string, [Members, Members?]>, common: Members, rare: Members) {
  return Object.entries(table).map(([type, [needed, more]]) =>
    record({ type: fc.constant(type), ...common, ...needed }, { ...rare, ...more }),
  )
}

const rare = { lane: text, ext: anyExt }

/** Any event. */
export const event = fc.oneof(
  ...messages({ ...TURN_EVENTS, ...SHARED }, { turn: text }, rare),
  ...messages({ ...LINK_EVENTS, ...SHARED }, { turn: fc.constant(null) }, rare),
) as fc.Arbitrary<AgentEvent>

const target = fc.oneof(
  fc.constant('running'),
  record({ turn: text }),
  record({ request: text }),
  record({ continuation: text }),
)
const reply = fc.oneof(
  record({ kind: fc.constant('approval'), option: text }, { edited: json, message: text, stopTurn: fc.constant(true) }),
  record({ kind: fc.constant('input'), values: json }),
  record({ kind: fc.constant('client') }, { result: json, error: json }),
  record({ kind: fc.constant('tool'), status, parts }),
)
const words = fc.array(text, { maxLength: 2 })
const names = fc.dictionary(text, text, { maxKeys: 2 })

const options = record(
  {},
  {
    streaming: fc.boolean(),
    model: text,
    temperature: number,
    topP: number,
    maxTokens: number,
    stop: words,
    effort: text,
    totalMs: fc.nat(),
    systemPrompt: text,
    tools: words,
    toolChoice: fc.oneof(fc.constantFrom('auto', 'none', 'required'), record({ tool: text })),
    parallelTools: fc.boolean(),
    outputSchema: json,
    locale: text,
  },
)
const clientTools = fc.array(
  record(
    { name: text },
    {
      kind: fc.constantFrom('custom', 'hosted'),
      namespace: text,
      description: text,
      schema: json,
      strict: fc.boolean(),
      ext,
    },
  ),
  { maxLength: 2 },
)

const COMMANDS: Record<string, [Members, Members?]> = {
  'turn-start': [
    {
      turn: text,
      task: fc.constantFrom('prompt', 'compact'),
      input: fc.array(part, { minLength: 1, maxLength: 3 }),
      options,
    },
    {
      request: text,
      agent: text,
      once: record(
        {
          key: text,
          duplicate: fc.constantFrom('join', 'tell'),
          replay: fc.constantFrom('undelivered', 'success', 'never'),
        },
        { ttlMs: fc.nat() },
      ),
      invocation: record({ kind: fc.constantFrom('slash', 'at'), path: words, args: text }),
      history: fc.array(record({ role, parts }, { at: number }), { maxLength: 2 }),
      clientTools,
      askedCapabilities: words,
      cwd: text,
      folders: words,
      mcpServers: fc.array(
        fc.oneof(
          fc.record({ name: text, type: fc.constant('stdio'), command: words, env: names }),
          fc.record({ name: text, type: fc.constantFrom('http', 'sse'), url: text, headers: names }),
        ),
        { maxLength: 2 },
      ),
      environment: record({ privacy: fc.constantFrom('public', 'restricted', 'secret'), json }),
    },
  ],
  'turn-cancel': [{ target }],
  'turn-follow': [{ target }],
  'turn-steer': [{ target, input: parts }],
  'ask-reply': [
    { target, reply },
    {
      ask: text,
      at: fc.nat(9),
      also: fc.array(record({ reply }, { ask: text, at: fc.nat(9) }), { maxLength: 2 }),
      input: parts,
      settings: record({ options }, { agent: text, user: text, clientTools, ext }),
    },
  ],
  'session-open': [{}, { mcpServers: words }],
  'session-close': [{}],
  'session-clear': [{}],
  'turn-delete': [{ id: text }],
  'session-delete': [{ id: text }],
  'session-fork': [{ id: text }],
  'config-set': [
    {},
    { model: text, mode: text, effort: text, option: fc.record({ id: text, value: fc.oneof(text, fc.boolean()) }) },
  ],
  query: [{ what: fc.constantFrom(...QUERIES) }, { args: json }],
  foreign: [{ protocol: fc.constantFrom('zot', 'other'), frame: text }],
}

const session = record({}, { id: text, conversation: text, channel: text, name: text, continuation: text })

/** Any command of a client. */
export const command = fc.oneof(
  ...messages(COMMANDS, { exchange: text }, { session, ext: anyExt }),
) as fc.Arbitrary<Command>

/** Any loss. */
export const loss = record(
  {
    kind: fc.constantFrom(...LOSS_KINDS),
    item: fc.constantFrom(...ITEMS),
    why: fc.constantFrom(...LOSS_REASONS),
    count: fc.integer({ min: 1 }),
  },
  { field: text },
) as fc.Arbitrary<Loss>

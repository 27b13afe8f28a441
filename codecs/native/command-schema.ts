import * as v from 'valibot'
import { type BodyOf, flag, number, text } from '../../src/codec-kit/index.ts'
import { type Command, QUERIES } from '../../src/model/index.ts'
import {
  amount,
  ext,
  list,
  type MessageSchema,
  maybe,
  type OfType,
  oneOf,
  part,
  parts,
  raw,
  record,
  role,
  status,
  texts,
} from './schema.ts'

type Schemas = {
  readonly [K in Command['type']]: MessageSchema<BodyOf<OfType<Command, K>, 'type' | 'exchange'>>
}

/** Which conversation it belongs to; `bound` and `origin` are for agents alone and ignored from clients. */
const session = record({
  id: maybe(text),
  conversation: maybe(text),
  channel: maybe(text),
  name: maybe(text),
  continuation: maybe(text),
})

/** A command with these members of its own. */
function command<const E extends v.ObjectEntries>(entries: E) {
  return record({ ...entries, session: maybe(session), ext: maybe(ext) })
}

const which = v.union(
  [
    v.literal('running'),
    v.object({ turn: v.string() }),
    v.object({ request: v.string() }),
    v.object({ continuation: v.string() }),
  ],
  'must be "running", or an object with turn, request or continuation',
)
/** Most clients have one turn at a time: the one that runs is meant unless another is named. */
const target = v.optional(which, 'running')

const toolChoice = v.union(
  [v.literal('auto'), v.literal('none'), v.literal('required'), v.object({ tool: v.string() })],
  'must be "auto", "none", "required", or an object with tool',
)

const clientTool = record({
  name: text,
  kind: maybe(oneOf(['custom', 'hosted'])),
  namespace: maybe(text),
  description: maybe(text),
  schema: maybe(raw),
  strict: maybe(flag),
  ext: maybe(ext),
})

const options = record({
  streaming: maybe(flag),
  model: maybe(text),
  temperature: maybe(number),
  topP: maybe(number),
  maxTokens: maybe(number),
  stop: maybe(texts),
  effort: maybe(text),
  totalMs: maybe(amount),
  systemPrompt: maybe(text),
  tools: maybe(texts),
  toolChoice: maybe(toolChoice),
  parallelTools: maybe(flag),
  outputSchema: maybe(raw),
  locale: maybe(text),
})

/** The options and tools for the rest of a parked turn. */
const settings = record({
  agent: maybe(text),
  user: maybe(text),
  options: v.optional(options, {}),
  clientTools: maybe(list(clientTool)),
  ext: maybe(ext),
})

const names = v.record(v.string(), v.string('must be a string'), 'must be an object of strings')
const configOption = record({
  id: text,
  value: v.union([v.string(), v.boolean()], 'must be a string or a boolean'),
})

const mcpServer = v.variant(
  'type',
  [
    v.object({ name: text, type: v.literal('stdio'), command: texts, env: names }),
    v.object({ name: text, type: oneOf(['http', 'sse']), url: text, headers: names }),
  ],
  'must be a server of the type "stdio", "http" or "sse"',
)

const once = record({
  key: text,
  scope: maybe(v.literal('tenant', 'must be tenant')),
  duplicate: oneOf(['join', 'tell']),
  replay: oneOf(['undelivered', 'success', 'never']),
  ttlMs: maybe(amount),
})

/** The answer to a question. */
export const reply = v.variant(
  'kind',
  [
    v.object({
      kind: v.literal('approval'),
      option: text,
      edited: maybe(raw),
      message: maybe(text),
      stopTurn: maybe(v.literal(true, 'must be true')),
    }),
    v.object({ kind: v.literal('input'), values: raw }),
    v.object({ kind: v.literal('client'), result: maybe(raw), error: maybe(raw) }),
    v.object({ kind: v.literal('tool'), status, parts }),
  ],
  'must be a reply of a known kind',
)

/** The answer to one question: its id, or its place among those that a parked turn waits for. */
const answered = { ask: maybe(text), at: maybe(number), reply }

/** The members of every command besides `type`, `exchange` and `turn`, by its type. */
export const COMMANDS: Schemas = {
  'turn-start': command({
    task: v.optional(oneOf(['prompt', 'compact']), 'prompt'),
    request: maybe(text),
    agent: maybe(text),
    user: maybe(text),
    input: v.optional(v.array(part, 'must be a string or an array of parts'), []),
    options: v.optional(options, {}),
    once: maybe(once),
    retry: maybe(v.literal(true, 'must be true')),
    invocation: maybe(record({ kind: oneOf(['slash', 'at']), path: texts, args: text })),
    after: maybe(text),
    history: maybe(list(record({ role, parts, at: maybe(number) }))),
    historyMode: maybe(oneOf(['complete', 'delta'])),
    clientTools: maybe(list(clientTool)),
    askedCapabilities: maybe(texts),
    cwd: maybe(text),
    folders: maybe(texts),
    mcpServers: maybe(list(mcpServer)),
    environment: maybe(record({ privacy: oneOf(['public', 'restricted', 'secret']), json: raw })),
  }),
  'turn-cancel': command({ target }),
  'turn-follow': command({ target: which }),
  'turn-steer': command({ target, input: v.array(part, 'must be a string or an array of parts') }),
  'ask-reply': command({
    target,
    ...answered,
    also: maybe(list(record(answered))),
    input: maybe(parts),
    settings: maybe(settings),
  }),
  'session-open': command({ mcpServers: maybe(texts) }),
  'session-close': command({}),
  'session-clear': command({}),
  'turn-delete': command({ id: text }),
  'session-delete': command({ id: text }),
  'session-fork': command({ id: text }),
  'config-set': command({ model: maybe(text), mode: maybe(text), effort: maybe(text), option: maybe(configOption) }),
  query: command({
    what: oneOf(QUERIES),
    args: maybe(raw),
  }),
  foreign: command({ protocol: text, frame: text }),
}

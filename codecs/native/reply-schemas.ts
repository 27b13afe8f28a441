import type { JsonSchema } from '../../src/contract/index.ts'
import { listOf, namedSchemas, objectOf, refTo } from '../../src/describe/index.ts'
import { ERROR_CODES, ROLES } from '../../src/model/index.ts'
import { COMMANDS, reply } from './command-schema.ts'
import { EVENTS } from './event-schema.ts'
import {
  ask,
  askOption,
  citation,
  ext,
  loss,
  part,
  parts,
  question,
  raw,
  seal,
  stop,
  toolReply,
  usage,
} from './schema.ts'

const text: JsonSchema = { type: 'string' }
const whole: JsonSchema = { type: 'integer' }
const flag: JsonSchema = { type: 'boolean' }
const time: JsonSchema = { type: 'number', description: 'Milliseconds since the epoch.' }
const ms: JsonSchema = { type: 'number', description: 'Milliseconds.' }
const oneOf = (...words: string[]): JsonSchema => ({ type: 'string', enum: words })

/** The name of the schema of an event: `TextDeltaEvent`. */
function nameOf(type: string): string {
  return `${type.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

const TYPES = Object.keys(EVENTS) as (keyof typeof EVENTS)[]
/** Events that belong to no turn, and those that may. */
const LINK_EVENTS: readonly string[] = ['agent-ready', 'session-bound', 'session-changed', 'command-reply']
const EITHER: readonly string[] = ['notice', 'ask']

/** The schemas of the messages of both sides, as they are on the wire. */
const OF_MESSAGES: Readonly<Record<string, JsonSchema>> = namedSchemas(
  {
    ...Object.fromEntries(TYPES.map((type) => [nameOf(type), EVENTS[type]])),
    Ext: ext,
    ToolReplyPart: toolReply,
    Part: part,
    Parts: parts,
    Citation: citation,
    Seal: seal,
    AskOption: askOption,
    Question: question,
    Ask: ask,
    Loss: loss,
    Stop: stop,
    Usage: usage,
    Command: COMMANDS['turn-start'],
    AskReply: reply,
    Continue: COMMANDS['ask-reply'],
  },
  raw,
)

const members = (schema: JsonSchema): Record<string, JsonSchema> => schema['properties'] as Record<string, JsonSchema>
const { Command = {}, Continue = {}, ...named } = OF_MESSAGES

/** Events as clients get them: with their type, their turn and their number. */
const OF_EVENTS = TYPES.map((type): [string, JsonSchema] => {
  const { properties, required = [] } = OF_MESSAGES[nameOf(type)] as { properties: object; required?: string[] }
  const isLink = LINK_EVENTS.includes(type)
  const turn: JsonSchema = isLink ? { type: 'null' } : EITHER.includes(type) ? { type: ['string', 'null'] } : text
  const own = isLink || EITHER.includes(type) ? ['type', 'turn'] : ['type', 'turn', 'seq']
  return [nameOf(type), objectOf({ type: { const: type }, turn, seq: whole, ...properties }, [...own, ...required])]
})

/** Describes an object. Members whose names end in `?` may be absent. */
function shape(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const properties = Object.entries(members).map(([name, schema]) => [name.replace('?', ''), schema] as const)
  const required = Object.keys(members).filter((name) => !name.endsWith('?'))
  return objectOf(Object.fromEntries(properties), required)
}

/** Members of every turn in a list. */
const TURN = {
  turn: text,
  state: oneOf('running', 'completed', 'failed', 'cancelled'),
  agent: text,
  front: text,
  'back?': text,
  'route?': text,
  'phase?': oneOf('queued', 'starting', 'working', 'asking', 'parked'),
  session: text,
  'request?': text,
  startedAt: time,
  'endedAt?': time,
  'code?': text,
  'error?': text,
  'key?': text,
  'losses?': listOf(refTo('Loss')),
  'timings?': shape({ 'queue?': ms, 'agentStart?': ms, 'firstEvent?': ms, 'total?': ms }),
  'usage?': refTo('Usage'),
}

const SESSION = {
  id: text,
  agent: text,
  session: text,
  conversation: text,
  createdAt: time,
  usedAt: time,
  'cwd?': text,
  'title?': text,
  busy: flag,
  'usage?': refTo('Usage'),
  'key?': text,
  'model?': text,
  'mode?': text,
  process: oneOf('running', 'idle', 'none'),
}

/** The schemas of the native API by name. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...named,
  ...Object.fromEntries(OF_EVENTS),
  TurnStart: {
    ...Command,
    properties: {
      ...members(Command),
      type: { const: 'turn-start' },
      turn: text,
      exchange: text,
      input: { anyOf: [text, refTo('Parts')] },
    },
    required: ['input'],
  },
  ContinueTurn: {
    ...Continue,
    properties: {
      ...members(Continue),
      type: { const: 'ask-reply' },
      target: shape({ continuation: text }),
    },
    required: ['type', 'target', 'reply'],
  },
  Approval: {
    anyOf: [shape({ option: text, 'message?': text }), shape({ reply: refTo('AskReply') })],
  },
  Event: {
    description: 'An event of a turn, by its `type`; `fault` breaks the stream off.',
    anyOf: [...TYPES.map((type) => refTo(nameOf(type))), refTo('Failure')],
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries([
        ...TYPES.map((type) => [type, `#/components/schemas/${nameOf(type)}`]),
        ['fault', '#/components/schemas/Failure'],
      ]),
    },
  },
  Message: shape({ role: oneOf(...ROLES), parts: refTo('Parts'), 'at?': time }),
  Error: shape({
    code: oneOf(...ERROR_CODES),
    message: text,
    retryable: flag,
    'retry?': text,
    'retryAfterMs?': ms,
    'ext?': refTo('Ext'),
  }),
  Failure: shape({ type: { const: 'fault' }, fault: refTo('Error'), 'losses?': listOf(refTo('Loss')) }),
  Answer: shape({
    turn: text,
    session: text,
    agent: text,
    outcome: oneOf('completed', 'failed', 'cancelled', 'parked'),
    'stop?': refTo('Stop'),
    text,
    messages: listOf(
      shape({ id: text, role: text, text, 'reasoning?': text, 'lane?': text, 'parts?': refTo('Parts') }),
    ),
    tools: listOf(shape({ id: text, name: text, 'status?': text, 'parts?': refTo('Parts') })),
    'directives?': listOf({ type: 'object' }),
    'notices?': listOf({ type: 'object' }),
    'usage?': refTo('Usage'),
    'usageEstimated?': flag,
    'losses?': listOf(refTo('Loss')),
    'replayed?': flag,
    'fault?': refTo('Error'),
    'asks?': listOf(refTo('Ask')),
    'continuation?': text,
    'deadline?': time,
    'summary?': text,
    startedAt: time,
    endedAt: time,
  }),
  Accepted: shape({ id: text, status: { const: 'accepted' }, session: text, 'replayed?': flag }),
  Turn: shape(TURN),
  TurnPage: shape({ turns: listOf(refTo('Turn')), 'next?': text }),
  TurnDetails: shape({
    ...TURN,
    seq: whole,
    text,
    'asks?': listOf(refTo('Ask')),
    'stop?': refTo('Stop'),
    'fault?': refTo('Error'),
  }),
  TurnInput: shape({
    messages: listOf(refTo('Message')),
    'results?': listOf(shape({ at: whole, status: text, parts: refTo('Parts') })),
    'ext?': refTo('Ext'),
  }),
  Session: shape(SESSION),
  SessionPage: shape({ sessions: listOf(refTo('Session')), 'next?': text }),
  Fork: shape({ 'session?': shape({ id: text, 'conversation?': text }) }),
  AgentSessionPage: shape({
    sessions: listOf(shape({ id: text, 'cwd?': text, 'title?': text, 'usedAt?': time })),
    'next?': text,
  }),
  SessionDetails: shape({ ...SESSION, messages: listOf(refTo('Message')) }),
  Done: shape({}),
}

import * as v from 'valibot'
import { PlainDeltas, valuesOf } from '../../src/codec-kit/index.ts'
import {
  type AgentEvent,
  type Command,
  type Ext,
  type Fault,
  type Id,
  type Item,
  isRecord,
  type JsonText,
  type Loss,
  members,
  messagePattern,
  object,
  parse,
} from '../../src/model/index.ts'
import { COMMANDS } from './command-schema.ts'
import { EVENTS, FAULT } from './event-schema.ts'
import type { MessageSchema } from './schema.ts'
import { holdsMore, PROTOCOL, readMember } from './wire.ts'

/** A message's own members as they were read, or what is wrong with it: the field, then why. */
type ReadFields<T> = { fields: T } | { wrong: string }

/**
 * Reads a message's members by its schema. Members that it does not know, and those that hold such members themselves,
 * ride in `ext` as they came; `common` are the names that the caller reads itself.
 */
function readFields<T extends { ext?: Ext | undefined }>(
  schema: MessageSchema<T>,
  json: JsonText,
  common: ReadonlySet<string>,
): ReadFields<T> {
  const given = members(json).filter(([key]) => !common.has(key))
  const known = new Map<string, unknown>()
  for (const [key, raw] of given) if (Object.hasOwn(schema.entries, key)) known.set(key, readKnown(key, raw))
  const checked = v.safeParse(schema, Object.fromEntries(known), { abortEarly: true })
  if (!checked.success) return { wrong: problemOf(checked.issues[0]) }
  const fields: T = checked.output
  const kept: Readonly<Record<string, unknown>> = { ...fields }
  const isUnknown = ([key]: (typeof given)[number]): boolean => !known.has(key) || holdsMore(known.get(key), kept[key])
  if (!given.some(isUnknown)) return { fields }
  // A message that says an `ext` of its own has it among them: a reader of this protocol gets all of it back.
  const carried = given.filter((one) => one[0] === 'ext' || isUnknown(one))
  return { fields: { ...fields, ext: { protocol: PROTOCOL, json: object(carried) } } }
}

/** A prompt may be written as one string. */
function readKnown(key: string, raw: JsonText): unknown {
  const value = readMember(key, raw)
  return key === 'input' && typeof value === 'string' ? [{ type: 'text', text: value }] : value
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue)} ${issue.received === 'undefined' ? 'is missing' : issue.message}`
}

/** A command as a client wrote it, with the ids that it gave; the reader makes up missing ids. */
export type ReadCommand =
  | { command: (exchange: Id, turn: Id) => Command; type: Command['type']; exchange?: string; turn?: string }
  | { wrong: string; exchange?: string }

const COMMON_OF_COMMANDS: ReadonlySet<string> = new Set(['type', 'exchange', 'turn'])

/** Reads a command. `json` is the text of an object, `value` the same parsed; a command without a type is `otherwise`. */
export function readCommand(
  json: JsonText,
  value: Readonly<Record<string, unknown>>,
  otherwise?: Command['type'],
): ReadCommand {
  const { type = otherwise, exchange, turn } = value
  for (const [name, id] of Object.entries({ exchange, turn })) {
    if (id !== undefined && typeof id !== 'string') return { wrong: `${name} must be a string` }
  }
  const named = typeof exchange === 'string' ? { exchange } : {}
  if (type === undefined) return { wrong: 'type is missing', ...named }
  if (!isCommandType(type)) {
    return { wrong: `type must be one of: ${Object.keys(COMMANDS).join(', ')}`, ...named }
  }
  const read = readFields<Partial<Command>>(COMMANDS[type] as MessageSchema<Partial<Command>>, json, COMMON_OF_COMMANDS)
  if ('wrong' in read) return { ...read, ...named }
  const { fields } = read
  if (type === 'turn-start' && !hasWork(fields)) return { wrong: 'input is missing', ...named }
  const command = (exchangeId: Id, turnId: Id): Command =>
    ({ exchange: exchangeId, type, ...(type === 'turn-start' && { turn: turnId }), ...fields }) as Command
  return { command, type, ...named, ...(typeof turn === 'string' && { turn }) }
}

/** True for the name of a command. */
export function isCommandType(type: unknown): type is Command['type'] {
  return typeof type === 'string' && Object.hasOwn(COMMANDS, type)
}

/** A turn needs a prompt, unless its task or an invocation defines the work. */
function hasWork(fields: Partial<Command>): boolean {
  const { task, invocation, input } = fields as Extract<Command, { type: 'turn-start' }>
  return task === 'compact' || invocation !== undefined || input.length > 0
}

/** A line of an agent: an event, a failure that no turn owns, or something that is not of this protocol. */
export type ReadLine =
  | { is: 'event'; event: AgentEvent; losses?: readonly Loss[] }
  | { is: 'fault'; fault: Fault; fatal: boolean; exchange?: string }
  /** A message of an unknown type. */
  | { is: 'foreign'; turn: Id | null }
  /** Not a JSON object, or a known message with invalid members. */
  | { is: 'wrong'; item: Item; turn: Id | null; why: string }

const COMMON_OF_EVENTS: ReadonlySet<string> = new Set(['type', 'turn', 'seq'])
const NO_COMMON: ReadonlySet<string> = new Set(['type'])

/** Events that belong to no turn, and those that may. */
const LINK: ReadonlySet<string> = new Set(['agent-ready', 'session-bound', 'session-changed', 'command-reply'])
const EITHER: ReadonlySet<string> = new Set(['notice', 'ask', 'ask-settled', 'foreign'])

/** A delta as it is nearly always written. */
const PLAIN_DELTA = messagePattern('{"type":*,"turn":*[,"seq":#],"message":*,"text":*}')
const NUMBER = valuesOf('seq')

/** A reader of the deltas of one turn. */
export function deltasOfTurn(): PlainDeltas {
  return new PlainDeltas(PLAIN_DELTA, NUMBER)
}

/** Reads a line of an agent. Never throws. */
export function readLine(line: string, deltas = deltasOfTurn()): ReadLine {
  const text = deltas.textIn(line)
  if (text !== undefined) {
    const { strings } = deltas
    const type = deltaType(strings[1])
    if (type) return { is: 'event', event: { turn: strings[2]!, type, message: strings[3]!, text } }
  }
  const value = parse(line)
  if (!isRecord(value)) return { is: 'wrong', item: 'foreign', turn: null, why: 'the line is not a JSON object' }
  const { type, turn = null } = value
  if (type === 'text-delta' || type === 'reasoning-delta') {
    const event = readDelta(type, value)
    if (event) return { is: 'event', event }
  }
  if (type === 'fault') return readFault(line)
  const owner = typeof turn === 'string' ? turn : null
  if (!isEventType(type)) return { is: 'foreign', turn: owner }
  const wrong = (why: string): ReadLine => ({ is: 'wrong', item: type, turn: owner, why })
  if (LINK.has(type) ? turn !== null : turn !== owner || (turn === null && !EITHER.has(type))) {
    return wrong('turn is not what this event needs')
  }
  const schema = EVENTS[type] as MessageSchema<Partial<AgentEvent> & { losses?: Loss[] }>
  const read = readFields(schema, line, COMMON_OF_EVENTS)
  if ('wrong' in read) return wrong(read.wrong)
  const { losses, ...fields } = read.fields
  return { is: 'event', event: { turn, type, ...fields } as AgentEvent, ...(losses && { losses }) }
}

/** The type of a delta, as the string that V8 compares by its address; undefined for another name. */
function deltaType(name: string | undefined): 'text-delta' | 'reasoning-delta' | undefined {
  if (name === 'text-delta') return 'text-delta'
  return name === 'reasoning-delta' ? 'reasoning-delta' : undefined
}

/** True for the name of an event. */
export function isEventType(type: unknown): type is AgentEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(EVENTS, type)
}

/** The messages that are most of a stream, without a schema; undefined when there is anything unusual about one. */
function readDelta(type: 'text-delta' | 'reasoning-delta', value: Record<string, unknown>): AgentEvent | undefined {
  const { turn, message, text } = value
  if (typeof turn !== 'string' || typeof message !== 'string' || typeof text !== 'string') return undefined
  const usual = 'seq' in value ? 5 : 4
  return Object.keys(value).length === usual ? { turn, type, message, text } : undefined
}

function readFault(line: string): ReadLine {
  const read = readFields(FAULT as MessageSchema<v.InferOutput<typeof FAULT> & { ext?: Ext }>, line, NO_COMMON)
  if ('wrong' in read) return { is: 'wrong', item: 'foreign', turn: null, why: read.wrong }
  const { fault, exchange } = read.fields
  return { is: 'fault', ...fault, ...(exchange !== undefined && { exchange }) }
}

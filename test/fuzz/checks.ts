/** What holds of everything that a codec says, whatever it was told. */
import * as v from 'valibot'
import { COMMANDS } from '../../codecs/native/command-schema.ts'
import { EVENTS } from '../../codecs/native/event-schema.ts'
import { type Frame, type Framing, frameText } from '../../src/contract/index.ts'
import {
  type AgentEvent,
  type Command,
  ERROR_CODES,
  ITEMS,
  isRecord,
  parse,
  type TurnEvent,
} from '../../src/model/index.ts'

/** A law that was broken: what a finding is told by. */
export class Broken extends Error {
  readonly law: string

  constructor(law: string, seen: string) {
    super(`${law}: ${seen.slice(0, 2000)}`)
    this.law = law
  }
}

/** Throws unless the condition holds. */
export function must(law: string, holds: boolean, seen: () => string): void {
  if (!holds) throw new Broken(law, seen())
}

/** Members that hold JSON as text, by the message that has them. */
const JSON_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'session-changed': ['json'],
  'command-reply': ['data'],
  'agent-ready': ['json'],
  directive: ['json'],
  plan: ['json'],
}

/** An event is of the shape that the model gives it, and what it carries as JSON text is JSON. */
export function soundEvent(event: AgentEvent): void {
  const seen = (): string => JSON.stringify(event)
  must('an event has a type of the model', Object.hasOwn(EVENTS, event.type), seen)
  const checked = v.safeParse(EVENTS[event.type] as v.GenericSchema, event)
  must(
    'an event has the shape of its type',
    checked.success,
    () => `${checked.issues?.[0]?.message}: ${v.getDotPath(checked.issues![0])} in ${seen()}`,
  )
  must('a turn is a string or null', event.turn === null || typeof event.turn === 'string', seen)
  soundTexts(event.type, event, seen)
}

/** A command is of the shape that the model gives it. */
export function soundCommand(command: Command): void {
  const seen = (): string => JSON.stringify(command)
  must('a command has a type of the model', Object.hasOwn(COMMANDS, command.type), seen)
  const checked = v.safeParse(COMMANDS[command.type] as v.GenericSchema, command)
  must(
    'a command has the shape of its type',
    checked.success,
    () => `${checked.issues?.[0]?.message}: ${v.getDotPath(checked.issues![0])} in ${seen()}`,
  )
  must('a command has an exchange', typeof command.exchange === 'string' && command.exchange !== '', seen)
  soundTexts(command.type, command, seen)
}

function soundTexts(type: string, message: object & { ext?: { json: string } }, seen: () => string): void {
  if (message.ext) must('ext is a JSON object', isRecord(parse(message.ext.json)), seen)
  for (const key of JSON_TEXTS[type] ?? []) {
    const text = (message as Record<string, unknown>)[key]
    if (typeof text === 'string') must('JSON text is JSON', parse(text) !== undefined, seen)
  }
}

/** A loss and a fault name what is in the closed lists. */
export function soundNames({ item, code }: { item?: string; code?: string }): void {
  if (item !== undefined)
    must('a loss names an item of the model', (ITEMS as readonly string[]).includes(item), () => item)
  if (code !== undefined)
    must('a fault has a code of the list', (ERROR_CODES as readonly string[]).includes(code), () => code)
}

/** The word that ends a stream of OpenAI's. */
const DONE = '[DONE]'

/** A frame is text, and JSON to its end when it begins as such (the version of a program and plain answers are none). */
export function soundFrame(frame: Frame, framing: Framing): void {
  const text = frameText(frame)
  must('a frame is text', typeof text === 'string', () => JSON.stringify(frame))
  if (framing !== 'text' && /^[{[]/.test(text) && text !== DONE)
    must('a frame is JSON', parse(text) !== undefined, () => text)
}

/** The events of one turn, as the laws let them through. */
export class TurnJudge {
  readonly #turn: string
  readonly #open = new Set<string>()
  ended = false

  constructor(turn: string) {
    this.#turn = turn
  }

  event(event: TurnEvent): void {
    const seen = (): string => JSON.stringify(event)
    must('nothing follows the end of a turn', !this.ended, seen)
    must('an event is of the turn that runs', event.turn === this.#turn, seen)
    if (event.type === 'message-start') this.#open.add(event.message)
    if (event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'message-end') {
      must('text and ends are of an open message', this.#open.has(event.message), seen)
    }
    if (event.type === 'message-end') this.#open.delete(event.message)
    if (event.type !== 'turn-end') return
    this.ended = true
    must('messages are closed before the end', this.#open.size === 0, () => [...this.#open].join())
    must('a failure says why', event.outcome !== 'failed' || event.fault !== undefined, seen)
    must('a success has no fault', event.outcome !== 'completed' || event.fault === undefined, seen)
  }
}

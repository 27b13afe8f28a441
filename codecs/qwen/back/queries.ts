import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type JsonText,
  member,
  object,
  parseObject,
  quote,
} from '../../../src/model/index.ts'
import { unknownExt } from '../wire.ts'
import { hintLine } from './request.ts'

/** A command that is answered with one `command-reply`. */
export type Asked = Exclude<Command, { type: 'turn-start' | 'turn-cancel' | 'ask-reply' | 'foreign' }>

const HINT: ReadonlySet<string> = new Set([
  'type',
  'session_id',
  'prompt_id',
  'trigger',
  'status',
  'suggestions',
  'message',
])
const BEAT: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id', 'status', 'ts', 'message'])

interface Status {
  status: string
  prompt_id?: string | null | undefined
  message?: string | null | undefined
}

/** Hints and heartbeats of an agent. */
export class BackQueries {
  readonly #ports: BackPorts
  /** Exchanges that wait for hints, by the prompt they were asked under. */
  readonly #hints = new Map<string, Id>()
  /** Exchanges that wait for the next heartbeat. */
  #beats: Id[] = []

  constructor(ports: BackPorts) {
    this.#ports = ports
  }

  /** Asks the agent; `dead` is why nothing can be asked any more. */
  ask(command: Asked, session: string, dead: Fault | undefined): void {
    const { exchange } = command
    if (dead) this.#fail(exchange, dead)
    else if (command.type === 'query' && command.what === 'health') {
      this.#beats.push(exchange)
      this.#ports.send(`{"type":"heartbeat_request","session_id":${quote(session)}}`)
    } else if (command.type === 'query' && command.what === 'hints') {
      const prompt = `${session}########preview-${this.#ports.newId()}`
      this.#hints.set(prompt, exchange)
      this.#ports.send(hintLine({ session, prompt }, command.args ?? '{}'))
    } else {
      const text = 'An agent of this protocol cannot do this: it answers prompts, hints and heartbeats.'
      this.#fail(exchange, fault('invalid-request', text))
    }
  }

  /** Takes a `result/command_hint` or `result/heartbeat`; false when nothing waits for it. */
  answer(type: string, result: Status, line: JsonText): boolean {
    if (type === 'result/heartbeat') return this.#beat(result, line)
    const prompt = result.prompt_id ?? ''
    const exchange = this.#hints.get(prompt)
    if (exchange === undefined) return false
    if (result.status === 'loading') return true
    this.#hints.delete(prompt)
    if (result.status === 'error') {
      this.#fail(exchange, fault('internal', result.message || 'The agent has no hints for this.'))
      return true
    }
    const data = object([['suggestions', member(line, 'suggestions') ?? '[]']])
    const ext = unknownExt(line, parseObject(line)!, HINT)
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, data, ...(ext && { ext }) })
    return true
  }

  /** The process is gone: everything that waits learns that there is no answer. */
  die(reason: Fault): void {
    const waiting = [...this.#hints.values(), ...this.#beats]
    this.#hints.clear()
    this.#beats = []
    for (const exchange of waiting) this.#fail(exchange, reason)
  }

  #beat({ status }: Status, line: JsonText): boolean {
    const waiting = this.#beats
    this.#beats = []
    const ext = unknownExt(line, parseObject(line)!, BEAT)
    for (const exchange of waiting) {
      const data = `{"ok":${status === 'ok'}}`
      this.#ports.emit({ turn: null, type: 'command-reply', exchange, data, ...(ext && { ext }) })
    }
    return waiting.length > 0
  }

  #fail(exchange: Id, reason: Fault): void {
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, fault: reason })
  }
}

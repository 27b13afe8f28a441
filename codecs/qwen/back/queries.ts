import { keysOf } from '../../../src/codec-kit/index.ts'
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
import { Heartbeat, Hint, type StatusResult } from '../schema.ts'
import { unknownExt } from '../wire.ts'
import { hintLine } from './request.ts'

/** A command that is answered with one `command-reply`. */
export type Asked = Exclude<Command, { type: 'turn-start' | 'turn-cancel' | 'ask-reply' | 'foreign' }>

const HINT = keysOf(Hint)
const BEAT = keysOf(Heartbeat)

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

  /** Asks the agent; `dead` is the reason why it cannot be asked any more. */
  ask(command: Asked, session: string, dead: Fault | undefined): void {
    const { exchange } = command
    const what = command.type === 'query' ? command.what : undefined
    if (dead) this.#fail(exchange, dead)
    else if (what === 'health') {
      this.#beats.push(exchange)
      this.#ports.send(`{"type":"heartbeat_request","session_id":${quote(session)}}`)
    } else if (command.type === 'query' && what === 'hints') {
      const prompt = `${session}########preview-${this.#ports.newId()}`
      this.#hints.set(prompt, exchange)
      this.#ports.send(hintLine({ session, prompt }, command.args ?? '{}'))
    } else {
      const text = 'An agent of this protocol cannot do this: it answers prompts, hints and heartbeats.'
      this.#fail(exchange, fault('invalid-request', text))
    }
  }

  /** Takes a `result/command_hint` or `result/heartbeat`; false when nothing waits for it. */
  answer({ type, status, prompt_id: prompt, message }: StatusResult, line: JsonText): boolean {
    if (type === 'result/heartbeat') {
      const waiting = this.#beats.splice(0)
      for (const exchange of waiting) this.#reply(exchange, `{"ok":${status === 'ok'}}`, line, BEAT)
      return waiting.length > 0
    }
    const exchange = this.#hints.get(prompt ?? '')
    if (exchange === undefined) return false
    if (status === 'loading') return true
    this.#hints.delete(prompt!)
    if (status === 'error') this.#fail(exchange, fault('internal', message || 'The agent has no hints for this.'))
    else this.#reply(exchange, object({ suggestions: member(line, 'suggestions') ?? '[]' }), line, HINT)
    return true
  }

  /** The process is gone: everything that waits learns that there is no answer. */
  die(reason: Fault): void {
    const waiting = [...this.#hints.values(), ...this.#beats]
    this.#hints.clear()
    this.#beats = []
    for (const exchange of waiting) this.#fail(exchange, reason)
  }

  #reply(exchange: Id, data: JsonText, line: JsonText, known: ReadonlySet<string>): void {
    const ext = unknownExt(line, parseObject(line)!, known)
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, data, ...(ext && { ext }) })
  }

  #fail(exchange: Id, reason: Fault): void {
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, fault: reason })
  }
}

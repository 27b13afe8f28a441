import type { BackPorts } from '../../../src/contract/index.ts'
import { type Ext, type Id, type Item, member } from '../../../src/model/index.ts'
import type { AgentProcOptions } from '../options.ts'
import {
  type AgentLine,
  isCutOff,
  isSessionId,
  type PartialEvent,
  type ReadLine,
  readLine,
  unpadded,
} from './schema.ts'
import { readUsage } from './usage.ts'

type Of<T extends AgentLine['type']> = Extract<AgentLine, { type: T }>

/** What a reply hands on, beside its events. */
export interface ReplyHost {
  ports: BackPorts
  /** A permission request with a valid id. */
  permission(event: Of<'permission_request'>, ext: ReadLine['ext'], line: string): void
  /** The agent has answered: nothing more is asked. */
  answered(): void
}

/**
 * What one run of an agent says on stdout, as events of its turn. Partials are deltas of one message; its end has the
 * whole text, which the result may hold in full or only in part.
 */
export class Reply {
  readonly #turn: Id
  readonly #options: AgentProcOptions
  readonly #host: ReplyHost
  #message: Id | undefined
  #shown = ''
  #result: string | undefined
  #usageKnown = false
  #warned = false
  #understood = false
  /** The first error with a text. */
  error: string | undefined
  /** The last line is the beginning of an event: the agent was cut off. */
  cut = false
  /** The first valid session id. */
  session: string | undefined
  /** Members of the result or the error without a place in the model. */
  ext: Ext | undefined

  constructor(turn: Id, options: AgentProcOptions, host: ReplyHost) {
    this.#turn = turn
    this.#options = options
    this.#host = host
  }

  /** True when there is no text that a reader could see. */
  get blank(): boolean {
    return this.#shown.trim() === '' && (this.#result ?? '').trim() === ''
  }

  /** True when there were lines, and none of them was an event of this wire. */
  get unreadable(): boolean {
    return this.#warned && !this.#understood
  }

  /** One line of stdout. */
  line(line: string): void {
    const read = readLine(line)
    // Once there is an answer, what is cut off behind it belongs to no answer.
    this.cut = !read && this.#result === undefined && isCutOff(line)
    if (!read) {
      this.#malformed()
      return
    }
    const { event, ext } = read
    this.#understood = true
    if (event.session_id) this.#learn(event.session_id)
    if (event.type === 'partial') this.#partial(event, ext)
    else if (event.type === 'result') this.#answer(event, ext, line)
    else if (event.type === 'error') this.#fail(event, ext, line)
    else this.#permission(event, ext, line)
  }

  /** Nothing more comes: ends the message with its whole text. */
  close(): void {
    const { ports } = this.#host
    const turn = this.#turn
    if (!this.#result && this.#message === undefined) return
    const message = this.#opened()
    if (!this.#result) {
      ports.emit({ type: 'message-end', turn, message })
      return
    }
    const text = this.#shown.endsWith(this.#result) ? this.#shown : this.#result
    const revised = text !== this.#shown && this.#shown !== ''
    ports.emit({ type: 'message-end', turn, message, parts: [{ type: 'text', text }], ...(revised && { revised }) })
  }

  #partial(event: PartialEvent, ext: ReadLine['ext']): void {
    const { text, role } = event
    if (text === '') return
    if (!this.#options.streaming || this.error !== undefined) {
      this.#report('dropped', 'text-delta', 'partial')
      return
    }
    const message = this.#opened()
    const type = role === 'thinking' ? 'reasoning-delta' : 'text-delta'
    if (type === 'text-delta') this.#shown += text
    const of = { type, turn: this.#turn, message, text } as const
    this.#host.ports.emit(ext ? { ...of, ext } : of)
  }

  #answer(event: Of<'result'>, ext: ReadLine['ext'], line: string): void {
    if (this.#result !== undefined || this.error !== undefined) {
      this.#report('dropped', 'message-end', 'result')
      if (this.error === undefined)
        this.#warn('second-result', 'The agent gave a second result; only the first counts.')
      return
    }
    this.#result = event.text
    this.ext = ext
    this.#usage(line)
    this.#host.answered()
  }

  #fail(event: Of<'error'>, ext: ReadLine['ext'], line: string): void {
    this.#usage(line)
    if (event.message === '') return
    if (this.error !== undefined) {
      this.#report('dropped', 'turn-end', 'error')
      return
    }
    this.error = event.message
    this.ext = ext
    this.#host.answered()
  }

  #permission(event: Of<'permission_request'>, ext: ReadLine['ext'], line: string): void {
    if (!this.#options.permission) {
      this.#report('dropped', 'ask', 'permission_request')
      this.#warn('permission-off', 'The agent asked for a permission, which its configuration has off; unanswered.')
    } else if (/^\S+$/.test(event.request_id)) this.#host.permission(event, ext, line)
    else {
      this.#report('unparsed', 'ask', 'request_id')
      this.#warn('invalid-request-id', 'The agent asked for a permission without a valid request_id; unanswered.')
    }
  }

  #usage(line: string): void {
    const json = member(unpadded(line), 'usage')
    const known = json === undefined || this.#usageKnown ? undefined : readUsage(json)
    if (!known) return
    this.#usageKnown = true
    this.#host.ports.emit({ type: 'usage', turn: this.#turn, scope: 'turn', ...known })
  }

  #learn(id: string): void {
    if (!isSessionId(id)) {
      this.#warn('invalid-session-id', 'The agent announced a session id that is not valid; ignored.')
    } else if (this.session === undefined) this.session = id
    else if (this.session !== id) this.#report('dropped', 'session-bound', 'session_id')
  }

  /** The one message, opened when there is something to say. */
  #opened(): Id {
    if (this.#message === undefined) {
      const { ports } = this.#host
      this.#message = ports.newId()
      ports.emit({ type: 'message-start', turn: this.#turn, message: this.#message, role: 'assistant' })
    }
    return this.#message
  }

  #malformed(): void {
    this.#report('unparsed', 'foreign')
    if (!this.#warned)
      this.#warn('malformed-line', 'The agent printed lines that are no AgentProc 0.4 events; ignored.')
    this.#warned = true
  }

  #report(kind: 'dropped' | 'unparsed', item: Item, field?: string): void {
    const why = kind === 'unparsed' ? 'unknown' : 'policy'
    this.#host.ports.report({ kind, item, ...(field && { field }), why, count: 1 }, this.#turn)
  }

  #warn(code: string, text: string): void {
    this.#host.ports.emit({ type: 'notice', turn: this.#turn, severity: 'warning', code, text })
  }
}

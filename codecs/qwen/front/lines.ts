import { type Entry, messageLine } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import { type Ext, type Fault, type Id, type Item, type JsonText, type Loss, quote } from '../../../src/model/index.ts'
import { errorJson } from '../error-object.ts'
import { addedMembers, type Format, PROTOCOL_VERSION, seconds } from '../wire.ts'

/** The abilities of this implementation, as the first completion lists them. */
export const ABILITIES = ['commands', 'command_hint', 'heartbeat', 'cancel', 'annotations'] as const
/** More of it, where the client can answer on the same wire. */
export const CONTROL_ABILITIES = ['can_use_tool', 'hook_callback', 'mcp_message', 'tool_response'] as const

/** The description of this implementation in the first completion of a wire; it is written once. */
export class Greeting {
  readonly input: Format
  readonly output: Format
  /** True when the client can answer questions. */
  readonly control: boolean
  #told = false

  constructor(input: Format, output: Format, control: boolean) {
    this.input = input
    this.output = output
    this.control = control
  }

  get abilities(): readonly string[] {
    return this.control ? [...ABILITIES, ...CONTROL_ABILITIES] : ABILITIES
  }

  /** The members of `metadata` that are not written yet. */
  take(): Entry[] {
    if (this.#told) return []
    this.#told = true
    return [
      ['protocol_version', quote(PROTOCOL_VERSION)],
      ['input_format', quote(this.input)],
      ['output_format', quote(this.output)],
      ['capabilities', `[${this.abilities.map(quote).join(',')}]`],
    ]
  }
}

/** Which session and turn lines belong to. Without a prompt they belong to none. */
export interface Place {
  session: string
  prompt?: string | undefined
  model?: string | undefined
}

/** The members of a completion besides its one choice. */
export interface Around {
  /** Milliseconds since the epoch. */
  at: number
  usage?: JsonText | undefined
  metadata?: readonly Entry[]
  ext?: Ext | undefined
}

/** Writes the lines of one turn, or those of no turn. */
export class Lines {
  readonly greeting: Greeting
  readonly place: Place
  readonly #ports: FrontPorts
  readonly #exchange: Id | undefined

  constructor(ports: FrontPorts, exchange: Id | undefined, place: Place, greeting: Greeting) {
    this.#ports = ports
    this.#exchange = exchange
    this.place = place
    this.greeting = greeting
  }

  /** True when answers are written in pieces. */
  get chunked(): boolean {
    return this.greeting.output === 'stream-chunk-json'
  }

  /** Writes a whole line. */
  send(line: string): void {
    this.#ports.send(line)
  }

  /** Writes a line of this type, with where it belongs. */
  write(type: string, entries: readonly Entry[], ext?: Ext): void {
    this.send(messageLine([['type', quote(type)], ...this.where(), ...entries], addedMembers(ext)))
  }

  /** Writes a completion or a chunk with this choice. */
  completion(choice: JsonText, { at, usage, metadata = [], ext }: Around): void {
    const all = [...this.greeting.take(), ...metadata]
    const members = all.map(([key, json]) => `${quote(key)}:${json}`).join(',')
    const entries: Entry[] = [
      ['object', this.chunked ? '"chat.completion.chunk"' : '"chat.completion"'],
      ...this.head(at),
      ['choices', `[${choice}]`],
      ['usage', usage],
      ['metadata', all.length === 0 ? undefined : `{${members}}`],
    ]
    this.send(messageLine(entries, addedMembers(ext)))
  }

  /** The members that every completion of a turn begins with. */
  head(at: number): Entry[] {
    const { session, model } = this.place
    return [
      ['id', quote(`chatcmpl-${session}`)],
      ['created', seconds(at)],
      ['model', quote(model ?? 'unknown')],
      ...this.where(),
    ]
  }

  where(): Entry[] {
    const { session, prompt } = this.place
    return [
      ['session_id', quote(session)],
      ['prompt_id', prompt === undefined ? undefined : quote(prompt)],
    ]
  }

  /**
   * A failure that leaves the process healthy: a completion whose `metadata` holds it under this key. One of the control
   * channel says nothing in the conversation, and ends no turn that runs at the same time.
   */
  recoverable(reason: Fault, at: number, key: 'error' | 'control_errors' = 'error'): void {
    const error = errorJson(reason, true)
    if (key === 'error')
      this.completion(this.#choice(quote(reason.message), '"stop"'), { at, metadata: [[key, error]] })
    else this.completion(this.#choice('""', 'null'), { at, metadata: [[key, `[${error}]`]] })
  }

  /** A request beyond this implementation; the process ends with a code of its own. */
  unsupported(reason: Fault, at: number): void {
    this.completion(this.#choice(quote(reason.message), '"error"'), {
      at,
      metadata: [['error', errorJson(reason, true)]],
    })
  }

  #choice(content: JsonText, finish: JsonText): JsonText {
    const message = `{"role":"assistant","content":${content}}`
    return `{"index":0,"${this.chunked ? 'delta' : 'message'}":${message},"finish_reason":${finish}}`
  }

  /** A failure that ends the process. */
  fatal(reason: Fault): void {
    this.send(messageLine([['error', errorJson(reason, false)]]))
  }

  /** Something has no place on this wire. */
  drop(item: Item, field?: string): void {
    this.report({ kind: 'dropped', item, ...(field !== undefined && { field }), why: 'no-place', count: 1 })
  }

  /** Only lines of a turn lose anything: the others are this implementation's own words. */
  report(loss: Loss): void {
    this.#ports.report(loss, this.#exchange!)
  }
}

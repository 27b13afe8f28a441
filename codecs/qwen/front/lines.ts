import { dropped, messageLine, weakened } from '../../../src/codec-kit/index.ts'
import {
  append,
  type Ext,
  type Fault,
  type Id,
  type Item,
  type JsonText,
  type Loss,
  type Members,
  object,
  quote,
} from '../../../src/model/index.ts'
import { errorJson } from '../error-object.ts'
import { addedMembers, ownMember, seconds } from '../wire.ts'
import type { Client } from './client.ts'

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
  metadata?: Members
  ext?: Ext | undefined
}

/** The place of a failure that is written besides turns: a line, the errors of controls, or one with a reason of its own. */
export type FaultKind = 'error' | 'control_errors' | 'unsupported'

/** Writes the lines of one turn, or those of no turn. */
export class Lines {
  readonly client: Client
  readonly place: Place
  readonly #exchange: Id | undefined

  constructor(client: Client, place: Place, exchange?: Id) {
    this.client = client
    this.place = place
    this.#exchange = exchange
  }

  /** True when answers are written in pieces. */
  get chunked(): boolean {
    return this.client.formats.output === 'stream-chunk-json'
  }

  /** Writes a whole line. */
  send(line: string): void {
    this.client.ports.send(line)
  }

  /** Writes a line of this type, with where it belongs. */
  write(type: string, entries: Members, ext?: Ext): void {
    this.send(messageLine({ type: quote(type), ...this.where(), ...entries }, addedMembers(ext)))
  }

  /** Writes a completion or a chunk with this choice. */
  completion(choice: JsonText, { at, usage, metadata, ext }: Around): void {
    const all = object({ ...this.client.greeting(), ...metadata })
    const entries: Members = {
      object: this.chunked ? '"chat.completion.chunk"' : '"chat.completion"',
      ...this.head(at),
      choices: `[${append(choice, ownMember(ext, 'choice'))}]`,
      usage,
      metadata: all === '{}' ? undefined : all,
    }
    this.send(messageLine(entries, addedMembers(ext)))
  }

  /** The members that every completion of a turn begins with. */
  head(at: number): Members {
    const { session, model } = this.place
    return { id: quote(`chatcmpl-${session}`), created: seconds(at), model: quote(model ?? 'unknown'), ...this.where() }
  }

  where(): Members {
    const { session, prompt } = this.place
    return { session_id: quote(session), prompt_id: quote(prompt) }
  }

  /**
   * Writes a failure that leaves the process healthy: a completion whose `metadata` holds it under this key. One of the
   * control channel says nothing in the conversation, and ends no turn that runs at the same time. A request beyond
   * this implementation (`unsupported`) has a finish reason of its own.
   */
  recoverable(reason: Fault, at: number, kind: FaultKind = 'error'): void {
    const error = errorJson(reason, true)
    const isControl = kind === 'control_errors'
    const message = `{"role":"assistant","content":${isControl ? '""' : quote(reason.message)}}`
    const finish = isControl ? 'null' : kind === 'error' ? '"stop"' : '"error"'
    const choice = `{"index":0,"${this.chunked ? 'delta' : 'message'}":${message},"finish_reason":${finish}}`
    this.completion(choice, { at, metadata: isControl ? { control_errors: `[${error}]` } : { error } })
  }

  /** Writes a failure that ends the process. */
  fatal(reason: Fault): void {
    this.send(messageLine({ error: errorJson(reason, false) }))
  }

  /** Reports an item, or a field of it, that has no place on this wire. */
  drop(item: Item, field?: string): void {
    this.report(dropped(item, field))
  }

  /** Reports an item that this wire has only a narrower form of. */
  narrow(item: Item, field?: string): void {
    this.report(weakened(item, field, 'too-narrow'))
  }

  /** Only lines of a turn lose anything: the others are this implementation's own words. */
  report(loss: Loss): void {
    this.client.ports.report(loss, this.#exchange!)
  }
}

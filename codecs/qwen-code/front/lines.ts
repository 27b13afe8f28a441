import { type Entry, messageLine } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  append,
  type Id,
  type Item,
  type JsonText,
  type Loss,
  member,
  object,
  quote,
  rest,
  type Usage,
} from '../../../src/model/index.ts'
import type { Ids } from './ids.ts'

/** The members of an `assistant` line besides its blocks. */
export interface Said {
  id: string
  model: string
  lane: string | undefined
  usage?: Usage | undefined
  /** Unknown members of the line; those of its message under `message`. */
  extra?: JsonText | undefined
}

const MESSAGE = new Set(['message'])

/** Writes the lines of one turn, and reports its losses. */
export class Lines {
  readonly session: string
  readonly ids: Ids
  readonly #ports: FrontPorts
  readonly #exchange: Id
  readonly #write: (line: string) => void

  constructor(ports: FrontPorts, exchange: Id, session: string, ids: Ids, write: (line: string) => void) {
    this.#ports = ports
    this.#exchange = exchange
    this.#write = write
    this.session = session
    this.ids = ids
  }

  /** A `system` line. */
  system(subtype: JsonText, entries: readonly Entry[]): void {
    const head: Entry[] = [
      ['type', '"system"'],
      ['subtype', subtype],
      ...this.#address(this.ids.next()),
      ['parent_tool_use_id', 'null'],
    ]
    this.#write(messageLine([...head, ...entries]))
  }

  /** An `assistant` line with blocks of one category. */
  assistant(blocks: readonly JsonText[], stop: 'tool_use' | null, { id, model, lane, usage, extra }: Said): void {
    const message = object([
      ['id', quote(id)],
      ['type', '"message"'],
      ['role', '"assistant"'],
      ['model', quote(model)],
      ['content', `[${blocks.join(',')}]`],
      ['stop_reason', stop === null ? 'null' : quote(stop)],
      ['usage', usageJson(usage)],
    ])
    this.#message('assistant', id, lane, message, extra)
  }

  /** A `user` line. */
  user(block: JsonText, lane: string | undefined, extra?: JsonText): void {
    this.#message('user', this.ids.next(), lane, `{"role":"user","content":[${block}]}`, extra)
  }

  /** A `stream_event` of the main lane; `extra` are unknown members of the line, those of its event under `event`. */
  event(event: JsonText, extra?: JsonText): void {
    const whole = append(event, extra === undefined ? undefined : member(extra, 'event'))
    const head: Entry[] = [
      ['type', '"stream_event"'],
      ...this.#address(this.ids.next()),
      ['parent_tool_use_id', 'null'],
    ]
    this.#write(messageLine([...head, ['event', whole]], extra))
  }

  /** The hot path: a piece of text in the block with this index. */
  textDelta(index: number, text: string): void {
    const delta = `{"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":${quote(text)}}}`
    this.#write(
      `{"type":"stream_event","uuid":"${this.ids.next()}","session_id":${quote(this.session)},"parent_tool_use_id":null,"event":${delta}}`,
    )
  }

  /** A line as another one of this dialect wrote it, under the session's id that this client knows. */
  verbatim(frame: string): void {
    const foreign = member(frame, 'session_id') === undefined
    const entries: Entry[] = foreign ? [] : [['session_id', quote(this.session)]]
    this.#write(messageLine(entries, frame))
  }

  /** A whole line. */
  send(entries: readonly Entry[], extra?: JsonText): void {
    this.#write(messageLine(entries, extra))
  }

  /** Something has no place on this wire. */
  drop(item: Item, field?: string): void {
    this.report({ kind: 'dropped', item, ...(field !== undefined && { field }), why: 'no-place', count: 1 })
  }

  report(loss: Loss): void {
    this.#ports.report(loss, this.#exchange)
  }

  #message(type: string, uuid: string, lane: string | undefined, message: JsonText, extra: JsonText | undefined): void {
    const inner = extra === undefined ? undefined : member(extra, 'message')
    const outer = extra === undefined ? undefined : rest(extra, MESSAGE)
    const entries: Entry[] = [
      ['type', quote(type)],
      ...this.#address(uuid),
      ['parent_tool_use_id', lane === undefined ? 'null' : quote(lane)],
      ['message', append(message, inner)],
    ]
    this.#write(messageLine(entries, outer))
  }

  #address(uuid: string): Entry[] {
    return [
      ['uuid', quote(uuid)],
      ['session_id', quote(this.session)],
    ]
  }
}

/** Tokens as this wire says them; unknown is zero, without a total. */
export function usageJson(usage: Usage | undefined): JsonText {
  return object([
    ['input_tokens', count(usage?.input ?? 0)],
    ['output_tokens', count(usage?.output ?? 0)],
    ['cache_read_input_tokens', count(usage?.cacheRead)],
    ['total_tokens', count(usage?.total)],
  ])
}

function count(tokens: number | undefined): JsonText | undefined {
  return tokens === undefined ? undefined : JSON.stringify(tokens)
}

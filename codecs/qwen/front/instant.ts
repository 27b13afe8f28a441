import type { Answer } from '../../../src/contract/index.ts'
import {
  type Id,
  type JsonText,
  type LinkEvent,
  type Members,
  member,
  object,
  parse,
  quote,
} from '../../../src/model/index.ts'
import type { Instant } from '../schema.ts'
import { ownMember, PROTOCOL, seconds } from '../wire.ts'
import type { Client } from './client.ts'
import { Lines } from './lines.ts'

type Reply = Extract<LinkEvent, { type: 'command-reply' }>

const ANSWER: Answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

const NO_HINTS = 'The agent behind this gateway offers no hints.'

/** The requests that are answered with one line at once: hints and heartbeats. */
export class Instants {
  readonly #client: Client
  /** The requests on their way, with the lines of their answers and how those are written. */
  readonly #asked = new Map<Id, { what: 'hints' | 'health'; lines: Lines; write: (reply: Reply) => void }>()

  constructor(client: Client) {
    this.#client = client
  }

  /** True when nothing waits for an answer. */
  get idle(): boolean {
    return this.#asked.size === 0
  }

  /** Asks for the hints of what was typed. `line` is the raw request. */
  hint(request: Instant, session: string, line: JsonText): void {
    const trigger = request.trigger ?? (request.text?.startsWith('@') ? 'at' : 'slash')
    const args = object(['trigger', 'text', 'cursor', 'context'].map((key) => [key, member(line, key)] as const))
    const lines = this.#lines(session, request.prompt_id)
    this.#ask('hints', lines, (reply) => writeHints(lines, trigger, reply), { args })
  }

  /** Forgets the hints that were asked for under this prompt. */
  cancelHint(session: string, prompt: string | undefined): void {
    for (const [exchange, { what, lines }] of this.#asked) {
      if (what === 'hints' && lines.place.session === session && lines.place.prompt === prompt) {
        this.#asked.delete(exchange)
      }
    }
  }

  /** Asks whether everything is alive. */
  heartbeat(request: Instant, session: string): void {
    const lines = this.#lines(session, request.prompt_id)
    this.#ask('health', lines, (reply) => writeBeat(lines, reply))
  }

  /** Writes a heartbeat without a request. */
  beat(session: string): void {
    writeBeat(this.#lines(session, undefined), undefined)
  }

  /** Writes the answer; false when the reply is for something else. */
  reply(reply: Reply): boolean {
    const asked = this.#asked.get(reply.exchange)
    this.#asked.delete(reply.exchange)
    asked?.write(reply)
    return asked !== undefined
  }

  #lines(session: string, prompt: string | null | undefined): Lines {
    return new Lines(this.#client, { session, prompt: prompt ?? undefined })
  }

  #ask(what: 'hints' | 'health', lines: Lines, write: (reply: Reply) => void, more: { args?: JsonText } = {}): void {
    const { ports } = this.#client
    const exchange = ports.newId()
    this.#asked.set(exchange, { what, lines, write })
    ports.command({ exchange, session: { id: lines.place.session }, type: 'query', what, ...more }, ANSWER)
  }
}

function writeBeat(lines: Lines, reply: Reply | undefined): void {
  const healthy = !reply?.fault && member(reply?.data ?? '{}', 'ok') !== 'false'
  const entries: Members = {
    status: healthy ? '"ok"' : '"error"',
    ts: seconds(lines.client.at),
    message: reply?.fault ? quote(reply.fault.message) : undefined,
  }
  lines.write('result/heartbeat', entries, reply?.ext)
}

/** Hints of an agent of this dialect are passed on unchanged; other agents have none. */
function writeHints(lines: Lines, trigger: string, { data, fault, ext }: Reply): void {
  const suggestions = member(data ?? '{}', 'suggestions')
  const known = !fault && Array.isArray(parse(suggestions ?? ''))
  const entries: Members = {
    trigger: quote(trigger),
    status: known ? '"ok"' : '"error"',
    suggestions: known ? suggestions : '[]',
    message: known ? undefined : quote(fault?.message ?? NO_HINTS),
    metadata: ext?.protocol === PROTOCOL ? ownMember(ext, 'metadata') : '{"is_perfect_match":false}',
  }
  lines.write('result/command_hint', entries, ext)
}

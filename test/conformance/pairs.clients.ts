import { asFront, type Dialect, type Frame, type FrontContext, frameText } from '../../src/contract/index.ts'
import { type Exchange, RecordedClient } from '../../src/engine/replay/observables.ts'
import type { Command, Loss, Part, TurnEvent, TurnStart } from '../../src/model/index.ts'

/**
 * Clients of the dialects that no agent speaks, which so have no back half to ask for a turn or to read an answer: what
 * they ask, and what they make of what they read.
 */
interface OwnClient {
  method: string
  path: string
  params?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** The request's body. */
  ask(input: readonly Part[]): string
  read(frames: readonly Frame[]): Read
}

/** What a client has read: the answer, how it ended, and how many ends it was told. */
export interface Read {
  text: string
  outcome: string | undefined
  ends: number
}

interface Line {
  type: string
  role?: string
  message?: string
  text?: string
  parts?: readonly Part[]
  outcome?: string
}

const textOf = (parts: readonly Part[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** The answer of a stream of events: the text of the assistant's messages. */
function readEvents(lines: readonly Line[]): Read {
  const texts = new Map<string, string>()
  for (const { type, role, message = '', text = '', parts } of lines) {
    if (type === 'message-start' && role === 'assistant') texts.set(message, '')
    else if (type === 'text-delta') texts.set(message, (texts.get(message) ?? '') + text)
    else if (type === 'message-end' && parts && texts.has(message)) texts.set(message, textOf(parts))
  }
  const ends = lines.filter(({ type }) => type === 'turn-end')
  const text = [...texts.values()].filter((one) => one !== '').join('\n\n')
  return { text, outcome: ends[0]?.outcome, ends: ends.length }
}

/** By the name of their dialect. */
export const OWN_CLIENTS: Readonly<Record<string, OwnClient>> = {
  'zene@clawrun': {
    method: 'POST',
    path: '/v1/respond',
    headers: { 'content-type': 'application/json' },
    ask: (input) => JSON.stringify({ agent: 'agent', prompt: textOf(input), channel_id: 'c1', session_id: 's1' }),
    read(frames) {
      const answers = frames.map((frame) => JSON.parse(frameText(frame)) as { text?: string; error?: string })
      const [answer = {}] = answers
      const failed = /cancel/.test(answer.error ?? '') ? 'cancelled' : 'failed'
      return {
        text: answer.text ?? '',
        outcome: answer.text === undefined ? failed : 'completed',
        ends: answers.length,
      }
    },
  },
  'native@http': {
    method: 'POST',
    path: '/v1/turns',
    ask: (input) => JSON.stringify({ input, session: { id: 's1' } }),
    read(frames) {
      const answers = frames.map((frame) => JSON.parse(frameText(frame)) as { text: string; outcome: string })
      return { text: answers[0]?.text ?? '', outcome: answers[0]?.outcome, ends: answers.length }
    },
  },
  'native@resource': {
    method: 'GET',
    path: '/v1/turns/:turn/events',
    params: { turn: 'turn-1' },
    ask: () => '',
    read: (frames) => readEvents(frames.map((frame) => JSON.parse(frameText(frame)) as Line)),
  },
}

/** One request of such a client, in memory. */
export class FrontClient {
  readonly client: RecordedClient
  exchange: Exchange | undefined
  readonly #own: OwnClient
  readonly #frames: Frame[] = []

  /** `started` is told of the turn that its front read; who only follows one starts none. */
  constructor(dialect: Dialect, name: string, started: (command: Command) => void, shown: (loss: Loss) => void) {
    this.#own = OWN_CLIENTS[name]!
    const { method, path, params, headers = {} } = this.#own
    const context: FrontContext = { transport: 'http', method, path, query: '', headers, argv: [], env: {} }
    this.client = new RecordedClient(
      { dialect: asFront(dialect), context: { ...context, ...(params && { params }) } },
      {
        command: (command, exchange) => {
          this.exchange = exchange
          started(command)
        },
        send: (frame) => this.#frames.push(frame),
        loss: (loss, direction) => {
          if (direction === 'response') shown(loss)
        },
      },
    )
  }

  /** Asks for the turn. */
  start({ input }: TurnStart): void {
    this.client.open()
    this.client.decode(this.#own.ask(input))
    this.client.end()
  }

  show(event: TurnEvent): void {
    this.client.deliver({ ...event, turn: 'turn-1' }, this.exchange!)
  }

  /** All that it has read. */
  get raw(): string {
    return this.#frames.map(frameText).join('\n')
  }

  result(): Read {
    return this.#own.read(this.#frames)
  }
}

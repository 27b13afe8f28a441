import { dropped, type EventTable, unwritten, writeEvent } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Id,
  type JsonText,
  type Loss,
  member,
  members,
  oneLine,
  type Part,
  parseObject,
  quote,
  rest,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ALL_KINDS, partLoss, textBlock, writeBlock } from '../content.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import type { Client } from './client.ts'
import { planEntries } from './plan.ts'
import { ToolWriter } from './tools.ts'
import type { ChunkKind, Updates } from './updates.ts'

const WINDOW: ReadonlySet<string> = new Set(['used', 'size'])

/** The events whose update has the further fields of an agent of this protocol. */
const EXTENDED: ReadonlySet<TurnEvent['type']> = new Set([
  'text-delta',
  'reasoning-delta',
  'message-end',
  'tool-start',
  'tool-call',
  'tool-progress',
  'tool-end',
  'plan',
  'usage',
  'notice',
])
/** The events that are shown without the name of their sub-agent. */
const LANELESS: ReadonlySet<TurnEvent['type']> = new Set([
  'tool-start',
  'tool-args-delta',
  'tool-call',
  'tool-progress',
  'tool-end',
  'plan',
  'notice',
])

/** Writes the events of one prompt as updates of its session. */
export class TurnWriter {
  readonly #client: Client
  readonly #exchange: Id
  readonly #updates: Updates
  readonly #prefix: string
  readonly tools: ToolWriter

  static readonly #events: EventTable<TurnWriter> = {
    ...unwritten('turn-accepted', 'turn-started', 'turn-parked', 'turn-end', 'step-start', 'step-end'),
    ...unwritten('message-start', 'message-retract', 'reasoning-end', 'citation', 'tool-args-delta'),
    ...unwritten('terminal-output', 'directive', 'ask', 'ask-settled'),
    'text-delta': (writer, event, view) => writer.#delta(event, 'agent_message_chunk', view),
    'reasoning-delta': (writer, event, view) => writer.#delta(event, 'agent_thought_chunk', view),
    'message-end': (writer, event, view) => writer.#messageEnd(event, view),
    'tool-start': (writer, event) => writer.tools.start(event),
    'tool-call': (writer, event, view) => writer.tools.call(event, view),
    'tool-progress': (writer, event) => writer.tools.progress(event),
    'tool-end': (writer, event, view) => writer.tools.end(event, view),
    plan: (writer, event) => writer.#plan(event),
    usage: (writer, event) => writer.#usage(event),
    notice: (writer, event) => writer.#notice(event),
    foreign: (writer, event) => writer.#foreign(event),
  }

  /** `prefix` distinguishes the ids of one prompt from those of others in the session. */
  constructor(client: Client, exchange: Id, updates: Updates, prefix: string) {
    this.#client = client
    this.#exchange = exchange
    this.#updates = updates
    this.#prefix = prefix
    this.tools = new ToolWriter(updates, prefix, this.#report)
  }

  write(event: TurnEvent, view: TurnView): void {
    const { type, ext, lane } = event
    if (ext && (ext.protocol !== PROTOCOL || !EXTENDED.has(type))) this.#report(dropped('ext', ext.protocol))
    if (lane !== undefined && LANELESS.has(type)) this.#report(dropped(type, 'lane'))
    writeEvent(TurnWriter.#events, this, event, view)
  }

  readonly #report = (loss: Loss): void => this.#client.ports.report(loss, this.#exchange)

  #delta(
    { type, message, text, ext }: EventOf<'text-delta' | 'reasoning-delta'>,
    kind: ChunkKind,
    view: TurnView,
  ): void {
    const known = view.message(message)
    if (known?.role !== 'assistant' || text === '') return
    if (known.lane !== undefined) {
      this.#report(dropped(type, 'aside'))
      return
    }
    this.#piece(kind, text, this.#prefix + message, ownExt(ext))
  }

  #piece(kind: ChunkKind, text: string, message: string, extra: JsonText | undefined): void {
    if (extra === undefined) this.#updates.text(kind, text, message)
    else this.#updates.chunk(kind, textBlock(text), message, extra)
  }

  /** The parts of a message that were not shown in pieces; its further fields go with the first that is shown. */
  #messageEnd({ message, parts = [], revised, ext }: EventOf<'message-end'>, view: TurnView): void {
    const known = view.message(message)!
    let extra = ownExt(ext)
    if (known.role !== 'assistant' || known.lane !== undefined) {
      if (known.role !== 'user' && parts.length > 0) this.#report(dropped('message-end', 'aside'))
    } else {
      if (revised) this.#report({ ...dropped('message-end', 'revised'), kind: 'weakened' })
      for (const part of parts) {
        if (part.type === 'text' ? known.streamed : part.type === 'reasoning' && known.thought === true) continue
        if (this.#part(part, this.#prefix + message, extra)) extra = undefined
      }
    }
    if (extra !== undefined) this.#report(dropped('ext', PROTOCOL))
  }

  /** Shows a part; false for one that is empty or has no place. */
  #part(part: Part, message: string, extra: JsonText | undefined): boolean {
    if (part.type === 'reasoning' || part.type === 'text') {
      const kind = part.type === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk'
      if (part.ext === undefined || part.type === 'reasoning') {
        if (part.text !== '') this.#piece(kind, part.text, message, extra)
        return part.text !== ''
      }
    }
    const block = writeBlock(part, ALL_KINDS, (lost, field) => this.#report(partLoss(lost, field)))
    if (block !== undefined) this.#updates.chunk('agent_message_chunk', block, message, extra)
    return block !== undefined
  }

  #plan({ json, ext }: EventOf<'plan'>): void {
    const entries = planEntries(json)
    if (entries === undefined) this.#report(dropped('plan', undefined, 'unknown'))
    else this.#updates.write('plan', { entries }, ownExt(ext))
  }

  /** The cost of the session, with the context window of an agent of this protocol; tokens are in the answer. */
  #usage({ scope, usage: { costUsd }, ext }: EventOf<'usage'>): void {
    if (scope !== 'session') return
    const window = ownExt(ext) ?? '{}'
    const [used, size] = [member(window, 'used'), member(window, 'size')]
    if (used === undefined || size === undefined) {
      this.#report(dropped('usage.session'))
      return
    }
    const cost = costUsd === undefined ? undefined : `{"amount":${costUsd},"currency":"USD"}`
    this.#updates.write('usage_update', { used, size, cost }, rest(window, WINDOW))
  }

  /** A notice, to clients that show them. That an answer is empty they see. */
  #notice({ severity, code, text, ext }: EventOf<'notice'>): void {
    if (code === 'empty-answer') return
    if (!this.#client.shows?.notices) {
      this.#report(dropped('notice'))
      return
    }
    const entries = { severity: quote(severity), title: quote(text), _meta: `{"turnpike":{"code":${quote(code)}}}` }
    this.#updates.write('notice', entries, ownExt(ext))
  }

  /** An update of an agent of this protocol goes on, as one of this session. One with a terminal would confuse the client. */
  #foreign({ protocol, frame }: EventOf<'foreign'>): void {
    const update = protocol === PROTOCOL ? updateOf(frame) : undefined
    if (update === undefined) this.#report(dropped('foreign', protocol))
    else this.#updates.raw(update)
  }
}

/** The update of a notification that can be passed on; undefined for any other message. */
export function updateOf(frame: string): string | undefined {
  if (parseObject(frame)?.['method'] !== 'session/update') return undefined
  const update = member(member(frame, 'params') ?? '', 'update')
  if (
    update === undefined ||
    parseObject(update) === undefined ||
    members(update).some(([key]) => key === 'terminalId')
  )
    return undefined
  return /"type"\s*:\s*"terminal"/.test(update) ? undefined : oneLine(update)
}

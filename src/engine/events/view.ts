import type {
  Ask,
  EventOf,
  Id,
  JsonText,
  MessageView,
  Part,
  TextRun,
  ToolView,
  TurnEnd,
  TurnEvent,
  TurnView,
  Usage,
} from '../../model/index.ts'
import { CallTokens } from './call-tokens.ts'

/** A message view that the fold may write to. `commentary` is text that is no part of the answer. */
interface LiveMessage extends MessageView {
  commentary: boolean
  /** The text that an earlier answer has shown: the message was open where this view begins. */
  shown?: string
}

/** The facts of a turn that its view needs: `at` is its beginning, in milliseconds since the epoch. */
interface Identity {
  readonly turn: Id
  readonly session: string
  readonly agent: string
  readonly at: number
}

/** Output of an agent besides messages and tools. */
interface Remarks {
  readonly directives: { action: string; json: JsonText; lane?: string }[]
  readonly notices: { severity: string; code: string; text: string; lane?: string }[]
  usage?: EventOf<'usage'>
  calls?: CallTokens
}

/** The fold of a turn's events into its `TurnView`. One per turn (or per exchange that goes on with a parked turn). */
export class LiveView implements TurnView {
  readonly #of: Identity
  agent: string
  readonly messages: LiveMessage[] = []
  readonly tools: ToolView[] = []
  readonly #remarks: Remarks = { directives: [], notices: [] }
  readonly #messageById = new Map<Id, LiveMessage>()
  readonly #toolById = new Map<Id, ToolView>()
  readonly #asks = new Map<Id, Ask>()
  seq = 0
  at: number
  end: TurnEnd | undefined

  constructor(identity: Identity) {
    this.#of = identity
    this.agent = identity.agent
    this.at = identity.at
  }

  get turn(): Id {
    return this.#of.turn
  }

  get session(): string {
    return this.#of.session
  }

  get startedAt(): number {
    return this.#of.at
  }

  get directives(): Remarks['directives'] {
    return this.#remarks.directives
  }

  get notices(): Remarks['notices'] {
    return this.#remarks.notices
  }

  get usage(): Usage | undefined {
    return this.#remarks.usage?.usage
  }

  get answerUsage(): Usage | undefined {
    const { calls } = this.#remarks
    return calls ? calls.answer(this.usage, this.end !== undefined) : this.usage
  }

  get usageEstimated(): boolean {
    return this.#remarks.usage?.estimated === true
  }

  /** Makes this the view of what follows `before`: what is open there is open here, without its text so far. */
  continue(before: LiveView): void {
    this.seq = before.seq
    if (before.#remarks.calls) this.#remarks.calls = before.#remarks.calls.next()
    for (const message of before.messages) {
      if (message.closed) continue
      const rest: LiveMessage = { ...message, text: '', reasoning: '', streamed: false, shown: message.text }
      this.messages.push(rest)
      this.#messageById.set(rest.id, rest)
    }
    for (const tool of before.tools) {
      if (tool.status !== undefined) continue
      const rest: ToolView = { ...tool }
      this.tools.push(rest)
      this.#toolById.set(rest.id, rest)
    }
    for (const ask of before.asks) this.#asks.set(ask.ask, ask)
  }

  get asks(): readonly Ask[] {
    return [...this.#asks.values()]
  }

  get text(): string {
    return this.answers.map(({ text }) => text).join('\n\n')
  }

  /** The number of messages with text that is no part of `text`: those of sub-agents, of tools, and commentary. */
  get asides(): number {
    const spoken = this.messages.filter(({ role, text }) => role !== 'user' && text !== '')
    return spoken.length - this.answers.length
  }

  /** The messages whose text is the answer. */
  get answers(): LiveMessage[] {
    const answers = this.messages.filter((message) => message.role === 'assistant' && message.lane === undefined)
    const final = answers.filter((message) => !message.commentary)
    return (final.length > 0 ? final : answers).filter(({ text }) => text !== '')
  }

  message(id: Id): LiveMessage | undefined {
    return this.#messageById.get(id)
  }

  tool(id: Id): ToolView | undefined {
    return this.#toolById.get(id)
  }

  /** Takes one event in; `at` is the clock reading of its chunk in milliseconds. A recorded one has its number `seq`. */
  apply(event: TurnEvent, at: number, seq = this.seq + 1): void {
    this.seq = seq
    this.at = at
    switch (event.type) {
      case 'text-delta': {
        const message = this.#messageById.get(event.message)
        if (!message) return
        message.text += event.text
        message.streamed = true
        return
      }
      case 'reasoning-delta': {
        const message = this.#messageById.get(event.message)
        if (message) message.reasoning += event.text
        return
      }
      case 'message-start':
        this.#openMessage(event)
        return
      case 'message-end':
        this.#closeMessage(event.message, event.parts)
        return
      case 'message-retract': {
        const message = this.#messageById.get(event.message)
        if (message && !event.keepText) message.text = ''
        return
      }
      case 'turn-end':
        this.end = event
        return
      default:
        this.#applyRare(event)
    }
  }

  /** Takes in pieces of text of one message, like `apply` one by one. */
  applyTexts(run: TextRun, at: number): void {
    this.seq += run.length
    this.at = at
    const message = this.#messageById.get(run.message)
    if (!message) return
    message.text += run.text
    message.streamed = true
  }

  #openMessage(event: Extract<TurnEvent, { type: 'message-start' }>): void {
    const message: LiveMessage = {
      id: event.message,
      role: event.role,
      lane: event.lane,
      streamed: false,
      closed: false,
      refuses: event.phase === 'refusal',
      text: '',
      reasoning: '',
      parts: undefined,
      commentary: event.phase === 'commentary',
    }
    this.messages.push(message)
    this.#messageById.set(event.message, message)
  }

  #closeMessage(id: Id, parts: readonly Part[] | undefined): void {
    const message = this.#messageById.get(id)
    if (!message) return
    message.closed = true
    if (parts === undefined) return
    message.thought = message.reasoning !== ''
    const text = joined(parts, 'text')
    message.reasoning = joined(parts, 'reasoning') || message.reasoning
    if (message.shown === undefined) {
      message.parts = parts
      message.text = text
    } else if (!message.streamed) {
      // The whole repeats what an earlier answer has shown, unless the agent has revised it.
      message.text = text.startsWith(message.shown) ? text.slice(message.shown.length) : text
    }
  }

  #applyRare(event: TurnEvent): void {
    switch (event.type) {
      case 'tool-start':
      case 'tool-call':
        this.#openTool(event)
        return
      case 'tool-args-delta': {
        const tool = this.#toolById.get(event.tool)
        if (tool) tool.args += event.text
        return
      }
      case 'tool-end': {
        const tool = this.#toolById.get(event.tool)
        if (!tool) return
        tool.status = event.status
        tool.parts = event.parts
        return
      }
      case 'directive':
        this.directives.push({ action: event.action, json: event.json, ...laneOf(event) })
        return
      case 'notice':
        this.notices.push({ severity: event.severity, code: event.code, text: event.text, ...laneOf(event) })
        return
      case 'ask':
        this.#asks.set(event.ask, event)
        return
      case 'ask-settled':
        this.#asks.delete(event.ask)
        return
      case 'turn-parked':
        this.#remarks.calls?.park()
        return
      case 'usage':
        this.#count(event)
    }
  }

  #count(event: EventOf<'usage'>): void {
    const remarks = this.#remarks
    if (event.scope === 'turn') remarks.usage = event
    if (event.scope !== 'call') return
    remarks.calls ??= new CallTokens()
    remarks.calls.add(event.usage)
  }

  #openTool(event: Extract<TurnEvent, { type: 'tool-start' | 'tool-call' }>): void {
    const called = event.type === 'tool-call'
    const args = called ? event.args : ''
    const known = this.#toolById.get(event.tool)
    // A call with the id of one that has ended is a new call.
    if (known && known.status === undefined) {
      known.args = args
      known.called ||= called
      return
    }
    const tool: ToolView = {
      id: event.tool,
      name: event.name,
      kind: event.type === 'tool-start' ? event.kind : undefined,
      title: event.type === 'tool-start' ? event.title : undefined,
      lane: event.lane,
      executor: event.executor,
      after: this.messages.length,
      args,
      called,
      status: undefined,
      parts: [],
    }
    this.tools.push(tool)
    this.#toolById.set(event.tool, tool)
  }
}

function laneOf({ lane }: TurnEvent): { lane?: string } {
  return lane === undefined ? {} : { lane }
}

function joined(parts: readonly Part[], type: 'text' | 'reasoning'): string {
  let text = ''
  for (const part of parts) if (part.type === type) text += part.text
  return text
}

/** The fold of a recorded turn. */
export function viewOf(
  of: { turn: Id; session: string; agent: string; startedAt: number },
  events: readonly TurnEvent[],
): LiveView {
  const view = new LiveView({ ...of, at: of.startedAt })
  for (const event of events) view.apply(event, of.startedAt)
  return view
}

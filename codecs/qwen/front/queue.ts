import { PromptQueue } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type TurnEvent,
  type TurnOptions,
  type TurnView,
} from '../../../src/model/index.ts'
import { AskIds } from './asks.ts'
import { type CancelRequest, writeCancelled } from './ending.ts'
import { type Greeting, Lines } from './lines.ts'
import type { Request } from './request.ts'
import { type RequestWriter, TextWriter } from './text.ts'
import { TurnWriter } from './turn.ts'

/** A request before it runs, with its session and its turn's own id. */
export interface Waiting {
  request: Request
  session: string
  prompt: string
}

/** The wire, as the queue needs it. */
export interface QueueOwner {
  readonly greeting: Greeting
  /** The options of every request that sets none itself. */
  readonly defaults: TurnOptions
  /** The client can send no answers to questions any more. */
  readonly ended: boolean
  /** Milliseconds since the epoch. */
  readonly at: number
  /** A request has its answer; `failed` when the process has to end with it. */
  over(failed: boolean): void
}

interface Active extends Waiting {
  exchange: Id
  turn: Id
  writer: RequestWriter
  /** The same, where questions and cancellations have a place. */
  structured: TurnWriter | undefined
  /** The gateway knows of the turn: from here on it can be cancelled. */
  accepted: boolean
  cancelAsked: boolean
}

/** The requests of one client. */
export class QwenQueue extends PromptQueue<Waiting, Active> {
  readonly #ports: FrontPorts
  readonly #owner: QueueOwner
  readonly #askIds = new AskIds()

  constructor(ports: FrontPorts, owner: QueueOwner) {
    super()
    this.#ports = ports
    this.#owner = owner
  }

  /** The writer of what runs, in a structured format. */
  get writer(): TurnWriter | undefined {
    return this.active?.structured
  }

  /**
   * Cancels the request of this session and prompt, or whatever runs when neither is named. What runs answers when it
   * has its end, what waits and what is not there at once.
   */
  cancel(session: string | undefined, prompt: string | undefined, request: CancelRequest): void {
    const means = (known: Waiting): boolean =>
      (session === undefined || known.session === session) && (prompt === undefined || known.prompt === prompt)
    const active = this.active
    if (active?.structured && active.turn !== '' && means(active)) {
      active.structured.cancel(request)
      active.cancelAsked = true
      if (active.accepted) this.#stop(active)
      return
    }
    const waiting = this.take((known) => prompt !== undefined && means(known))
    const { greeting } = this.#owner
    if (waiting) this.#structured(waiting, undefined, '').cancelled(request, this.#owner.at)
    else {
      const place = { session: session ?? active?.session ?? '', prompt }
      writeCancelled(new Lines(this.#ports, undefined, place, greeting), request, false)
    }
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.running(exchange)
    if (!active) return
    active.writer.encode(event, view)
    if (event.type === 'turn-accepted') {
      active.accepted = true
      if (active.cancelAsked) this.#stop(active)
    } else if (event.type === 'turn-end') this.#over(event.outcome === 'failed')
  }

  /** A command that ran without a turn has its answer; false when it was none of the queue. */
  reply({ exchange, fault: reason }: Extract<LinkEvent, { type: 'command-reply' }>): boolean {
    const active = this.running(exchange)
    if (!active) return false
    if (reason) active.writer.commandDone('error', reason.message, this.#owner.at)
    else active.writer.commandDone('info', 'The conversation was cleared.', this.#owner.at)
    this.#over(false)
    return true
  }

  /** The request that runs failed without a turn's end; `healthy` when the process goes on all the same. */
  fail(reason: Fault, exchange: Id, healthy: boolean): void {
    const active = this.running(exchange)
    if (!active) return
    active.writer.refuse(reason, healthy, this.#owner.at)
    this.#over(!healthy)
  }

  #stop({ session, turn }: Active): void {
    const exchange = this.#ports.newId()
    this.#ports.command({ exchange, session: { id: session }, type: 'turn-cancel', target: { turn } })
  }

  #over(failed: boolean): void {
    this.end()
    if (failed && this.#owner.greeting.output !== 'text') this.drop()
    this.#owner.over(failed)
    this.resume()
  }

  protected issue(waiting: Waiting): void {
    const exchange = this.#ports.newId()
    const clear = builtIn(waiting.request) === 'clear'
    const turn = clear ? '' : this.#ports.newId()
    const structured = this.#text ? undefined : this.#structured(waiting, exchange, turn)
    const writer = structured ?? new TextWriter(this.#ports, exchange)
    this.start({ ...waiting, exchange, turn, writer, structured, accepted: false, cancelAsked: false })
    const command: Command = clear
      ? { exchange, session: { id: waiting.session }, type: 'session-clear' }
      : startOf(waiting, exchange, turn, this.#owner.defaults)
    this.#ports.command(command, this.#answer(clear))
  }

  get #text(): boolean {
    return this.#owner.greeting.output === 'text'
  }

  #answer(clear: boolean): Answer {
    const form = clear || this.#text ? 'whole' : 'stream'
    // What comes once the input has ended can be answered by nobody.
    const asks = this.#owner.greeting.control && !this.#owner.ended ? 'inline' : 'never'
    return { form, framing: this.#text ? 'text' : 'ndjson', onDisconnect: 'cancel', asks }
  }

  #structured({ request, session, prompt }: Waiting, exchange: Id | undefined, turn: Id): TurnWriter {
    const { greeting, defaults } = this.#owner
    const place = { session, prompt, model: request.options.model ?? defaults.model }
    const lines = new Lines(this.#ports, exchange, place, greeting)
    const task = builtIn(request) === 'compress' ? 'compact' : 'prompt'
    return new TurnWriter(this.#ports, lines, { turn, task, command: request.command?.json, askIds: this.#askIds })
  }
}

/** A command that every agent has, because the gateway knows what it means. */
function builtIn({ command }: Request): 'clear' | 'compress' | undefined {
  const { kind, path } = command?.invocation ?? {}
  if (kind !== 'slash' || path?.length !== 1) return undefined
  return path[0] === 'clear' || path[0] === 'compress' ? path[0] : undefined
}

function startOf({ request, session, prompt }: Waiting, exchange: Id, turn: Id, defaults: TurnOptions): Command {
  const compact = builtIn(request) === 'compress'
  const options = { ...defaults, ...request.options }
  const { history, clientTools, ext, toolCall } = request
  const answered = request.input.some(({ type }) => type === 'tool-reply')
  const input =
    toolCall === undefined || answered
      ? request.input
      : [{ type: 'tool-reply' as const, tool: toolCall, status: 'ok' as const, parts: request.input }]
  return {
    exchange,
    session: { id: session },
    type: 'turn-start',
    turn,
    task: compact ? 'compact' : 'prompt',
    request: prompt,
    ...(options.model !== undefined && { agent: options.model }),
    input: compact ? [] : input,
    options,
    ...(!compact && request.command && { invocation: request.command.invocation }),
    ...(history && { history }),
    ...(clientTools && { clientTools }),
    ...(ext && { ext }),
  }
}

/** The refusal of one request too many. */
export const OVERLOADED: Fault = fault('overloaded', 'Too many requests are waiting: send more when these have ended.')

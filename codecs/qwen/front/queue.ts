import { nonTextLosses, PromptQueue, type Report, wellFormed } from '../../../src/codec-kit/index.ts'
import type { Answer } from '../../../src/contract/index.ts'
import type {
  Command,
  CommandOf,
  Fault,
  Id,
  LinkEvent,
  TurnEnd,
  TurnEvent,
  TurnView,
} from '../../../src/model/index.ts'
import { FrontAsks } from './asks.ts'
import { ChunksWriter } from './chunks.ts'
import type { Client } from './client.ts'
import { CompletionsWriter } from './completions.ts'
import { writeCancelled } from './ending.ts'
import { Lines } from './lines.ts'
import type { Request } from './request.ts'
import type { CancelRequest, Turn } from './state.ts'
import { writeCommandDone, writeNeverRun, writeRefusal, writeTurnEvent } from './turn.ts'

/** A request before it runs, with its session and its turn's own id. */
export interface Waiting {
  request: Request
  session: string
  prompt: string
}

interface Active extends Waiting {
  exchange: Id
  turn: Id
  /** Its answer in a structured format; undefined for one that is text. */
  lines: Turn | undefined
  /** The gateway knows of the turn: from here on it can be cancelled. */
  accepted: boolean
  cancelAsked: boolean
}

/** The requests of one client. */
export class QwenQueue extends PromptQueue<Waiting, Active> {
  readonly #client: Client
  /** A request has failed in a way that ends the wire. */
  broken = false

  constructor(client: Client) {
    super()
    this.#client = client
  }

  /** The questions of what runs, in a structured format. */
  get asks(): FrontAsks | undefined {
    return this.active?.lines?.asks
  }

  /**
   * Cancels the request of this session and prompt, or whatever runs when neither is named. What runs answers when it
   * has its end, what waits and what is not there at once.
   */
  cancel(session: string | undefined, prompt: string | undefined, request: CancelRequest): void {
    const means = (known: Waiting): boolean =>
      (session === undefined || known.session === session) && (prompt === undefined || known.prompt === prompt)
    const active = this.active
    if (active?.lines && active.turn !== '' && means(active)) {
      active.lines.cancels.push(request)
      active.cancelAsked = true
      if (active.accepted) this.#stop(active)
      return
    }
    const waiting = this.take((known) => prompt !== undefined && means(known))
    if (waiting) writeNeverRun(newTurn(this.#client, waiting, undefined, ''), request, this.#client.at)
    else {
      const place = { session: session ?? active?.session ?? '', prompt }
      writeCancelled(new Lines(this.#client, place), request, false)
    }
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.running(exchange)
    if (!active) return
    if (active.lines) writeTurnEvent(active.lines, event, view)
    else if (event.type === 'turn-end') this.#print(event, exchange, view)
    if (event.type === 'turn-accepted') {
      active.accepted = true
      if (active.cancelAsked) this.#stop(active)
    } else if (event.type === 'turn-end') this.#over(event.outcome === 'failed')
  }

  /** A command that ran without a turn has its answer; false when it was none of the queue. */
  reply({ exchange, fault: reason }: Extract<LinkEvent, { type: 'command-reply' }>): boolean {
    const active = this.running(exchange)
    if (!active) return false
    const text = reason?.message ?? 'The conversation was cleared.'
    if (active.lines) writeCommandDone(active.lines, reason ? 'error' : 'info', text, this.#client.at)
    else if (reason) this.#client.warn(text)
    else this.#client.ports.send(text)
    this.#over(false)
    return true
  }

  /** The request that runs failed without a turn's end; `healthy` when the process goes on all the same. */
  fail(reason: Fault, exchange: Id, healthy: boolean): void {
    const active = this.running(exchange)
    if (!active) return
    if (active.lines) writeRefusal(active.lines, reason, healthy, this.#client.at)
    else this.#client.warn(reason.message)
    this.#over(!healthy)
  }

  /** Writes the end of a turn whose answer is plain text: the text on stdout, a failure on stderr. */
  #print({ outcome, fault: reason }: TurnEnd, exchange: Id, view: TurnView): void {
    const { ports } = this.#client
    const report: Report = (loss) => ports.report(loss, exchange)
    for (const loss of nonTextLosses(view)) report(loss)
    if (view.text !== '') ports.send(wellFormed(view.text, report))
    if (outcome !== 'completed') this.#client.warn(reason?.message ?? `The turn was ${outcome}.`)
  }

  #stop({ session, turn }: Active): void {
    const { ports } = this.#client
    ports.command({ exchange: ports.newId(), session: { id: session }, type: 'turn-cancel', target: { turn } })
  }

  #over(failed: boolean): void {
    if (failed) {
      this.#client.exitCode = 1
      this.broken = !this.#client.text
      if (this.broken) this.drop()
    }
    this.end()
  }

  protected issue(waiting: Waiting): void {
    const { ports, text } = this.#client
    const exchange = ports.newId()
    const clear = builtIn(waiting.request) === 'clear'
    const turn = clear ? '' : ports.newId()
    const lines = text ? undefined : newTurn(this.#client, waiting, exchange, turn)
    this.start({ ...waiting, exchange, turn, lines, accepted: false, cancelAsked: false })
    const command: Command = clear
      ? { exchange, session: { id: waiting.session }, type: 'session-clear' }
      : this.#startOf(waiting, exchange, turn)
    ports.command(command, this.#answer(clear))
  }

  #answer(clear: boolean): Answer {
    const { text, formats, ended } = this.#client
    // Questions after the end of the input cannot be answered.
    const asks = formats.control && !ended ? 'inline' : 'never'
    const form = clear || text ? 'whole' : 'stream'
    return { form, framing: text ? 'text' : 'ndjson', onDisconnect: 'cancel', asks }
  }

  #startOf({ request, session, prompt }: Waiting, exchange: Id, turn: Id): CommandOf<'turn-start'> {
    const compact = builtIn(request) === 'compress'
    const options = { ...this.#client.defaults, ...request.options }
    const { history, clientTools, ext } = request
    return {
      exchange,
      session: { id: session },
      type: 'turn-start',
      turn,
      task: compact ? 'compact' : 'prompt',
      request: prompt,
      ...(options.model !== undefined && { agent: options.model }),
      input: compact ? [] : inputOf(request),
      options,
      ...(!compact && request.command && { invocation: request.command.invocation }),
      ...(history && { history }),
      ...(clientTools && { clientTools }),
      ...(ext && { ext }),
    }
  }
}

/** A command that works with every agent, because the gateway itself knows its meaning. */
function builtIn({ command }: Request): 'clear' | 'compress' | undefined {
  const { kind, path } = command?.invocation ?? {}
  if (kind !== 'slash' || path?.length !== 1) return undefined
  return path[0] === 'clear' || path[0] === 'compress' ? path[0] : undefined
}

/** The parts of a request; those that answer a tool call, and are not the wire's own form of that, as its result. */
function inputOf({ input, toolCall }: Request): Request['input'] {
  if (toolCall === undefined || input.some(({ type }) => type === 'tool-reply')) return input
  return [{ type: 'tool-reply', tool: toolCall, status: 'ok', parts: input }]
}

/** A request that is not written. */
function newTurn(client: Client, { request, session, prompt }: Waiting, exchange: Id | undefined, turn: Id): Turn {
  const place = { session, prompt, model: request.options.model ?? client.defaults.model }
  const lines = new Lines(client, place, exchange)
  const command = request.command?.json
  return {
    lines,
    answer: lines.chunked ? new ChunksWriter(lines) : new CompletionsWriter(lines),
    asks: new FrontAsks(lines, turn),
    task: builtIn(request) === 'compress' ? 'compact' : 'prompt',
    command,
    commandDone: command === undefined,
    cancels: [],
    called: new Set(),
    thoughts: new Map(),
    thoughtExt: undefined,
    inResult: new Set(),
    answered: false,
    begun: false,
  }
}

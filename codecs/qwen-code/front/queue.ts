import { dropped, nonTextLosses, PromptQueue, type Report, weakened, wellFormed } from '../../../src/codec-kit/index.ts'
import type { Answer } from '../../../src/contract/index.ts'
import type { CommandOf, Ext, Fault, Id, Part, TurnEvent, TurnView } from '../../../src/model/index.ts'
import { CONTINUE, PROTOCOL } from '../wire.ts'
import type { FrontAsks } from './asks.ts'
import type { Client } from './client.ts'
import { framingOf } from './flags.ts'
import { type Ending, exitCodeOf, messageOf } from './result.ts'
import { Turn } from './state.ts'
import { writeDone, writeFailure, writeTurnEvent } from './turn.ts'

/** A message of the client, before it has a turn. */
export interface Waiting {
  input: readonly Part[]
  ext: Ext | undefined
}

interface Active {
  exchange: Id
  turn: Id
  /** Its lines; undefined for an answer that is text. */
  lines: Turn | undefined
  /** The lines of an answer that is one array. */
  collected: string[]
}

/** The kinds of interruption that `continue_last_turn` knows: before the first output of the agent, or after it. */
type Interruption = 'interrupted_prompt' | 'interrupted_turn'

/** The spellings of the command that the CLI knows. */
const CLEARS = /^\s*\/(?:clear|reset|new)\s*$/i

const CLEARED = 'The conversation was cleared.'

/** Events that the view does not keep. */
const UNKEPT: ReadonlySet<TurnEvent['type']> = new Set(['foreign', 'step-start', 'step-end'])

/** The messages of one client. */
export class QwenCodeQueue extends PromptQueue<Waiting, Active> {
  readonly #client: Client
  readonly #asks: FrontAsks
  /** The interruption of the last turn, if it was interrupted. */
  #interruption: Interruption | undefined
  /** The exit code of a program that was started for one prompt. */
  exitCode = 0

  constructor(client: Client, asks: FrontAsks) {
    super(() => client.settings.changing > 0)
    this.#client = client
    this.#asks = asks
  }

  /** The interruption that can be continued now. */
  get interruption(): Interruption | undefined {
    return this.idle ? this.#interruption : undefined
  }

  /** Continues the interrupted turn as a new turn; the text is for agents without such a command. */
  continue(): void {
    const input = [{ type: 'text', text: 'Continue.' }] as const
    this.add({ input, ext: { protocol: PROTOCOL, json: `{"${CONTINUE}":true}` } })
  }

  /** The conversation that a message asked to clear is cleared, or is not. */
  cleared(exchange: Id, reason: Fault | undefined): void {
    const active = this.running(exchange)
    if (!active) return
    if (reason) this.fail(reason, exchange)
    else {
      if (active.lines) writeDone(active.lines, CLEARED)
      else this.#print({ outcome: 'completed' }, CLEARED)
      this.#over(active, { outcome: 'completed' })
    }
  }

  /** Cancels the running prompt, if any; waiting ones stay. */
  cancel(): void {
    if (!this.active) return
    const { ports, session } = this.#client
    const target = { turn: this.active.turn }
    ports.command({ exchange: ports.newId(), session: { id: session }, type: 'turn-cancel', target })
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.running(exchange)
    if (!active) return
    if (active.lines) writeTurnEvent(active.lines, event, view)
    else if (!event.type.startsWith('turn-')) this.#unshown(event, exchange)
    if (event.type === 'ask') this.#asks.ask(event, active.turn, exchange)
    else if (event.type === 'ask-settled') this.#asks.settled(event.ask)
    else if (event.type === 'turn-end') {
      if (event.outcome === 'cancelled') this.#interruption = interruptionOf(view)
      if (!active.lines) this.#printEnd(event, exchange, view)
      this.#over(active, event)
    }
  }

  /** The turn that runs failed without an end; false when it is not this one. */
  fail(reason: Fault, exchange: Id): boolean {
    const active = this.running(exchange)
    if (!active) return false
    const ending: Ending = { outcome: 'failed', fault: reason }
    if (active.lines) writeFailure(active.lines, reason)
    else this.#print(ending, '')
    this.#over(active, ending)
    return true
  }

  /** Reports an event that only approvals need: a text has no place for what the view does not keep of it. */
  #unshown({ type, ext }: TurnEvent, exchange: Id): void {
    const { ports } = this.#client
    if (UNKEPT.has(type)) ports.report(dropped(type), exchange)
    if (ext && type !== 'ask') ports.report(dropped('ext', ext.protocol), exchange)
  }

  /** Prints the end of a turn whose answer is text, and reports what it leaves out, texts of sub-agents too. */
  #printEnd(ending: Ending, exchange: Id, view: TurnView): void {
    const report: Report = (loss) => this.#client.ports.report(loss, exchange)
    for (const loss of nonTextLosses(view)) report(loss)
    if (ending.outcome !== 'completed' && view.text !== '') report(dropped('text-delta', 'message'))
    const asides = view.messages.filter(({ lane, text }) => lane !== undefined && text !== '')
    if (this.#asks.decides && asides.length > 0) report({ ...dropped('text-delta', 'aside'), count: asides.length })
    this.#print(ending, wellFormed(view.text, report))
  }

  /** A text answer; a failure is for stderr. */
  #print(ending: Ending, text: string): void {
    if (ending.outcome === 'completed') this.#client.ports.send(text)
    else this.#client.ports.warn(messageOf(ending))
  }

  #over(active: Active, ending: Ending): void {
    if (active.collected.length > 0) this.#client.ports.send(`[${active.collected.join(',')}]`)
    this.#asks.forget()
    this.exitCode = exitCodeOf(ending)
    this.end()
  }

  protected issue(waiting: Waiting): void {
    this.#interruption = undefined
    const { ports, args, session, settings, totals } = this.#client
    const exchange = ports.newId()
    const turn = ports.newId()
    const collected: string[] = []
    const write = args.output === 'json' ? (line: string) => collected.push(line) : ports.send
    const lines = args.output === 'text' ? undefined : new Turn(this.#client, exchange, write)
    this.start({ exchange, turn, lines, collected })
    if (settings.refusal) this.fail(settings.refusal, exchange)
    else if (clears(waiting.input)) {
      ports.command({ exchange, session: { id: session }, type: 'session-clear' }, this.#answer())
    } else {
      ports.command(this.#startOf(waiting, exchange, turn), this.#answer())
      for (const loss of totals.losses.splice(0)) ports.report(loss, exchange)
      // Behind the gateway there is no telling where the agent's own system prompt would go on.
      if (args.appended) ports.report(weakened('option.systemPrompt', 'append'), exchange)
    }
  }

  #startOf({ input, ext }: Waiting, exchange: Id, turn: Id): CommandOf<'turn-start'> {
    const { args, session, settings } = this.#client
    const { model, effort } = settings
    const set = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) }
    return {
      exchange,
      session: { id: session },
      type: 'turn-start',
      turn,
      task: 'prompt',
      ...(model !== undefined && { agent: model }),
      input,
      options: { ...args.options, streaming: args.partial, ...set },
      ...(ext && { ext }),
    }
  }

  /** A text answer is written at the end, but an approval mode needs to see the questions. */
  #answer(): Answer {
    const isText = this.#client.args.output === 'text'
    const asked = isText ? this.#asks.decides : this.#asks.available
    const form = isText && !asked ? 'whole' : 'stream'
    return { form, framing: framingOf(this.#client.args), onDisconnect: 'cancel', asks: asked ? 'always' : 'never' }
  }
}

/** True for a message that is a command to clear the conversation. */
function clears(input: readonly Part[]): boolean {
  const [first, ...others] = input
  return first?.type === 'text' && others.length === 0 && CLEARS.test(first.text)
}

function interruptionOf({ messages, tools }: TurnView): Interruption {
  const said = tools.length > 0 || messages.some(({ role }) => role !== 'user')
  return said ? 'interrupted_turn' : 'interrupted_prompt'
}

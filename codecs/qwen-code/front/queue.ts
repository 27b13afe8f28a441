import { nonTextLosses, PromptQueue } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Ext, Fault, Id, Item, Part, TurnEvent, TurnOptions, TurnView } from '../../../src/model/index.ts'
import { CONTINUE, PROTOCOL } from '../wire.ts'
import type { FrontAsks } from './asks.ts'
import { Lines } from './lines.ts'
import { type Ending, exitCodeOf, messageOf } from './result.ts'
import type { ClientState } from './state.ts'
import { StreamWriter } from './turn.ts'

/** A message of the client, before it has a turn. */
export interface Waiting {
  input: readonly Part[]
  ext: Ext | undefined
}

interface Active {
  exchange: Id
  turn: Id
  writer: StreamWriter | undefined
  /** The lines of an answer that is one array. */
  collected: string[]
}

/** The kinds of interruption that `continue_last_turn` knows: before the first output of the agent, or after it. */
export type Interruption = 'interrupted_prompt' | 'interrupted_turn'

/** The prompt of a turn that goes on with the one before, to an agent that has no other word for it. */
const CONTINUED = { type: 'text', text: 'Continue.' } as const

/** The spellings of the command that the CLI knows. */
const CLEARS = /^\s*\/(?:clear|reset|new)\s*$/i

const CLEARED = 'The conversation was cleared.'

/** True for a message that is a command to forget what was said. */
function clears(input: readonly Part[]): boolean {
  const [first, ...others] = input
  return first?.type === 'text' && others.length === 0 && CLEARS.test(first.text)
}

/** Events of which the view keeps nothing. */
const UNKEPT: ReadonlySet<TurnEvent['type']> = new Set(['foreign', 'step-start', 'step-end'])

/** The messages of one client. */
export class QwenCodeQueue extends PromptQueue<Waiting, Active> {
  readonly #ports: FrontPorts
  readonly #state: ClientState
  readonly #asks: FrontAsks
  /** The interruption of the last turn, if it was interrupted. */
  #interruption: Interruption | undefined
  /** The exit code of a program that was started for one prompt. */
  exitCode = 0

  /** While `held` says so no message is issued. */
  constructor(ports: FrontPorts, state: ClientState, asks: FrontAsks, held: () => boolean) {
    super(held)
    this.#ports = ports
    this.#state = state
    this.#asks = asks
  }

  /** Goes on with the turn that was interrupted, as a turn of its own. `answer` gets the interruption first. */
  continue(answer: (interruption: Interruption | undefined) => void): void {
    const interruption = this.idle ? this.#interruption : undefined
    answer(interruption)
    if (interruption === undefined) return
    this.add({ input: [CONTINUED], ext: { protocol: PROTOCOL, json: `{"${CONTINUE}":true}` } })
  }

  /** The conversation that a message asked to clear is cleared, or is not. */
  cleared(exchange: Id, reason: Fault | undefined): void {
    const active = this.running(exchange)
    if (!active) return
    if (reason) this.fail(reason, exchange)
    else {
      active.writer?.cleared(CLEARED)
      if (!active.writer) this.#print({ outcome: 'completed' }, CLEARED)
      this.#over(active, { outcome: 'completed' })
    }
  }

  /** Cancels what runs, if anything does; what waits goes on waiting. */
  cancel(): void {
    const active = this.active
    if (!active) return
    const exchange = this.#ports.newId()
    const session = { id: this.#state.session }
    this.#ports.command({ exchange, session, type: 'turn-cancel', target: { turn: active.turn } })
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.running(exchange)
    if (!active) return
    if (active.writer) active.writer.encode(event, view)
    else if (!event.type.startsWith('turn-')) this.#unshown(event, exchange)
    if (event.type === 'ask') this.#asks.ask(event, active.turn, exchange)
    else if (event.type === 'ask-settled') this.#asks.settled(event.ask)
    else if (event.type === 'turn-end') {
      if (event.outcome === 'cancelled') this.#interruption = interruptionOf(view)
      if (!active.writer) {
        for (const loss of nonTextLosses(view)) this.#ports.report(loss, exchange)
        if (this.#asks.decides) this.#asides(view, exchange)
        this.#print(event, view.text)
      }
      this.#over(active, event)
    }
  }

  /** The turn that runs failed without an end; false when it is not this one. */
  fail(reason: Fault, exchange: Id): boolean {
    const active = this.running(exchange)
    if (!active) return false
    const ending: Ending = { outcome: 'failed', fault: reason }
    active.writer?.fail(reason)
    if (!active.writer) this.#print(ending, '')
    this.#over(active, ending)
    return true
  }

  /** Reports an event that only approvals need: a text has no place for what the view does not keep of it. */
  #unshown(event: TurnEvent, exchange: Id): void {
    const lose = (item: Item, field?: string): void =>
      this.#ports.report({ kind: 'dropped', item, ...(field && { field }), why: 'no-place', count: 1 }, exchange)
    if (UNKEPT.has(event.type)) lose(event.type)
    if (event.ext && event.type !== 'ask') lose('ext', event.ext.protocol)
  }

  /** Reports the texts of sub-agents, which the answer leaves out. */
  #asides({ messages }: TurnView, exchange: Id): void {
    const count = messages.filter(({ lane, text }) => lane !== undefined && text !== '').length
    if (count === 0) return
    this.#ports.report({ kind: 'dropped', item: 'text-delta', field: 'aside', why: 'no-place', count }, exchange)
  }

  /** A text answer; a failure is for stderr. */
  #print(ending: Ending, text: string): void {
    if (ending.outcome === 'completed') this.#ports.send(text)
    else this.#ports.warn(messageOf(ending))
  }

  #over(active: Active, ending: Ending): void {
    if (active.collected.length > 0) this.#ports.send(`[${active.collected.join(',')}]`)
    this.#asks.forget()
    this.exitCode = exitCodeOf(ending)
    this.end()
    this.resume()
  }

  protected issue({ input, ext }: Waiting): void {
    this.#interruption = undefined
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const { args, session, model, effort, losses } = this.#state
    const collected: string[] = []
    const write = args.output === 'json' ? (line: string) => collected.push(line) : this.#ports.send
    const lines = new Lines(this.#ports, exchange, session, this.#state.ids, write)
    const writer = args.output === 'text' ? undefined : new StreamWriter(lines, this.#state)
    this.start({ exchange, turn, writer, collected })
    const { refusal } = this.#state
    if (refusal) {
      this.fail(refusal, exchange)
      return
    }
    if (clears(input)) {
      this.#ports.command(
        { exchange, session: { id: session }, type: 'session-clear' },
        this.#answer(writer !== undefined),
      )
      return
    }
    const options: TurnOptions = {
      ...args.options,
      streaming: args.partial,
      ...(model !== undefined && { model }),
      ...(effort !== undefined && { effort }),
    }
    for (const loss of losses.splice(0)) lines.report(loss)
    if (args.appended) {
      // Behind the gateway there is no telling where the agent's own system prompt would go on.
      lines.report({ kind: 'weakened', item: 'option.systemPrompt', field: 'append', why: 'no-place', count: 1 })
    }
    this.#ports.command(
      {
        exchange,
        session: { id: session },
        type: 'turn-start',
        turn,
        task: 'prompt',
        ...(options.model !== undefined && { agent: options.model }),
        input,
        options,
        ...(ext && { ext }),
      },
      this.#answer(writer !== undefined),
    )
  }

  /** A text is made at the end, but an approval mode has to be shown what it decides. */
  #answer(lines: boolean): Answer {
    const asked = lines ? this.#asks.available : this.#asks.decides
    return {
      form: lines || asked ? 'stream' : 'whole',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: asked ? 'always' : 'never',
    }
  }
}

function interruptionOf({ messages, tools }: TurnView): Interruption {
  const said = tools.length > 0 || messages.some(({ role }) => role !== 'user')
  return said ? 'interrupted_turn' : 'interrupted_prompt'
}

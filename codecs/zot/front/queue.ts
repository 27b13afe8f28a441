import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Ext, Fault, Id, Part, TurnEvent, TurnOptions, TurnView } from '../../../src/model/index.ts'
import type { Arguments } from './args.ts'
import { TurnWriter } from './turn.ts'
import { UsageWriter } from './usage.ts'

/** A prompt or compact of the client, before it has a turn. */
export interface Waiting {
  command: 'prompt' | 'compact'
  id: string | undefined
  input: readonly Part[]
  ext: Ext | undefined
}

const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }
/** More prompts than this do not wait at once. */
const LIMIT = 1000

/** The prompts of one client, one turn at a time: the next is issued only after the end of the one before. */
export class PromptQueue {
  readonly #ports: FrontPorts
  readonly #session: Id
  readonly #arguments: Arguments
  readonly #model: () => string | undefined
  readonly #held: () => boolean
  readonly #usage = new UsageWriter()
  readonly #waiting: Waiting[] = []
  #active: { exchange: Id; turn: Id; writer: TurnWriter } | undefined
  #issuing = false

  /** `model` is what prompts name, `held` whether they have to wait for something else than the one before. */
  constructor(ports: FrontPorts, session: Id, args: Arguments, model: () => string | undefined, held: () => boolean) {
    this.#ports = ports
    this.#session = session
    this.#arguments = args
    this.#model = model
    this.#held = held
  }

  /** True when nothing runs and nothing waits. */
  get idle(): boolean {
    return this.#active === undefined && this.#waiting.length === 0
  }

  /** Runs it when its time comes; false when too many wait already. */
  add(waiting: Waiting): boolean {
    if (this.#waiting.length >= LIMIT) return false
    this.#waiting.push(waiting)
    this.#next()
    return true
  }

  /** What held the prompts may be over. */
  resume(): void {
    this.#next()
  }

  /** Forgets what waits. */
  drop(): void {
    this.#waiting.length = 0
  }

  /** Cancels what runs, if anything does; what waits goes on waiting. */
  cancel(ext: Ext | undefined): void {
    const active = this.#active
    if (!active) return
    const exchange = this.#ports.newId()
    this.#ports.command({
      exchange,
      session: { id: this.#session },
      type: 'turn-cancel',
      target: { turn: active.turn },
      ...(ext && { ext }),
    })
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.#active
    if (active?.exchange !== exchange) return
    active.writer.encode(event, view)
    if (event.type === 'turn-end') this.#over()
  }

  /** The prompt that runs failed without a turn's end. */
  fail(reason: Fault, exchange: Id): void {
    if (this.#active?.exchange !== exchange) return
    this.#active.writer.fail(reason)
    this.#over()
  }

  #over(): void {
    this.#active = undefined
    this.#next()
  }

  /** A refused prompt ends while it is issued: a loop, so that a long queue of them is no deep recursion. */
  #next(): void {
    if (this.#issuing) return
    this.#issuing = true
    while (this.#active === undefined && this.#waiting.length > 0 && !this.#held()) this.#issue(this.#waiting.shift()!)
    this.#issuing = false
  }

  #issue({ command, id, input, ext }: Waiting): void {
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const writer = new TurnWriter(this.#ports, { command, id, exchange, input }, this.#usage)
    const model = this.#model()
    const options: TurnOptions = { ...this.#arguments.options, ...(model !== undefined && { model }) }
    this.#active = { exchange, turn, writer }
    if (this.#arguments.appended) {
      // Behind the gateway there is no telling where the agent's own system prompt would go on.
      this.#ports.report(
        { kind: 'weakened', item: 'option.systemPrompt', field: 'append', why: 'no-place', count: 1 },
        exchange,
      )
    }
    this.#ports.command(
      {
        exchange,
        session: { id: this.#session },
        type: 'turn-start',
        turn,
        task: command,
        ...(id !== undefined && { request: id }),
        input,
        options,
        ...(ext && { ext }),
      },
      ANSWER,
    )
  }
}

import { PromptQueue } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Ext, Fault, Id, TextRun, TurnEvent, TurnOptions, TurnView } from '../../../src/model/index.ts'
import { type Prompt, startTurn } from './start.ts'
import { TurnWriter } from './turn.ts'
import { UsageWriter } from './usage.ts'

interface Active {
  exchange: Id
  turn: Id
  writer: TurnWriter
}

/** A clear of the client, which has its place among the prompts: those before it are of the old conversation. */
interface Clear {
  command: 'clear'
  /** Sends the command. The queue goes on when it is answered. */
  ask(): void
}

/** A command of the client that is carried out in its order. */
export type Waiting = Prompt | Clear

/** The facts of a client that its prompts share. `appended`: its system prompt was only to follow the agent's own. */
interface Client {
  readonly session: Id
  readonly appended: boolean
  options(): TurnOptions
}

const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

/** The prompts, compacts and clears of one client. */
export class ZotQueue extends PromptQueue<Waiting, Active> {
  readonly #ports: FrontPorts
  readonly #client: Client
  readonly #usage = new UsageWriter()

  /** `held`: whether prompts have to wait for something else than the one before. */
  constructor(ports: FrontPorts, client: Client, held: () => boolean) {
    super(held)
    this.#ports = ports
    this.#client = client
  }

  /** Cancels the running prompt, if any; waiting ones stay. */
  cancel(ext: Ext | undefined): void {
    const active = this.active
    if (!active) return
    const [exchange, session] = [this.#ports.newId(), { id: this.#client.session }]
    const target = { turn: active.turn }
    this.#ports.command({ exchange, session, type: 'turn-cancel', target, ...(ext && { ext }) })
  }

  /** Writes an event of the turn that runs. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const active = this.running(exchange)
    if (!active) return
    active.writer.encode(event, view)
    if (event.type === 'turn-end') this.end()
  }

  /** Writes pieces of text of the turn that runs. */
  texts(run: TextRun, exchange: Id, view: TurnView): void {
    this.running(exchange)?.writer.texts(run, view)
  }

  /** The prompt that runs failed without a turn's end. */
  fail(reason: Fault, exchange: Id): void {
    const active = this.running(exchange)
    if (!active) return
    active.writer.fail(reason)
    this.end()
  }

  protected issue(waiting: Waiting): void {
    if (waiting.command === 'clear') waiting.ask()
    else this.#issue(waiting)
  }

  #issue(prompt: Prompt): void {
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const { session, options, appended } = this.#client
    this.start({ exchange, turn, writer: new TurnWriter(this.#ports, exchange, prompt, this.#usage) })
    startTurn(this.#ports, { ...prompt, exchange, turn, session, options: options() }, appended, ANSWER)
  }
}

import type { BackContext, BackDialect, Frame } from '../contract/index.ts'
import { type Exchange, RecordedAgent } from '../engine/replay/index.ts'
import { type Command, type Fault, type Id, parseObject } from '../model/index.ts'

/** A wire whose gateway went away: open requests end with `fault`. */
export interface BrokenOff {
  fault: Fault
  /** The client has what was written until then; else it is part of what is still to be written. */
  written: boolean
  /** The time, in milliseconds since the epoch. */
  now: number
  /** The gateway's ids of the wire begin with it. */
  idPrefix: string
}

/** An exchange that follows one turn of others, which `agent` reads, or the list of running turns. */
interface Follower {
  exchange: Exchange
  agent?: RecordedAgent
}

/** Acts of a gateway on a wire before it went away, besides running turns: its answers, and the followers of turns. */
export class BrokenWire {
  readonly off: BrokenOff
  readonly #dialect: BackDialect
  readonly #context: BackContext<unknown>
  readonly #turns = new Set<Id>()
  readonly #followers: Follower[] = []

  constructor(off: BrokenOff, dialect: BackDialect, context: BackContext<unknown>) {
    this.off = off
    this.#dialect = dialect
    this.#context = { ...context, turns: this.#turns }
  }

  /** The context of an agent of the wire, which knows the ids of its turns: they are those that the gateway made. */
  get context(): BackContext<unknown> {
    return this.#context
  }

  /** Takes a command that follows turns; false for others. */
  takes(command: Command, exchange: Exchange | undefined): boolean {
    const turn = turnOf(command)
    if (turn !== undefined) this.#turns.add(turn)
    if (!exchange) return false
    if (command.type === 'turn-follow') {
      this.#followers.push({ exchange, agent: this.#readerOf(turn ?? exchange.id, exchange) })
      return true
    }
    if (isWatch(command)) this.#followers.push({ exchange })
    return isWatch(command)
  }

  /** True for a command that agents do not have: the gateway itself has answered it. */
  hasAnswered(command: Command): boolean {
    const item = command.type === 'query' ? (`query.${command.what}` as const) : command.type
    return this.#dialect.back.capabilities[item] === 'none'
  }

  /** A frame that was sent to the client. */
  decode(frame: Frame): void {
    for (const { exchange, agent } of this.#followers) if (!exchange.ended) agent?.decode(frame)
  }

  /** Ends what follows turns: no more events come. */
  end(): void {
    for (const { exchange } of this.#followers) exchange.fail(this.off.fault)
  }

  #readerOf(turn: Id, exchange: Exchange): RecordedAgent {
    const agent = new RecordedAgent(this.#dialect, this.#context, {
      event: ({ type }) => {
        if (type === 'turn-end') exchange.drop()
      },
    })
    agent.open()
    agent.start({ exchange: exchange.id, type: 'turn-start', turn, task: 'prompt', input: [], options: {} })
    return agent
  }
}

/** The id of the turn that a command begins or follows, where it is known. */
function turnOf(command: Command): Id | undefined {
  if (command.type === 'turn-start') return command.turn
  if (command.type !== 'turn-follow') return undefined
  const { target } = command
  return typeof target === 'object' && 'turn' in target ? target.turn : undefined
}

function isWatch(command: Command): boolean {
  return command.type === 'query' && command.what === 'turns' && parseObject(command.args ?? '')?.['follow'] === true
}

import type { BackContext, BackDialect, Frame } from '../contract/index.ts'
import { type Exchange, RecordedAgent } from '../engine/replay/index.ts'
import { type Command, type CommandOf, type Fault, type Id, parseObject } from '../model/index.ts'

/** An exchange that follows turns of others, and its end. */
interface Follower {
  exchange: Exchange
  /** Reads the events of the one turn that it follows. */
  agent?: RecordedAgent
}

/** The exchanges of a wire that follow one turn, or the list of running turns. */
export class Followers {
  readonly #dialect: BackDialect
  readonly #context: BackContext<unknown>
  readonly #followers: Follower[] = []

  constructor(dialect: BackDialect, context: BackContext<unknown>) {
    this.#dialect = dialect
    this.#context = context
  }

  /** Adds one; false when the command does not follow turns. */
  add(command: Command, exchange: Exchange): boolean {
    if (command.type === 'turn-follow') this.#followers.push({ exchange, agent: this.#readerOf(command, exchange) })
    else if (isWatch(command)) this.#followers.push({ exchange })
    else return false
    return true
  }

  /** A frame that was sent to the client. */
  decode(frame: Frame): void {
    for (const { exchange, agent } of this.#followers) if (!exchange.ended) agent?.decode(frame)
  }

  /** Ends them: no more events come. */
  fail(fault: Fault): void {
    for (const { exchange } of this.#followers) exchange.fail(fault)
  }

  #readerOf(command: CommandOf<'turn-follow'>, exchange: Exchange): RecordedAgent {
    const agent = new RecordedAgent(this.#dialect, this.#context, {
      event: ({ type }) => {
        if (type === 'turn-end') exchange.drop()
      },
    })
    const turn = turnOf(command) ?? exchange.id
    agent.open()
    agent.start({ exchange: exchange.id, type: 'turn-start', turn, task: 'prompt', input: [], options: {} })
    return agent
  }
}

/** The id of the turn that a command begins or follows, where it is known. */
export function turnOf(command: Command): Id | undefined {
  if (command.type === 'turn-start') return command.turn
  if (command.type !== 'turn-follow') return undefined
  const { target } = command
  return typeof target === 'object' && 'turn' in target ? target.turn : undefined
}

function isWatch(command: Command): boolean {
  return command.type === 'query' && command.what === 'turns' && parseObject(command.args ?? '')?.['follow'] === true
}

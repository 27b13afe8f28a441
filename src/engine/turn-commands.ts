import type { Store } from '../contract/index.ts'
import { type Command, type CommandOf, fault, type Target } from '../model/index.ts'
import type { ClientLink } from './client-link.ts'
import type { Exchange } from './exchange.ts'
import type { LiveTurns } from './live-turns.ts'
import { showPast } from './past.ts'
import type { Recorder } from './recorder.ts'
import type { Turn } from './turn.ts'

/** For a command about a turn or a question that is over. */
const GONE = fault('invalid-request', 'It is not running or not open here; it has ended, or was answered already.')
const UNKNOWN = fault('session-not-found', 'There is no such turn; it may have been deleted, or belong to another key.')

type TurnCommand = CommandOf<'turn-cancel' | 'turn-follow' | 'turn-steer' | 'ask-reply'>

/** The commands about a turn that was started before: each finds its turn by what the client calls it. */
export class TurnCommands {
  readonly #store: Store
  readonly #turns: LiveTurns
  readonly #recorder: Recorder

  constructor(store: Store, turns: LiveTurns, recorder: Recorder) {
    this.#store = store
    this.#turns = turns
    this.#recorder = recorder
  }

  static takes(command: Command): command is Command & TurnCommand {
    return ['turn-cancel', 'turn-follow', 'turn-steer', 'ask-reply'].includes(command.type)
  }

  /** Does what the command says. */
  async run(client: ClientLink, command: Command & TurnCommand, exchange: Exchange | undefined): Promise<void> {
    const meant = client.exchangeOf(command.target)
    const turn = meant?.turn ?? this.#turns.find(client.options.tenant, command.target)
    switch (command.type) {
      case 'turn-cancel':
        return answered(exchange, (meant ?? turn)?.cancel())
      case 'turn-steer':
        return answered(exchange, turn?.tellAgent(command))
      case 'turn-follow':
        if (exchange) await this.#follow(client, command.target, turn, exchange)
        return
      case 'ask-reply':
        await this.#answer(client, command, turn, exchange)
    }
  }

  /** Shows the whole turn, from its first event on. */
  async #follow(client: ClientLink, target: Target, turn: Turn | undefined, exchange: Exchange): Promise<void> {
    if (turn) return turn.join(exchange, 0)
    const id = typeof target === 'object' && 'turn' in target ? target.turn : undefined
    await this.#showPast(client, id, 0, exchange)
  }

  /** An answer to a question; one that comes with the token of a parked turn brings an exchange for the rest of it. */
  async #answer(
    client: ClientLink,
    command: CommandOf<'ask-reply'>,
    turn: Turn | undefined,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const { target } = command
    const by = `client ${client.options.context.principal ?? client.options.tenant}`
    if (typeof target !== 'object' || !('continuation' in target)) {
      return answered(exchange, turn?.answer(command, by))
    }
    const parked = await this.#parkedAt(target.continuation)
    if (!parked) return exchange?.fail(UNKNOWN)
    if (exchange && turn) await turn.join(exchange, parked.seq)
    const taken = turn?.answer(command, by)
    if (!exchange || taken) return
    // Nobody waited for it any longer: what has become of the turn is the answer.
    if (!turn) await this.#showPast(client, parked.turn, parked.seq, exchange)
  }

  /** Where the turn was parked under this token, from its record. */
  async #parkedAt(continuation: string): Promise<{ turn: string; seq: number } | undefined> {
    const turn = continuation.slice(0, continuation.lastIndexOf('.'))
    await this.#recorder.flush()
    const entries = await this.#store.readEvents(turn, 0)
    const parked = entries.find(({ json }) => {
      const event = JSON.parse(json) as { type: string; continuation?: string }
      return event.type === 'turn-parked' && event.continuation === continuation
    })
    return parked && { turn, seq: parked.seq }
  }

  async #showPast(client: ClientLink, id: string | undefined, after: number, exchange: Exchange): Promise<void> {
    const record = id === undefined ? undefined : await this.#store.readTurn(id)
    if (record?.tenant !== client.options.tenant) return exchange.fail(UNKNOWN)
    const session = (await this.#store.readSession(record.session))?.session ?? ''
    await showPast(this.#store, { record, session, after, request: record.request }, exchange)
  }
}

/** Answers a command, where the client waits for an answer: it was done, or what it means is over. */
function answered(exchange: Exchange | undefined, done: boolean | undefined): void {
  exchange?.reply(done ? {} : { fault: GONE })
}

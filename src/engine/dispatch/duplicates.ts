import { fault, textOf } from '../../model/index.ts'
import { cancelledTurn } from '../events/index.ts'
import { type Idempotency, type PastHost, showPast, type Verdict } from '../record/index.ts'
import { join, type Turn } from '../turn/index.ts'
import { type Entry, keyed, principalOf } from './entry.ts'

const CONFLICT = fault(
  'idempotency-conflict',
  'Another request has this id or idempotency key: it differs in more than the attempt. Send this one under a new one.',
)

/** Handles requests that begin no turn: they get the answer to an earlier request, or they answer a question. */
export class Duplicates {
  readonly #host: PastHost
  readonly #idempotency: Idempotency

  constructor(host: PastHost, idempotency: Idempotency) {
    this.#host = host
    this.#idempotency = idempotency
  }

  /** Answers a request by the verdict on its key. */
  async answer(verdict: Exclude<Verdict, { do: 'run' }>, entry: Entry): Promise<void> {
    const { exchange, command } = entry
    switch (verdict.do) {
      case 'stop':
        return exchange.fail(cancelledTurn(command.turn).fault!)
      case 'refuse':
        return exchange.fail(CONFLICT)
      case 'join':
        return this.#join(verdict.turn, entry)
      case 'replay':
        return this.#replay(verdict.turn, entry)
    }
  }

  /**
   * Handles a request without the token of the park that its session is in. It answers the question if its text is the
   * id of an option, else its client is asked again. It begins no turn, which would wait for the parked one.
   */
  async askAgain(turn: Turn, entry: Entry): Promise<void> {
    const { client, command, exchange } = entry
    const { continuation, seq, asks } = turn.questions!.parked!
    client.scope.shares?.('answered', turn.scope.carrier)
    await this.#idempotency.giveUp(keyed(entry))
    await join(turn, exchange, seq)
    if (exchange.ended) return
    const reply = { kind: 'approval', option: textOf(command.input).trim() } as const
    const [first] = asks
    const answer = {
      exchange: exchange.id,
      type: 'ask-reply',
      target: { continuation },
      ask: first!.ask,
      reply,
    } as const
    const became = turn.answer(answer, principalOf(client))
    // Its text answers nothing, and reaches nobody else.
    if (typeof became === 'object')
      exchange.lost({ kind: 'dropped', item: 'turn-start', why: 'policy', count: 1 }, 'request')
  }

  async #join(turn: Turn, { client, exchange }: Entry): Promise<void> {
    client.scope.shares?.('joined', turn.scope.carrier)
    await join(turn, exchange, 0)
    exchange.settleCancel()
  }

  async #replay(turn: string, { client, command, exchange }: Entry): Promise<void> {
    const record = await this.#host.store.readTurn(turn)
    if (!record) return exchange.fail(fault('internal', 'The record of the first answer is gone; use a new key.'))
    client.scope.shares?.('replayed', undefined)
    exchange.replays = true
    const session = command.session?.id ?? ''
    await showPast(this.#host, { record, session, after: 0, request: command.request }, exchange)
  }
}

import type { Store } from '../contract/index.ts'
import { type Command, fault, type Id, LossLedger, type TurnEvent, type TurnStart } from '../model/index.ts'
import type { Exchange } from './exchange.ts'
import { acceptedTurn } from './turn-events.ts'
import { LiveView } from './view.ts'

/** Answers an exchange from a turn's record, under the ids of the new request. */
export async function replay(
  store: Store,
  of: { turn: Id; session: string; agent: string; command: Command & TurnStart },
  exchange: Exchange,
): Promise<void> {
  const entries = await store.readEvents(of.turn, 0)
  const events = entries.map((entry) => JSON.parse(entry.json) as TurnEvent)
  if (events.at(-1)?.type !== 'turn-end') {
    exchange.fail(fault('internal', 'The record of the first answer is gone; send the request with a new key.'))
    return
  }
  const identity = { turn: of.turn, session: of.session, agent: of.agent }
  const view = new LiveView({ ...identity, at: Date.now(), ledger: new LossLedger() })
  for (const event of events) {
    const told: TurnEvent =
      event.type === 'turn-accepted' ? acceptedTurn(of.turn, 'replayed', of.session, of.command.request) : event
    view.apply(told, Date.now())
    exchange.deliver(told, view)
  }
}

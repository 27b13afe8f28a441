import { type Command, fault, type TurnStart } from '../../model/index.ts'
import { steeringLosses } from '../carry/index.ts'
import type { Exchange } from '../client/index.ts'
import { UNWRITABLE } from '../common/index.ts'
import { acceptedTurn, foldUpTo, reissue } from '../events/index.ts'
import type { Turn } from './turn.ts'

const CROWDED = fault(
  'overloaded',
  'As many requests as may follow this turn already do; end one of them, or read it when it has ended.',
)

/** Shows a further exchange the events of a turn after number `after`, then the rest as it comes. */
export async function join(turn: Turn, exchange: Exchange, after: number): Promise<void> {
  const { peers, view: own, scope, audience } = turn
  if (!peers.recorder.keeps(turn)) return exchange.fail(UNWRITABLE)
  if (audience.full) return exchange.fail(CROWDED)
  // An exchange that is shown the whole turn has the turn's start time.
  const view = turn.newView(own.session, after === 0 ? own.startedAt : scope.now())
  attach(turn, exchange)
  // Its end may come while the record is read.
  const catchUp = audience.addLate(exchange, view, () => (turn.ended ? own.at : scope.now()))
  const entries = await peers.recorder.events(turn)
  if (after > 0) view.continue(foldUpTo(turn.newView(own.session), entries, after))
  catchUp(entries.filter(({ seq }) => seq > after).map((entry) => reissue(entry, 'joined', joinedAs(exchange))))
}

/** True when a request for a turn of its own may be given to a running turn. */
export function maySteer(turn: Turn, { input }: TurnStart): boolean {
  return turn.inputRefusal(input) === undefined && !turn.audience.full
}

/**
 * Gives a request for a turn of its own to a running turn, and its exchange the rest of it. The agent gets only its
 * input.
 */
export function steer(turn: Turn, exchange: Exchange, command: Command & TurnStart): void {
  turn.tellAgent(command)
  for (const loss of steeringLosses(command)) exchange.lost(loss)
  const view = turn.newView(turn.view.session)
  view.continue(turn.view)
  attach(turn, exchange)
  turn.audience.add(exchange, view)
  exchange.deliver(acceptedTurn(turn.id, 'joined', turn.view.session, command.request), view)
}

function attach(turn: Turn, exchange: Exchange): void {
  exchange.turn = turn
  exchange.endsWhenJoined = turn.command.once?.duplicate === 'tell'
}

/** The client's id of the request that an exchange has joined with. */
function joinedAs({ command }: Exchange): string | undefined {
  return command.type === 'turn-start' ? command.request : undefined
}

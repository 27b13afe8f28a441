import type { Store, TurnRecord } from '../../contract/index.ts'
import { fault, type Id, type SidedLoss } from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import { cancelledTurn, foldUpTo, LiveView, numbered, reissue } from '../events/index.ts'
import { readTurn } from './recovery.ts'

/** The interval at which the record of a turn that another process runs is read, in milliseconds. */
const POLL_MS = 100

const NOT_KEPT = fault(
  'invalid-request',
  'This request has been answered, and what was said is not kept; send it under a new key to have it done again.',
)
const GONE = fault('internal', 'The record of this turn is gone; send the request with a new key.')

/** Dependencies of `showPast`. */
export interface PastHost {
  store: Store
  /** The time, in milliseconds since the epoch. */
  now(): number
}

/** A recorded turn as an exchange is shown it; it does not run in this process. */
export interface Past {
  record: TurnRecord
  /** The session's id as the client knows it. */
  session: string
  /** The last event that it has been shown before; 0 for none. */
  after: number
  /** The client's id of the request. */
  request: string | undefined
}

/**
 * Shows an exchange the recorded turn, and goes on as more is recorded while another process runs it. A turn whose
 * process has ended is ended first, so that nobody waits for ever.
 */
export async function showPast({ store, now }: PastHost, of: Past, exchange: Exchange): Promise<void> {
  const { record } = of
  const past = { ...record }
  exchange.past = past
  const newView = (): LiveView =>
    new LiveView({ turn: record.turn, session: of.session, agent: record.agent, at: record.startedAt })
  const view = newView()
  if (of.after > 0) view.continue(foldUpTo(newView(), numbered(await store.readEvents(record.turn, 0), 0), of.after))
  for (let after = of.after; ; ) {
    const { over, shape, endedAt, losses } = await stateOf(store, record.turn, now())
    if (losses) past.losses = losses
    // Without its content it would be an empty success.
    if (shape && !exchange.follows) return exchange.fail(NOT_KEPT)
    const entries = numbered(await store.readEvents(record.turn, after), after)
    for (const entry of entries) {
      const { seq, event } = reissue(entry, 'replayed', of.request)
      // The losses that its answer names are recorded with its end, after its events.
      if (event.type === 'turn-end' && !over) break
      after = seq
      // It keeps its times. No events between its beginning and its end are recorded.
      view.apply(event, event.type === 'turn-accepted' ? record.startedAt : (endedAt ?? now()), seq)
      exchange.deliver(event, view)
    }
    if (exchange.ended) return
    if (exchange.unwanted) return exchange.fail(cancelledTurn(record.turn).fault!)
    if (over) return exchange.fail(GONE)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** State of a turn by its record. */
interface State {
  /** Nothing more will be recorded: it has its end, which is recorded after its events. */
  over: boolean
  /** It has succeeded, and its events have no content. */
  shape: boolean
  endedAt: number | undefined
  losses: readonly SidedLoss[] | undefined
}

async function stateOf(store: Store, turn: Id, at: number): Promise<State> {
  const record = await readTurn(store, turn, at)
  const over = !record || record.outcome !== undefined
  const shape = record?.outcome === 'completed' && record.measures?.shape === true
  return { over, shape, endedAt: record?.endedAt, losses: record?.losses }
}

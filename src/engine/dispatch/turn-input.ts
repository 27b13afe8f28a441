import type { Store } from '../../contract/index.ts'
import {
  type Ask,
  type EventOf,
  type Fault,
  fault,
  type GivenResult,
  type Id,
  type InputReply,
  type JsonText,
  type Message,
  replyData,
  type TurnEvent,
} from '../../model/index.ts'
import { numbered } from '../events/index.ts'
import { earlierMessages } from '../record/index.ts'
import type { LiveTurns } from '../session/index.ts'
import { keepsContent, type Turn } from '../turn/index.ts'

const UNKNOWN = fault('session-not-found', 'There is no such turn.')
const NOT_KEPT = fault('session-not-found', 'What was said in this turn is not kept.')
const RUNS = fault('session-busy', 'The turn runs in another process; ask again when it has ended.')

/** The answer to the query `input`; `continuation` is the token of a park, or empty. */
export async function turnInput(
  known: { store: Store; turns: LiveTurns },
  tenant: string,
  id: Id,
  continuation: string,
): Promise<JsonText | Fault> {
  const { store, turns } = known
  const live = turns.get(id)
  const messages = live ? inputOf(live, tenant) : await recordedInput(store, tenant, id)
  if ('code' in messages) return messages
  const events = numbered(await store.readEvents(id, 0), 0).map(({ event }) => event)
  if (continuation === '') return replyData({ messages, ...extOf(events[0]) } satisfies InputReply)
  const since = events.findIndex((event) => event.type === 'turn-parked' && event.continuation === continuation)
  if (since < 0) return UNKNOWN
  const [parked, ...later] = events.slice(since) as [EventOf<'turn-parked'>, ...TurnEvent[]]
  const settled = later.find(({ type }) => type === 'ask-settled')
  return replyData({ messages: [], results: resultsOf(parked, later), ...extOf(settled) } satisfies InputReply)
}

function extOf(event: TurnEvent | undefined): Pick<InputReply, 'ext'> {
  return event?.ext ? { ext: event.ext } : {}
}

function inputOf(turn: Turn, tenant: string): readonly Message[] | Fault {
  const { command, view, session } = turn
  if (session.record.tenant !== tenant) return UNKNOWN
  if (!keepsContent(turn)) return NOT_KEPT
  const said: Message = { role: 'user', parts: command.input, at: view.startedAt }
  return [...earlierMessages(turn), ...(command.task === 'prompt' ? [said] : [])]
}

/** The conversation in the request, and the prompt: the first of the turn's own messages. */
async function recordedInput(store: Store, tenant: string, id: Id): Promise<readonly Message[] | Fault> {
  const record = await store.readTurn(id)
  if (record?.tenant !== tenant) return UNKNOWN
  if (record.measures?.shape) return NOT_KEPT
  const messages = await store.readTurnMessages(id)
  if (record.outcome === undefined || !messages) return RUNS
  const told = record.measures?.told ?? 0
  return messages.slice(0, messages[told]?.role === 'user' ? told + 1 : told)
}

/** The results that came for the calls of a park. */
function resultsOf(parked: EventOf<'turn-parked'>, later: readonly TurnEvent[]): GivenResult[] {
  const resultOf = ({ question }: Ask, place: number): GivenResult[] => {
    const isResult = (event: TurnEvent): event is EventOf<'tool-end'> =>
      event.type === 'tool-end' && question.kind === 'tool' && event.tool === question.tool
    const end = later.find(isResult)
    return end ? [{ at: place, status: end.status, parts: end.parts }] : []
  }
  return parked.asks.flatMap(resultOf)
}

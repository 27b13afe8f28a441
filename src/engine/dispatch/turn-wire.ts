import type { Store, TurnRecord } from '../../contract/index.ts'
import { type Command, type Id, type Message, parse, type TurnStart } from '../../model/index.ts'
import type { Wire } from '../common/index.ts'
import { type Numbered, numbered } from '../events/index.ts'
import type { LiveTurns } from '../session/index.ts'
import { maySee, type Viewer } from './lists.ts'

/** The wires of a turn: kept frames, or what they can be written from again. `back` is absent as long as it is not known. */
export type TurnWire = { agent: string; front: string; back?: string } & (
  | { kept: Wire }
  | { kept?: never; command: Command & TurnStart; events: readonly Numbered[] }
)

/**
 * The known wires of a turn; undefined when the viewer may see no turn of that id. `again`: what they
 * are written from again, also where they were kept.
 */
export async function turnWire(
  { store, turns }: { store: Store; turns: LiveTurns },
  id: Id,
  viewer: Viewer,
  again = false,
): Promise<TurnWire | undefined> {
  const record = await store.readTurn(id)
  if (!record || !maySee(viewer, record)) return undefined
  const { agent, front, measures } = record
  const live = turns.get(id)
  const back = live?.agent.protocol ?? measures?.back
  const about = { agent, front, ...(back !== undefined && { back }) }
  const kept = again ? undefined : live ? live.wire : await keptWire(store, id)
  if (kept) return { ...about, kept }
  const messages = live ? [] : ((await store.readTurnMessages(id)) ?? [])
  const session = (await store.readSession(record.session))?.session ?? ''
  const command = live?.command ?? commandOf(record, messages, session)
  return { ...about, command, events: numbered(await store.readEvents(id, 0), 0) }
}

async function keptWire(store: Store, id: Id): Promise<Wire | undefined> {
  const text = await store.readWire(id)
  return text === undefined ? undefined : (parse(text) as Wire)
}

/** The request of a recorded turn, as far as its messages show it: the conversation that it brought, and its prompt. */
function commandOf(record: TurnRecord, messages: readonly Message[], session: string): Command & TurnStart {
  const { turn, request, measures } = record
  const told = measures?.told ?? 0
  const prompt = messages[told]
  return {
    exchange: turn,
    session: { id: session },
    type: 'turn-start',
    turn,
    task: 'prompt',
    ...(request !== undefined && { request }),
    input: prompt?.role === 'user' ? prompt.parts : [],
    options: {},
    ...(told > 0 && { history: messages.slice(0, told) }),
  }
}

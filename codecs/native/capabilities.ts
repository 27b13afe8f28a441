import { type Capabilities, capabilities, type ItemRows } from '../../src/contract/index.ts'
import { ITEMS, type Item } from '../../src/model/index.ts'

/** A client on lines says and is shown all that there is. */
export const frontCapabilities: Capabilities = capabilities({ full: ITEMS })

/** Items that the gateway itself handles: that it took or parked a turn, and its knowledge of turns and sessions. */
const GATEWAY_ALONE: ItemRows = [
  ['turn-accepted', 'turn-parked', 'turn-follow', 'turn-delete', 'session-delete', 'session-fork'],
  // The process is the session: closing the one ends the other.
  'session-close',
  ['query.agent', 'query.agents', 'query.sessions', 'query.session', 'query.agent-sessions'],
  ['query.turns', 'query.turn', 'query.input'],
  // A fresh process that says it is ready is the answer.
  'query.health',
]

/** An agent gets and sends everything but what the gateway keeps to itself. */
export const backCapabilities: Capabilities = capabilities({ full: without(GATEWAY_ALONE) })

/** Commands that have requests of their own over HTTP, and the events that answer them. */
const OTHER_REQUESTS: ItemRows = [
  ['turn-cancel', 'turn-follow', 'turn-steer', 'turn-delete', 'config-set', 'query', 'command-reply'],
  ['session-open', 'session-close', 'session-clear', 'session-delete', 'session-fork'],
  ITEMS.filter((item) => item.startsWith('query.')),
]

/** Items that a stream shows and a whole answer, which is a summary of the turn, does not. */
const STREAM_ALONE: ItemRows = [['step-start', 'step-end', 'plan', 'terminal-output', 'tool-progress', 'usage.session']]

/** A request over HTTP is one turn, or the answer that a parked one waits for. */
export const httpCapabilities: Capabilities = capabilities({
  full: without([...OTHER_REQUESTS, ...STREAM_ALONE]),
  partial: STREAM_ALONE,
})

/** The capabilities of a client that asks about turns and sessions, and starts none. */
const RESOURCES: ItemRows = [
  ['turn-cancel', 'turn-follow', 'ask-reply', 'turn-delete', 'session-delete', 'session-fork'],
  ['query', 'query.sessions', 'query.session', 'query.agent-sessions', 'query.turns', 'query.turn', 'query.input'],
]

/** Items that other requests about a turn or a session ask for, before the items of the answer. */
const ASKED: readonly Item[] = ITEMS.slice(0, ITEMS.indexOf('part.text'))

/** A request for what there is; who follows a turn is shown all of it. */
export const resourceCapabilities: Capabilities = capabilities({
  full: without(ASKED.filter((item) => !RESOURCES.flat().includes(item))),
})

function without(items: ItemRows): Item[] {
  const left = items.flat()
  return ITEMS.filter((item) => !left.includes(item))
}

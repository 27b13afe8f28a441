import { type Capabilities, capabilities } from '../../src/contract/index.ts'
import { ITEMS, type Item } from '../../src/model/index.ts'

/** A client on lines says and is shown all that there is. */
export const frontCapabilities: Capabilities = capabilities({ full: ITEMS })

/** What the gateway says or does itself: that it took a turn or parks it, what it knows of turns and sessions. */
const GATEWAY_ALONE: readonly Item[] = [
  'turn-accepted',
  'turn-parked',
  'turn-follow',
  'session-delete',
  // The process is the session: closing the one ends the other.
  'session-close',
  'query.agents',
  'query.sessions',
  'query.session',
  'query.turns',
  'query.turn',
  // A fresh process that says it is ready is the answer.
  'query.health',
]

/** An agent says and is told everything but what the gateway keeps to itself. */
export const backCapabilities: Capabilities = capabilities({ full: without(GATEWAY_ALONE) })

/** Commands that have requests of their own over HTTP, and the events that answer them. */
const OTHER_REQUESTS: readonly Item[] = [
  'turn-cancel',
  'turn-follow',
  'turn-steer',
  'session-open',
  'session-close',
  'session-clear',
  'session-delete',
  'config-set',
  'query',
  'command-reply',
  ...ITEMS.filter((item) => item.startsWith('query.')),
]

/** What a stream shows and a whole answer, which is a summary of the turn, does not. */
const STREAM_ALONE: readonly Item[] = [
  'step-start',
  'step-end',
  'plan',
  'terminal-output',
  'tool-progress',
  'usage.session',
]

/** A request over HTTP is one turn, or the answer that a parked one waits for. */
export const httpCapabilities: Capabilities = capabilities({
  full: without([...OTHER_REQUESTS, ...STREAM_ALONE]),
  partial: STREAM_ALONE,
})

/** What a client of the turns and sessions that there are asks for; it starts none. */
const RESOURCES: readonly Item[] = [
  'turn-cancel',
  'turn-follow',
  'ask-reply',
  'session-delete',
  'query',
  'query.sessions',
  'query.session',
  'query.turns',
  'query.turn',
]
/** What is asked of a turn or a session otherwise: the items in front of those that are told. */
const ASKED: readonly Item[] = ITEMS.slice(0, ITEMS.indexOf('part.text'))

/** A request for what there is; who follows a turn is shown all of it. */
export const resourceCapabilities: Capabilities = capabilities({
  full: without(ASKED.filter((item) => !RESOURCES.includes(item))),
})

function without(items: readonly Item[]): Item[] {
  return ITEMS.filter((item) => !items.includes(item))
}

import type { Capabilities, Level } from '../../contract/index.ts'
import { type Command, type Fault, fault, ITEMS, type Item, type Loss, type TurnStart } from '../../model/index.ts'
import { dropped, isServedHere, startItems } from './carry.ts'
import { holderOf, isWeakening } from './carry-members.ts'

/**
 * The outcome of an item on its way from one side of a pair to the other. `served`: the gateway itself serves it.
 * `absent`: the protocol of the side that would send it does not have it.
 */
export type Carriage = 'kept' | 'weakened' | 'lost' | 'served' | 'absent'

/** The most items that a refusal names. */
const NAMED_LIMIT = 12

/** Origin of an item: the client, the agent, either of them, or the gateway, which gives every turn its shape. */
type Source = 'front' | 'back' | 'both' | 'gateway'

const SOURCE_OF_GROUP: Readonly<Record<string, Source>> = {
  start: 'front',
  option: 'front',
  session: 'front',
  query: 'front',
  part: 'both',
  usage: 'back',
  ask: 'back',
  end: 'back',
  fault: 'back',
  message: 'back',
  tool: 'back',
  notice: 'back',
  reasoning: 'back',
}

const SOURCES: Readonly<Record<Item, Source>> = Object.fromEntries(
  ITEMS.map((item) => [item, sourceOf(item)]),
) as Record<Item, Source>

function sourceOf(item: Item): Source {
  const [group = '', member] = item.split('.', 2)
  if (member !== undefined) return SOURCE_OF_GROUP[group]!
  switch (item) {
    case 'turn-start':
    case 'turn-cancel':
    case 'turn-follow':
    case 'turn-steer':
    case 'turn-delete':
    case 'ask-reply':
    case 'session-open':
    case 'session-close':
    case 'session-clear':
    case 'session-delete':
    case 'session-fork':
    case 'config-set':
    case 'query':
      return 'front'
    case 'turn-accepted':
    case 'turn-started':
    case 'turn-parked':
    case 'turn-end':
    case 'message-start':
    case 'message-end':
    case 'reasoning-end':
      return 'gateway'
    case 'foreign':
    case 'ext':
      return 'both'
    default:
      return 'back'
  }
}

/** Parts that only agents send. */
const OF_AGENTS: ReadonlySet<Item> = new Set(['part.reasoning', 'part.tool-call', 'part.diff'])

/** From the best to the worst, for items that both sides send. */
const ORDER: readonly Carriage[] = ['absent', 'kept', 'served', 'weakened', 'lost']

/**
 * Predicts the way of each item between a client and an agent whose halves carry this. `same` says that both speak one
 * dialect: then what is read of it is written again as it was.
 */
export function predictPair(front: Capabilities, back: Capabilities, same = false): Readonly<Record<Item, Carriage>> {
  const carriage = (item: Item): Carriage => {
    const ways = {
      front: () => towardsAgent(item, front[item], back[item], same),
      back: () => carried(back[item], front[item], same),
    }
    switch (SOURCES[item]) {
      case 'front':
        return ways.front()
      case 'back':
        return beside(item, front, back) ?? memberWay(item, front, ways.back())
      case 'gateway':
        return shaped(item, front)
      case 'both':
        if (isBeyond(item)) return worst(beyond(front[item], back[item], same), beyond(back[item], front[item], same))
        if (OF_AGENTS.has(item)) return answers(item, back) ? ways.back() : 'absent'
        // Within one dialect a part that has a place in one direction only is sent in that direction only.
        if (same && front[item] !== back[item]) return 'kept'
        return answers(item, back) ? worst(ways.front(), ways.back()) : ways.front()
    }
  }
  return Object.fromEntries(ITEMS.map((item) => [item, carriage(item)])) as Record<Item, Carriage>
}

function towardsAgent(item: Item, front: Level, back: Level, same: boolean): Carriage {
  const way = carried(front, back, same)
  return way === 'lost' && isServedHere(item) ? 'served' : way
}

function carried(source: Level, target: Level, same: boolean): Carriage {
  if (source === 'none') return 'absent'
  if (target === 'none') return 'lost'
  return !same && (source === 'partial' || target === 'partial') ? 'weakened' : 'kept'
}

/** A member is lost with what holds it; else the event is shown without it. */
function memberWay(item: Item, front: Capabilities, way: Carriage): Carriage {
  if (way !== 'lost' || !isWeakening(item)) return way
  const holder = holderOf(item)
  return holder !== undefined && front[holder] === 'none' ? way : 'weakened'
}

/** Items of no turn: the gateway takes them in itself, and only a client that has asked something waits for an answer. */
function beside(item: Item, front: Capabilities, back: Capabilities): Carriage | undefined {
  if (front[item] !== 'none') return undefined
  if (item === 'command-reply') return 'absent'
  return (item === 'agent-ready' || item === 'session-bound') && back[item] !== 'none' ? 'served' : undefined
}

/**
 * Every client sees the shape of its turn. Only turns of clients that can go on with a parked turn are parked, and only
 * clients that see blocks of reasoning see their ends.
 */
function shaped(item: Item, front: Capabilities): Carriage {
  if ((item === 'turn-parked' || item === 'reasoning-end') && front[item] === 'none') return 'absent'
  return front[item] === 'partial' ? 'weakened' : 'kept'
}

/** Items without a counterpart in the model. */
function isBeyond(item: Item): boolean {
  return item === 'foreign' || item === 'ext'
}

/** `partial` means: only those of its own dialect. */
function beyond(source: Level, target: Level, same: boolean): Carriage {
  if (source === 'none') return 'absent'
  return target === 'full' || (same && target === 'partial') ? 'kept' : 'lost'
}

/**
 * True when the whole answer of an agent may hold this besides its events: protocols without tools answer with text
 * alone, and what has its own event is not repeated.
 */
function answers(item: Item, back: Capabilities): boolean {
  switch (item) {
    case 'part.reasoning':
      // A message that comes whole has no deltas.
      return true
    case 'part.tool-call':
    case 'part.tool-reply':
      return back['tool-call'] === 'none' && back['tool-end'] !== 'none'
    default:
      return !item.startsWith('part.') || item === 'part.text' || back['tool-end'] !== 'none'
  }
}

function worst(a: Carriage, b: Carriage): Carriage {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b
}

/**
 * Predicts the losses of a request before its turn is started: items that the agent's protocol has no place for or
 * weakens, as carrying it reports them.
 */
export function predictRequest(back: Capabilities, command: Command & TurnStart, same: boolean): Loss[] {
  return startItems(command).flatMap(({ item, count }) => {
    if (item === 'ext') return beyond('full', back[item], same) === 'lost' ? dropped(item, count) : []
    if (back[item] === 'none') return isServedHere(item) ? [] : dropped(item, count)
    return back[item] === 'partial' && !same ? weakened(item, count) : []
  })
}

/** Predicts the losses of an answer between two dialects: items that the agent's may send and the client's cannot show. */
export function predictAnswer(front: Capabilities, back: Capabilities): Loss[] {
  const pair = predictPair(front, back)
  const lost = (item: Item): boolean => pair[item] === 'lost'
  return ITEMS.flatMap((item) => {
    if (!OF_ANSWERS.has(item) || !answers(item, back)) return []
    // A member is not lost again when its event is lost.
    if (item.startsWith('usage.') && lost('usage')) return []
    if ((item.startsWith('ask.') || item === 'ask-settled') && lost('ask')) return []
    const holder = holderOf(item)
    if (holder !== undefined && lost(holder)) return []
    const way = memberWay(item, front, carried(back[item], front[item], false))
    if (way === 'lost') return dropped(item)
    return way === 'weakened' ? weakened(item, 1) : []
  })
}

/** Items that the answer of a turn may hold. Frames and fields beyond the protocol cannot be foreseen. */
const OF_ANSWERS: ReadonlySet<Item> = new Set(
  ITEMS.filter((item) => {
    const beyond: readonly Item[] = [
      'agent-ready',
      'session-bound',
      'session-changed',
      'command-reply',
      'foreign',
      'ext',
    ]
    return (SOURCES[item] === 'back' || SOURCES[item] === 'both') && !beyond.includes(item)
  }),
)

function weakened(item: Item, count: number): Loss {
  return { kind: 'weakened', item, why: 'too-narrow', count }
}

/**
 * The fault with which a route that takes no losses refuses a turn: the request holds something that would be dropped
 * or weakened, or the agent's protocol may say something that the client's has no place for. Undefined when it may run.
 * `demanded` are items that the client's protocol requires in every request, which are no reason to refuse.
 */
export function strictRefusal(
  front: Capabilities,
  back: Capabilities,
  command: Command & TurnStart,
  same: boolean,
  demanded: readonly Item[] = [],
): Fault | undefined {
  const request = predictRequest(back, command, same).flatMap(({ item }) => (demanded.includes(item) ? [] : item))
  const answer = same ? [] : predictAnswer(front, back).filter(({ kind }) => kind === 'dropped')
  const items = [...new Set([...request, ...answer.map(({ item }) => item)])]
  return items.length === 0 ? undefined : lossyRefusal(items)
}

/** The fault with which a route that takes no losses refuses a request that would lose these items. */
export function lossyRefusal(items: readonly Item[]): Fault {
  const named = items.slice(0, NAMED_LIMIT).join(', ')
  const rest = items.length > NAMED_LIMIT ? ` and ${items.length - NAMED_LIMIT} more` : ''
  return fault(
    'lossy-refused',
    `This route takes no losses, and between these two protocols some would be lost: ${named}${rest}. ` +
      'Leave them out, choose another agent, or set "loss: report" on the route.',
  )
}

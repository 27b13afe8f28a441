import type { Capabilities } from '../../contract/index.ts'
import { type Command, type Item, itemsOf, type Loss, type TurnEvent, type TurnStart } from '../../model/index.ts'
import { carryInput, type Drop } from './request-parts.ts'

/** Receives what is dropped. */
export type ReportLoss = (loss: Loss) => void

/** Events that give a turn its shape: every front gets them. */
const SHAPE: ReadonlySet<TurnEvent['type']> = new Set([
  'turn-accepted',
  'turn-started',
  'turn-parked',
  'turn-end',
  'message-start',
  'message-end',
])

/** True when the front can show the event, if not all that is in it; the caller reports what it cannot. */
export function carriesEvent(capabilities: Capabilities, event: TurnEvent): boolean {
  if (SHAPE.has(event.type)) return true
  if (event.type === 'ask') return capabilities.ask !== 'none' && capabilities[`ask.${event.question.kind}`] !== 'none'
  return capabilities[event.type] !== 'none'
}

/** The loss of an item that the other side has no place for. */
export function dropped(item: Item, count = 1): Loss {
  return { kind: 'dropped', item, why: 'no-place', count }
}

const START_ITEMS = (
  [
    'request',
    'agent',
    'user',
    'once',
    'invocation',
    'history',
    'clientTools',
    'askedCapabilities',
    'environment',
    'cwd',
    'folders',
    'mcpServers',
  ] as const satisfies readonly (keyof TurnStart)[]
).map((key) => [key, `start.${key}`] as const)

const OPTIONS = itemsOf('option')
const SESSION = itemsOf('session')

/** Items that the gateway itself serves for every agent: losing one towards the agent loses nothing for the client. */
const SERVED_HERE: ReadonlySet<Item> = new Set([
  'start.request',
  'start.agent',
  'start.once',
  'start.askedCapabilities',
  'option.streaming',
  'option.totalMs',
  'session.id',
  'session.conversation',
  'session.channel',
  'session.name',
  'turn-cancel',
  'turn-follow',
  'turn-delete',
  'session-close',
  'session-clear',
  'session-delete',
  'session-fork',
  'query',
  'query.state',
  'query.messages',
  'query.models',
  'query.agent',
  'query.agents',
  'query.sessions',
  'query.session',
  'query.turns',
  'query.turn',
  'query.input',
  'query.health',
])

/** True for what the gateway does itself where the agent's protocol does not have it. */
export function isServedHere(item: Item): boolean {
  return SERVED_HERE.has(item)
}

/** The items that a turn-start holds, each with its count. */
export function startItems(command: Command & TurnStart): { item: Item; count: number }[] {
  const counts = new Map<Item, number>()
  visitStart(command, (item) => {
    counts.set(item, (counts.get(item) ?? 0) + 1)
    return false
  })
  return [...counts].map(([item, count]) => ({ item, count }))
}

/**
 * The command without what the back has no place for. Every removal is reported, except what the gateway serves itself.
 * Parts and their `ext` are removed from the input, options and session fields from their objects; the command itself
 * is not changed.
 */
export function carryStart(
  capabilities: Capabilities,
  command: Command & TurnStart,
  report: ReportLoss,
): Command & TurnStart {
  const surroundings = onlySurroundings(command)
  const carried = visitStart(command, (item, field) => {
    if (capabilities[item] !== 'none') return false
    if (item === 'start.environment' && surroundings !== undefined) report({ ...dropped(item), kind: 'weakened' })
    else if (!SERVED_HERE.has(item)) report(field === undefined ? dropped(item) : { ...dropped(item), field })
    return true
  })
  if (surroundings === undefined || carried.environment) return carried
  return { ...carried, input: [{ type: 'text', text: surroundings }] }
}

/** The client's context in place of a prompt, for an agent that has no place for context. */
function onlySurroundings({ task, input, invocation, environment }: TurnStart): string | undefined {
  const blank = input.every((part) => part.type === 'text' && part.text.trim() === '')
  return task === 'prompt' && blank && !invocation ? environment?.json : undefined
}

/** Losses of a request for a turn whose input goes to a running turn. */
export function steeringLosses(command: Command & TurnStart): Loss[] {
  return startItems(command)
    .filter(({ item }) => !item.startsWith('part.') && item !== 'citation' && !SERVED_HERE.has(item))
    .map(({ item, count }) => ({ kind: 'dropped', item, why: 'policy', count }))
}

/** The command without the items for which `drop` gives true; it is called once for each item. */
function visitStart(command: Command & TurnStart, drop: Drop): Command & TurnStart {
  const isPlain = command.task === 'compact' && drop('start.compact')
  const lost: string[] = []
  for (const [key, item] of START_ITEMS) if (command[key] !== undefined && drop(item)) lost.push(key)
  if (command.ext && drop('ext')) lost.push('ext')
  const history = lost.includes('history') ? undefined : command.history
  const input = carryInput(command, history, drop)
  const kept = without(command, (key) => lost.includes(key))
  const carried = kept === command ? { ...command } : kept
  carried.input = input
  carried.options = without(command.options, (key) => drop(OPTIONS[key]!))
  if (command.session) {
    carried.session = without(command.session, (key) => key !== 'bound' && key !== 'origin' && drop(SESSION[key]!))
  }
  return isPlain ? { ...carried, task: 'prompt' } : carried
}

/**
 * The object without the members that `drops` says yes to and without undefined ones; the object itself where there are
 * none. It is copied member by member, because an object of which members were deleted is slow.
 */
export function without<T extends object>(fields: T, drops: (key: keyof T & string) => boolean): T {
  const gone: string[] = []
  for (const key in fields) if (fields[key] === undefined || drops(key)) gone.push(key)
  if (gone.length === 0) return fields
  const kept = {} as T
  for (const key in fields) if (!gone.includes(key)) kept[key] = fields[key]
  return kept
}

import { isBlank, isPlaceholder } from '../../codecs/zene/text.ts'
import { codeOfProviderText } from '../../src/codec-kit/index.ts'
import type { Capabilities } from '../../src/contract/index.ts'
import { predictAnswer } from '../../src/engine/carry/predict.ts'
import { type LiveView, viewOf } from '../../src/engine/events/view.ts'
import {
  type AgentEvent,
  type AskOption,
  type EventOf,
  type Item,
  isRecord,
  isRetryable,
  type Loss,
  type Part,
  parse,
  type ToolStatus,
  type TurnEvent,
} from '../../src/model/index.ts'

/**
 * What a recording must lose on its way to a reader: of what is predicted for the pair, that which is in the recording.
 *
 * - What has no place at the reader (`dropped`) is in a recording that says it: its event, its field of usage, its kind
 *   of question, or a part that no event of its own tells.
 * - What has a place in part (`weakened`) is in a recording that says of it what does not fit; `narrow` says what that is.
 * - What the reader demands (`invented`) is in a recording that does not say it.
 * - What is beyond the protocol (`ext`, `foreign`) is in a recording that has it of another protocol than the reader's.
 * - What reading the recording itself loses is lost whoever reads it.
 */

/** A recorded turn, and its events. */
interface Turn {
  view: LiveView
  events: readonly TurnEvent[]
}

type When = (turn: Turn) => boolean

/** Where a part stands. */
type Place = 'message-end' | 'tool-progress' | 'tool-end'
/** What becomes of a part that a front has a place for in part. */
type PartWay = (part: Part, place: Place) => 'dropped' | 'weakened' | undefined

/** What a front makes of what it carries in part. */
interface Reader {
  /** Whose extensions it writes; absent: all. */
  own?: readonly string[]
  /** What becomes of parts that it carries in part; absent: they are kept. */
  parts?: PartWay
  /** What of an item does not fit; an item that is carried in part and not named here never fits whole. */
  narrow?: Partial<Record<Item, When>>
  /** What it makes up. */
  invents?: Partial<Record<Item, When>>
  /** What it keeps back because of the form of its answer. */
  withholds?: Partial<Record<Item, When>>
  /** It cannot be asked on its wire. */
  unasked?: true
  /** What sub-agents say has no place. */
  oneLane?: true
  /** It has shown the pieces of a message, and has no place for its whole text behind them. */
  inPieces?: true
  /** It greets with a model: the one that its client named, if no other is known. */
  namesModel?: true
}

const never: When = () => false

/** Fronts that cannot take back what they have shown. */
const shown: When = ({ events }) => {
  const spoken = new Set<string>()
  return events.some((event) => {
    if (event.type === 'text-delta' && event.text !== '') spoken.add(event.message)
    return event.type === 'message-retract' && !event.keepText && spoken.has(event.message)
  })
}

/** A model call that says nothing. */
const wordless: When = ({ events }) => {
  let said = true
  return events.some((event) => {
    if (event.lane !== undefined) return false
    if (event.type === 'step-start') said = false
    else if (event.type === 'step-end') return !said
    else said ||= event.type === 'tool-call' || event.type === 'tool-end' || holdsText(event)
    return false
  })
}

function holdsText(event: TurnEvent): boolean {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') return event.text !== ''
  return event.type === 'message-end' && (event.parts ?? []).some((part) => part.type !== 'text' || part.text !== '')
}

/** Fronts that do not know this ending of a tool. */
const ends =
  (...statuses: readonly ToolStatus[]): When =>
  ({ events }) =>
    events.some((event) => event.type === 'tool-end' && statuses.includes(event.status))

/** Fronts that can be told one consent and one refusal, both for this once, and objects as arguments. */
const beyondYesAndNo: When = ({ events }) =>
  events.some(({ type, ...event }) => {
    if (type !== 'ask') return false
    const { question } = event as EventOf<'ask'>
    return question.kind === 'approval' && (!isPlain(question.options) || !isRecord(parse(question.args)))
  })

function isPlain(options: readonly AskOption[]): boolean {
  return (
    new Set(options.map(({ kind }) => kind)).size === options.length && options.every(({ scope }) => scope === 'once')
  )
}

/** A provider's failure whose words do not tell which it was, to readers that have nothing else. */
const miscalled: When = ({ view }) => {
  const fault = view.end?.outcome === 'failed' ? view.end.fault : undefined
  return fault?.code.startsWith('provider-') === true && codeOfProviderText(fault.message) !== fault.code
}

/** Its text has not the answer's place alone. */
const mixed: When = ({ events }) =>
  events.some((event) => event.type === 'message-start' && event.phase === 'commentary')

const failsAsZene: When = ({ view }) =>
  view.end?.outcome !== 'completed' || isBlank(view.text) || isPlaceholder(view.text)

/** The usage that a front with model calls writes lacks this count. */
const uncounted =
  (field: 'input' | 'output' | 'costUsd'): When =>
  ({ events }) => {
    const all = events.filter((event) => event.type === 'usage' && event.lane === undefined) as EventOf<'usage'>[]
    const calls = all.filter(({ scope }) => scope === 'call')
    const written = calls.length > 0 ? calls : all.filter(({ scope }) => scope === 'turn')
    return written.some(({ usage }) => Object.values(usage).some((count) => count > 0) && usage[field] === undefined)
  }

/** Notices that readers of zot know by what they are written as; that an answer is empty is not written. */
const OF_ZOT: ReadonlySet<string> = new Set([
  'ext-display',
  'ext-notify',
  'agent-error',
  'partial-answer',
  'empty-answer',
])

/** Stops that a result of Qwen Code does not tell. */
const OF_LIMITS: ReadonlySet<string> = new Set([
  'max-tokens',
  'max-turns',
  'refusal',
  'content-filter',
  'stop-sequence',
])

/** Every front that recordings are read by. */
const READERS: Readonly<Record<string, Reader>> = {
  'zene@host': {
    own: ['zene'],
    narrow: {
      'part.text': (turn) => !failsAsZene(turn) && !turn.view.text.isWellFormed(),
      // A flat answer is shown at its end.
      'message-retract': never,
    },
    invents: { 'usage.total': (turn) => !failsAsZene(turn) && !countsTokens(turn.view) },
    withholds: { 'text-delta': (turn) => failsAsZene(turn) && turn.view.text !== '' },
  },
  'zot@rpc': {
    own: ['zot'],
    parts: (part, place) => {
      if (place === 'tool-progress') return 'dropped'
      if (part.type !== 'image') return 'weakened'
      return (part.url ?? part.ref ?? part.base64 ?? part.name) === undefined ? undefined : 'weakened'
    },
    narrow: {
      'tool-end': ends('denied', 'cancelled'),
      'message-retract': shown,
      'fault.code': miscalled,
      'notice.code': ({ events }) =>
        events.some((event) => event.type === 'notice' && event.lane === undefined && !OF_ZOT.has(event.code)),
      // Only compactions have one, which is shown.
      'end.summary': never,
    },
    invents: {
      'usage.input': uncounted('input'),
      'usage.output': uncounted('output'),
      'usage.costUsd': uncounted('costUsd'),
    },
    oneLane: true,
  },
  'openharness@v1': {
    own: ['openharness'],
    // A whole answer shows no tools, and of messages what can be a reference.
    parts: (part, place) =>
      place !== 'message-end' || ('url' in part && part.url !== undefined) ? undefined : 'dropped',
    // A whole answer shows neither thoughts nor tools; each tool is one loss.
    narrow: Object.fromEntries(
      (
        [
          'reasoning-delta',
          'part.reasoning',
          'tool-start',
          'tool-args-delta',
          'tool-call',
          'tool-progress',
          'tool-end',
        ] as const
      ).map((item) => [item, never]),
    ),
    withholds: {
      'reasoning-delta': ({ view }) => view.messages.some(({ reasoning }) => reasoning !== ''),
      'tool-call': ({ view }) => view.tools.length > 0,
      'tool-progress': ({ events }) => events.some(({ type }) => type === 'tool-progress'),
    },
    unasked: true,
  },
  'agentproc@0.1': {
    own: ['agentproc'],
    parts: () => 'dropped',
    narrow: {
      'part.text': ({ view }) => view.messages.some(({ streamed, text }) => !streamed && text.includes('\r')),
      'message-retract': shown,
      'fault.code': miscalled,
      'message.phase': mixed,
    },
    inPieces: true,
  },
  'agentproc@0.4': {
    own: ['agentproc@0.4', 'agentproc'],
    parts: () => 'dropped',
    narrow: {
      // What is lost of a question is told by its kind.
      ask: never,
      'ask.approval': beyondYesAndNo,
      // A cancel answers what is open; else nothing takes a question back.
      'ask-settled': ({ view, events }) =>
        view.end?.outcome !== 'cancelled' && events.some(({ type }) => type === 'ask-settled'),
      'message-retract': shown,
      'fault.code': miscalled,
      'message.phase': mixed,
    },
  },
  'qwen@rfc': {
    own: ['qwen'],
    parts: (part, place) => {
      if (place === 'message-end') return 'dropped'
      if (part.type === 'diff') return undefined
      if (part.type !== 'data') return 'dropped'
      const shown = parse(part.json)
      return isRecord(shown) && typeof shown['kind'] === 'string' ? undefined : 'weakened'
    },
    narrow: {
      'tool-end': ends('denied'),
      'message-retract': shown,
      'end.stop': ({ view }) => ['stop-sequence', 'refusal', 'error'].includes(view.end?.stop ?? ''),
      'tool.executor': never,
      'end.summary': never,
    },
    oneLane: true,
    inPieces: true,
  },
  'qwen-code@code': {
    own: ['qwen-code'],
    parts: (part, place) => {
      if (place === 'message-end') return 'dropped'
      if (place === 'tool-end') return 'weakened'
      return part.type === 'data' ? undefined : 'dropped'
    },
    narrow: {
      'ask.approval': beyondYesAndNo,
      'tool-call': ({ view }) => view.tools.some(({ args }) => !isRecord(parse(args))),
      // A call is shown once it is whole, with its name: in the end its pieces are not missing.
      'tool-start': ({ events }) =>
        events.some((event) => event.type === 'tool-start' && (event.kind ?? event.title) !== undefined),
      'tool-args-delta': never,
      // Its client wants the pieces.
      'tool-progress': never,
      'step-start': wordless,
      'end.stop': ({ view }) => view.end?.outcome === 'completed' && OF_LIMITS.has(view.end.stop ?? ''),
      'step-end': ({ events }) =>
        events.some(({ type, ...event }) => type === 'step-end' && 'stop' in event && event.stop === 'max-tokens'),
    },
    namesModel: true,
  },
  'native@lines': {},
}

/** A recording as its own protocol's back reads it. */
export interface Held {
  events: readonly AgentEvent[]
  /** What reading it loses. */
  losses: readonly Loss[]
  /** Its client named a model. */
  asksModel: boolean
}

/** The losses of a recording at a reader, each as `kind item`. */
export function losses(reader: string, front: Capabilities, back: Capabilities, held: Held): ReadonlySet<string> {
  const { own, narrow, invents = {}, withholds = {}, unasked, oneLane, inPieces, namesModel } = READERS[reader]!
  const items = itemsIn(held.events)
  const turns = turnsOf(held.events)
  const found = new Set(held.losses.map(nameOf))
  const some = (when: Partial<Record<Item, When>>, kind: Loss['kind']): void => {
    for (const [item, holds] of Object.entries(when)) if (turns.some(holds)) found.add(`${kind} ${item}`)
  }
  for (const loss of predictAnswer(front, back)) {
    if (isHeld(loss.item) || !items.has(loss.item) || (unasked && loss.item.startsWith('ask'))) continue
    if (loss.kind === 'dropped' || turns.some(narrow?.[loss.item] ?? (() => true))) found.add(nameOf(loss))
  }
  for (const name of partLosses(held.events, front, READERS[reader]!.parts)) found.add(name)
  if (own && protocolsIn(held.events, 'ext').some((protocol) => !own.includes(protocol))) found.add('dropped ext')
  if (own && protocolsIn(held.events, 'foreign').some((protocol) => !own.includes(protocol)))
    found.add('dropped foreign')
  if (unasked && items.has('ask')) found.add('dropped ask')
  if (oneLane) for (const item of lanedIn(held.events, front)) found.add(`dropped ${item}`)
  if (inPieces && held.events.some((event) => event.type === 'message-end' && event.revised))
    found.add('weakened message-end')
  if (namesModel && !held.asksModel && turns.length > 0) found.add('invented turn-started')
  some(invents, 'invented')
  some(withholds, 'dropped')
  return found
}

/** Parts that are in messages and tools as what they are. Text and thoughts have events of their own. */
function isHeld(item: Item): boolean {
  return /^part\.(?:image|audio|file|data|diff)$/.test(item)
}

/** What is lost of parts where they stand: one whose event has no place goes with it. */
function partLosses(events: readonly AgentEvent[], front: Capabilities, way: PartWay = () => undefined): string[] {
  return turnsOf(events).flatMap(({ view, events: all }) =>
    all.flatMap((event) => {
      if (event.type !== 'message-end' && event.type !== 'tool-end' && event.type !== 'tool-progress') return []
      if (event.lane !== undefined || (event.type !== 'message-end' && front[event.type] === 'none')) return []
      const parts = event.type === 'message-end' ? untold(event, view) : event.parts
      return parts
        .filter(({ type }) => isHeld(`part.${type}`))
        .flatMap((part) => {
          const level = front[`part.${part.type}`]
          const lost = level === 'none' ? 'dropped' : level === 'partial' ? way(part, event.type) : undefined
          return lost === undefined ? [] : [`${lost} part.${part.type}`]
        })
    }),
  )
}

/** A loss without its field and count. */
export function nameOf({ kind, item }: Loss): string {
  return `${kind} ${item}`
}

/** The items that the turns of a recording say. */
function itemsIn(events: readonly AgentEvent[]): ReadonlySet<Item> {
  const items = new Set<Item>()
  const add = (part: Part): void => {
    items.add(`part.${part.type}`)
    if (part.type === 'tool-reply') part.parts.forEach(add)
  }
  for (const { view, events: all } of turnsOf(events)) {
    for (const event of all) {
      // That an answer is empty is to be seen without a word.
      if (event.type === 'notice' && event.code === 'empty-answer') continue
      items.add(event.type)
      for (const item of unusualIn(event)) items.add(item)
      if (event.type === 'text-delta') items.add('part.text')
      else if (event.type === 'ask') items.add(`ask.${event.question.kind}`)
      else if (event.type === 'usage') {
        for (const field of Object.keys(event.usage)) items.add(`usage.${field}` as Item)
        if (event.estimated) items.add('usage.estimated')
      } else if (event.type === 'tool-end' || event.type === 'tool-progress') event.parts.forEach(add)
      else if (event.type === 'message-end') untold(event, view).forEach(add)
    }
  }
  return items
}

/** The members of an event that only some have, or that have another value than the usual one. */
function unusualIn(event: TurnEvent): Item[] {
  const items: (Item | false | undefined)[] = []
  switch (event.type) {
    case 'turn-end': {
      const { outcome, stop, fault, summary, continuation } = event
      const usual = { completed: 'end', cancelled: 'aborted', failed: 'error' }[outcome]
      items.push(stop !== undefined && stop !== usual && 'end.stop')
      items.push(summary !== undefined && 'end.summary', continuation !== undefined && 'end.continuation')
      if (outcome !== 'failed' || !fault) break
      items.push('fault.code', fault.retryable !== isRetryable(fault.code) && 'fault.retryable')
      break
    }
    case 'message-start':
      items.push(event.phase === 'commentary' && 'message.phase')
      break
    case 'message-end':
      items.push(event.parts?.some((part) => part.type === 'reasoning' && part.seal) && 'reasoning.seal')
      items.push(event.parts?.some((part) => part.type === 'text' && part.citations) && 'citation')
      break
    case 'tool-start':
      items.push(event.kind !== undefined && 'tool.kind', event.title !== undefined && 'tool.title')
      break
    case 'tool-call':
      items.push(event.executor !== 'agent' && 'tool.executor')
      break
    case 'notice':
      items.push('notice.code')
      break
    case 'usage':
      items.push(event.scope === 'session' && 'usage.session')
  }
  return items.filter((item) => typeof item === 'string')
}

/** The parts of a message that no event of their own tells, and that are not the client's own prompt. */
function untold({ message: id, parts = [] }: EventOf<'message-end'>, view: LiveView): Part[] {
  const message = view.message(id)
  if (message?.role === 'user') return []
  return parts.filter((part) => {
    if (part.type === 'reasoning') return message?.thought !== true
    return (part.type !== 'tool-call' && part.type !== 'tool-reply') || view.tool(part.tool) === undefined
  })
}

function turnsOf(events: readonly AgentEvent[]): Turn[] {
  const turns = new Map<string, TurnEvent[]>()
  for (const event of events) {
    if (event.turn !== null) turns.set(event.turn, [...(turns.get(event.turn) ?? []), event])
  }
  const of = { turn: '', session: '', agent: '', startedAt: 0 }
  return [...turns.values()].map((all) => ({
    view: viewOf(of, all),
    events: all,
  }))
}

/** Whose extensions, or whose messages, the turns hold. */
function protocolsIn(events: readonly AgentEvent[], what: 'ext' | 'foreign'): string[] {
  return events.flatMap((event) => {
    if (event.turn === null) return []
    if (what === 'foreign') return event.type === 'foreign' ? [event.protocol] : []
    const told = event.type === 'turn-end' ? [event.ext, event.fault?.ext] : [event.ext]
    return told.flatMap((ext) => (ext ? [ext.protocol] : []))
  })
}

/** What sub-agents say that a front with one lane would have a place for. */
function lanedIn(events: readonly AgentEvent[], front: Capabilities): Item[] {
  return events.flatMap((event) =>
    event.turn !== null && event.lane !== undefined && front[event.type] !== 'none' ? [event.type] : [],
  )
}

function countsTokens({ usage }: LiveView): boolean {
  const { total, input = 0, output = 0 } = usage ?? {}
  return (total ?? input + output) > 0
}

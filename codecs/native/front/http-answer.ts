import type {
  Ask,
  JsonText,
  Loss,
  MessageView,
  ToolView,
  TurnEnd,
  TurnEvent,
  TurnView,
} from '../../../src/model/index.ts'
import { extended, write } from '../wire.ts'

const NOTHING_OWN: ReadonlySet<string> = new Set()

/** The members of an answer besides its turn. */
export interface More {
  losses: readonly Loss[]
  /** It is that of an earlier request. */
  replayed: boolean
}

/** A whole answer: the turn as it ended. */
export function wholeAnswer(end: TurnEnd, view: TurnView, more: More): JsonText {
  const { outcome, stop, fault, continuation, summary } = end
  const json = summed(view, more, { outcome, stop }, { fault, continuation, summary })
  return extended(json, end.ext, NOTHING_OWN)
}

/** A whole answer of a turn that waits: what there is so far, what is asked, and the token that an answer names. */
export function parkedAnswer(
  { asks, continuation, deadline }: Extract<TurnEvent, { type: 'turn-parked' }>,
  view: TurnView,
  more: More,
): JsonText {
  return summed(view, more, { outcome: 'parked' }, { asks: asks.map(askOf), continuation, deadline })
}

function askOf({ ask, question, deadline }: Ask): Ask {
  return { ask, question, ...(deadline !== undefined && { deadline }) }
}

function summed(view: TurnView, { losses, replayed }: More, first: object, last: object): JsonText {
  const { turn, session, agent, text, messages, tools, directives, notices, usage, usageEstimated } = view
  return write({
    turn,
    session,
    agent,
    ...first,
    text,
    messages: messages.map(messageOf),
    tools: tools.map(toolOf),
    directives: unlessEmpty(directives),
    notices: unlessEmpty(notices),
    usage,
    usageEstimated: usageEstimated || undefined,
    losses: unlessEmpty(losses),
    replayed: replayed || undefined,
    ...last,
    startedAt: view.startedAt,
    endedAt: view.at,
  })
}

function messageOf({ id, role, lane, text, reasoning, parts }: MessageView): object {
  return { id, role, lane, text, reasoning: reasoning || undefined, parts }
}

function toolOf({ id, name, kind, title, lane, executor, args, status, parts }: ToolView): object {
  return { id, name, kind, title, lane, executor, args: args || undefined, status, parts }
}

function unlessEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items
}

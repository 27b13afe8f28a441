import type { EventOf, Id, Part, TurnEvent } from '../../model/index.ts'

/** The message or tool call of one of the agent's ids, in one lane; `id` is unique within the turn. */
interface Named {
  readonly id: Id
  readonly lane: string | undefined
  ended: boolean
  /** Its whole arguments are known. */
  called: boolean
  /** A question about it was asked. */
  asked: boolean
  /** A message's parts repeat it. */
  repeated: boolean
}

/** The messages or the tool calls of a turn, by the agent's ids. An id that is used again means a new one. */
class Names {
  readonly #known = new Map<Id, Named[]>()
  readonly #used = new Set<Id>()

  /** A new message or tool call. The first one of an id keeps it, later ones get a number. */
  add(wire: Id, lane: string | undefined): Named {
    const same = this.#known.get(wire) ?? []
    let id = wire
    for (let number = same.length + 1; this.#used.has(id); number += 1) id = `${wire}#${number}`
    const named = { id, lane, ended: false, called: false, asked: false, repeated: false }
    this.#used.add(id)
    same.push(named)
    this.#known.set(wire, same)
    return named
  }

  /** The oldest that is meant, of the same lane where there is one there; undefined when none is. */
  oldest(wire: Id, lane: string | undefined, isMeant: (named: Named) => boolean): Named | undefined {
    const meant = this.#known.get(wire)?.filter(isMeant)
    return meant?.find((named) => named.lane === lane) ?? meant?.[0]
  }

  /** The newest, of the same lane where there is one there; undefined for an id that is not known. */
  newest(wire: Id, lane: string | undefined): Named | undefined {
    const same = this.#known.get(wire)
    return same?.findLast((named) => named.lane === lane) ?? same?.at(-1)
  }

  /** True when the id stands for several, or for one of another name. */
  isShared(wire: Id): boolean {
    const same = this.#known.get(wire)
    return same !== undefined && (same.length > 1 || same[0]!.id !== wire)
  }
}

/**
 * Gives every message and every tool call of a turn a unique id, even if the agent uses ids again. An event about an id
 * that several calls share belongs to the oldest call that still waits for it. Events whose ids are unique pass
 * unchanged.
 */
export class Identities {
  readonly #messages = new Names()
  readonly #tools = new Names()

  /** A message begins. */
  openMessage(wire: Id, lane: string | undefined): Id {
    return this.#messages.add(wire, lane).id
  }

  /** The open message of this id in this lane; an event without a lane may mean one of another lane. */
  openedMessage(wire: Id, lane: string | undefined): Id | undefined {
    return this.#opened(wire, lane)?.id
  }

  /** The open message ends. */
  closeMessage(wire: Id, lane: string | undefined): void {
    const named = this.#opened(wire, lane)
    if (named) named.ended = true
  }

  /** The event with ids that are unique in the turn; of messages, only events about one that may have ended. */
  unique(event: TurnEvent): TurnEvent {
    switch (event.type) {
      case 'tool-start':
        return this.#toolStart(event)
      case 'tool-call':
        return withTool(event, this.#called(event))
      case 'tool-args-delta':
        return withTool(
          event,
          this.#waiting(event, ({ called }) => !called),
        )
      case 'tool-progress':
        return withTool(
          event,
          this.#waiting(event, ({ ended }) => !ended),
        )
      case 'tool-end':
        return withTool(event, this.#ended(event))
      case 'message-retract': {
        const id = this.#messages.newest(event.message, event.lane)?.id ?? event.message
        return id === event.message ? event : { ...event, message: id }
      }
      case 'ask':
        return this.#ask(event)
      default:
        return event
    }
  }

  /** A message's parts, whose calls and replies mean the calls of the turn. */
  parts(parts: readonly Part[], lane: string | undefined): readonly Part[] {
    if (!parts.some((part) => isOfTool(part) && this.#tools.isShared(part.tool))) return parts
    return parts.map((part) => (isOfTool(part) ? { ...part, tool: this.#repeated(part, lane) } : part))
  }

  #opened(wire: Id, lane: string | undefined): Named | undefined {
    return this.#messages.oldest(wire, lane, (named) => !named.ended && (lane === undefined || named.lane === lane))
  }

  #repeated({ type, tool }: Part & { tool: Id }, lane: string | undefined): Id {
    const named =
      type === 'tool-call'
        ? this.#tools.oldest(tool, lane, ({ repeated, ended }) => !repeated && !ended)
        : this.#tools.oldest(tool, lane, ({ ended }) => !ended)
    if (named && type === 'tool-call') named.repeated = true
    return (named ?? this.#tools.newest(tool, lane))?.id ?? tool
  }

  #toolStart(event: EventOf<'tool-start'>): TurnEvent {
    const { message, lane } = event
    const started = withTool(event, this.#tools.add(event.tool, lane).id)
    const of = message === undefined ? undefined : (this.#messages.newest(message, lane)?.id ?? message)
    return of === message ? started : { ...started, message: of! }
  }

  #called({ tool, lane }: EventOf<'tool-call'>): Id {
    const drafted = this.#tools.oldest(tool, lane, (named) => !named.called && !named.ended && named.lane === lane)
    const named = drafted ?? this.#tools.add(tool, lane)
    named.called = true
    return named.id
  }

  #ended({ tool, lane }: EventOf<'tool-end'>): Id {
    const named = this.#tools.oldest(tool, lane, ({ ended }) => !ended)
    if (named) named.ended = true
    return (named ?? this.#tools.newest(tool, lane))?.id ?? tool
  }

  #waiting({ tool, lane }: EventOf<'tool-args-delta' | 'tool-progress'>, waits: (named: Named) => boolean): Id {
    return (this.#tools.oldest(tool, lane, waits) ?? this.#tools.newest(tool, lane))?.id ?? tool
  }

  #ask(event: EventOf<'ask'>): TurnEvent {
    const { question, lane } = event
    if (!('tool' in question) || question.tool === undefined) return event
    const waiting = this.#tools.oldest(question.tool, lane, ({ ended, asked }) => !ended && !asked)
    if (waiting) waiting.asked = true
    const tool = (waiting ?? this.#tools.newest(question.tool, lane))?.id ?? question.tool
    return tool === question.tool ? event : { ...event, question: { ...question, tool } }
  }
}

function isOfTool(part: Part): part is Part & { tool: Id } {
  return part.type === 'tool-call' || part.type === 'tool-reply'
}

function withTool<E extends { tool: Id }>(event: E, tool: Id): E {
  return tool === event.tool ? event : { ...event, tool }
}

import { type CommandOf, type Id, type JsonText, type LinkEvent, overlaid } from '../../model/index.ts'
import type { AgentLink, LinkOwner } from './agent-link.ts'
import type { CommandReply } from './replies.ts'

/** A command that any process of an agent can take, whatever its session. */
export type ProcessCommand = CommandOf<'query' | 'session-delete'>

interface Asked {
  question: ProcessCommand
  answered(reply: CommandReply | undefined): void
}

/** The time that an agent has to name further offers after its answer, as many do with their commands, in milliseconds. */
const OFFERS_MS = 50

/** A link that no session has yet. Questions about the agent itself may be asked on it. */
export class IdleLink implements LinkOwner {
  readonly link: AgentLink
  readonly #asked = new Map<Id, Asked>()
  /** The agent's offers besides its answers, for the session that takes the link. */
  #offers: JsonText | undefined
  /** Private, so that the library's types need none of Node.js. */
  #unused: NodeJS.Timeout | undefined

  constructor(start: (owner: LinkOwner) => AgentLink) {
    this.link = start(this)
  }

  /** Asks the agent, as soon as it is ready; undefined without an answer in this time, in milliseconds. */
  ask(question: ProcessCommand, timeMs: number): Promise<CommandReply | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => answered(undefined), timeMs)
      const answered = (reply: CommandReply | undefined): void => {
        clearTimeout(timer)
        this.#asked.delete(question.exchange)
        resolve(reply)
      }
      this.#asked.set(question.exchange, { question, answered })
      if (this.link.ready) this.link.send(question)
    })
  }

  /** Calls `dismiss` after this time, in milliseconds, unless a session has taken the link. */
  dismissUnused(timeMs: number, dismiss: () => void): void {
    this.#unused = setTimeout(dismiss, timeMs)
    this.#unused.unref()
  }

  /** Gives the link to a session. */
  giveTo(owner: LinkOwner): AgentLink {
    this.link.owner = owner
    if (this.#offers !== undefined) owner.idleEvent({ turn: null, type: 'session-changed', json: this.#offers })
    return this.link
  }

  /** A session takes the link, or the link has ended: open questions get no answer. */
  leave(): void {
    clearTimeout(this.#unused)
    for (const { answered } of [...this.#asked.values()]) answered(undefined)
  }

  idleEvent(event: LinkEvent): void {
    if (event.type === 'agent-ready') for (const { question } of this.#asked.values()) this.link.send(question)
    else if (event.type === 'session-changed') this.#offers = overlaid(this.#offers ?? '{}', event.json)
    else if (event.type === 'command-reply') this.#replied(event)
  }

  callFailed(): void {}

  #replied(reply: CommandReply): void {
    const asked = this.#asked.get(reply.exchange)
    const isOffers = asked?.question.type === 'query' && asked.question.what === 'offers'
    if (isOffers && reply.data !== undefined) setTimeout(() => asked.answered(this.#withOffers(reply)), OFFERS_MS)
    else asked?.answered(reply)
  }

  #withOffers(reply: CommandReply): CommandReply {
    return { ...reply, data: overlaid(reply.data ?? '{}', this.#offers ?? '{}') }
  }
}

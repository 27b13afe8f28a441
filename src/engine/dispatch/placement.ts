import type { Awaitable, HeardBy, Route, SessionRecord } from '../../contract/index.ts'
import type { Command, Fault, TurnStart } from '../../model/index.ts'
import type { Breakers } from '../agent/index.ts'
import { refusalFor, steeringLosses } from '../carry/index.ts'
import { type AgentSettings, type CurrentSettings, limitsOf } from '../common/index.ts'
import type { LiveSession } from '../session/index.ts'
import { maySteer, type Turn } from '../turn/index.ts'
import { type Entry, sessionKey } from './entry.ts'
import { mayUse } from './router.ts'
import type { SessionOpener } from './session-opener.ts'

/** The place of a turn: the agent that takes it with those that may when it cannot, and the session. */
export interface Place {
  agents: readonly AgentSettings[]
  session: LiveSession
}

/** The verdict on a place: the turn begins there, steers the one that runs there, or is refused. */
export type PlaceVerdict = { do: 'run' } | { do: 'steer'; turn: Turn } | { do: 'refuse'; why: Fault }

/** Finds the place of a turn: a usable agent, and room in its session's line. */
export class Placement {
  readonly #opener: SessionOpener
  readonly #breakers: Breakers
  readonly #settings: CurrentSettings

  constructor(opener: SessionOpener, breakers: Breakers, settings: CurrentSettings) {
    this.#opener = opener
    this.#breakers = breakers
    this.#settings = settings
  }

  /** An agent that can be used, and the session of the turn on it; or the reason why there is none. */
  find(entry: Entry, record: SessionRecord, at: number): Awaitable<Place | Fault> {
    const heard = this.#opener.heardBy(record, at)
    if (heard instanceof Promise) return heard.then((by) => this.#choose(entry, record, at, by))
    return this.#choose(entry, record, at, heard)
  }

  #choose(entry: Entry, record: SessionRecord, at: number, heard: HeardBy | undefined): Awaitable<Place | Fault> {
    const { agent: first } = entry
    const agents = [first, ...this.#fallback(entry)]
    const agent = this.#breakers.choose(agents)
    if (!agent) return this.#breakers.refusal(first)
    if (agent === first) return { agents, session: this.#opener.open(record, agent, heard) }
    const session = this.#opener.openInstead(sessionKey(entry, agent), agent, at, record)
    return session.then((other) => ({ agents: agents.slice(agents.indexOf(agent)), session: other }))
  }

  /**
   * Judges a place synchronously, so that no other turn takes it first. Without a turn it is given back. `barred` is
   * the reason why the client may not begin another turn, if any.
   */
  judge({ command, route }: Entry, { agents, session }: Place, barred?: Fault): PlaceVerdict {
    const agent = agents[0]!
    const { running } = session
    const steered = running !== undefined && steers(route, command) && maySteer(running, command)
    const why = steered ? undefined : (session.refusal(mayWait(route, agent)) ?? barred)
    if (!steered && !why) return { do: 'run' }
    this.#breakers.release(agent)
    session.restWhenIdle()
    return steered ? { do: 'steer', turn: running } : { do: 'refuse', why: why! }
  }

  /** The agents of the route's `fallback` that the client may use and that can do what it asks for. */
  #fallback({ client, command, route }: Entry): AgentSettings[] {
    const { front, access } = client.options
    const { agents } = this.#settings.current
    const named = route.fallback.flatMap((name) => (mayUse(access.allowed, name) ? (agents.get(name) ?? []) : []))
    return named.filter((agent) => refusalFor(front.dialect, command, agent, route) === undefined)
  }
}

/**
 * True when a request for a turn steers the running one; on a route that takes no losses, only if nothing of it is
 * lost.
 */
function steers({ busy, loss }: Route, command: Command & TurnStart): boolean {
  return busy === 'steer' && (loss !== 'strict' || steeringLosses(command).length === 0)
}

/** The number of turns that may wait for a session. */
export function mayWait(route: Route, agent: AgentSettings): number {
  return route.busy === 'reject' ? 0 : limitsOf(agent, route).queue
}

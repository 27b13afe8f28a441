/** The middle of the engine for unit tests, put together as the engine does it, on a store of the test's. */
import { type Answer, type Route, type Store, silentHooks } from '../../src/contract/index.ts'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import { Replies } from '../../src/engine/agent/replies.ts'
import type { ClientLink } from '../../src/engine/client/client-link.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import type { AgentSettings, EngineLog, EngineSettings } from '../../src/engine/common/index.ts'
import type { Entry } from '../../src/engine/dispatch/entry.ts'
import { SessionOpener } from '../../src/engine/dispatch/session-opener.ts'
import { commandTakers } from '../../src/engine/dispatch/takers.ts'
import { Elsewhere } from '../../src/engine/record/elsewhere.ts'
import { KeyUse } from '../../src/engine/record/key-use.ts'
import { Lease } from '../../src/engine/record/lease.ts'
import { Recorder } from '../../src/engine/record/recorder.ts'
import { StoreWatch } from '../../src/engine/record/store-watch.ts'
import { Figures } from '../../src/engine/session/figures.ts'
import { LiveSessions } from '../../src/engine/session/live-sessions.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import { Sessions } from '../../src/engine/session/sessions.ts'
import { Watches } from '../../src/engine/session/watch.ts'
import type { Command, TurnStart } from '../../src/model/index.ts'
import { ALL, ANSWER, LIMITS, PlainHost, plainBack, ROUTE, SILENT_LOG, start } from './plain.ts'

/** Settings with these agents and no routes. */
export function settingsOf(agents: readonly AgentSettings[], more: Partial<EngineSettings> = {}): EngineSettings {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  return { agents: byName, routes: [], limits: LIMITS, retention: 1000, ...more }
}

/** Every part between a client's wire and the store. `now` is the time of all of them. */
export function engineParts(
  store: Store,
  current: EngineSettings,
  { log = SILENT_LOG, now = () => 9, mostHeld }: { log?: EngineLog; now?: () => number; mostHeld?: number } = {},
) {
  const turns = new LiveTurns()
  const live = new LiveSessions()
  const replies = new Replies()
  const breakers = new Breakers(() => 0)
  const watches = new Watches(turns)
  const lease = new Lease({ store, log, now }, turns)
  const watch = new StoreWatch({ store, lease, log, turns, sessions: live, now })
  const settings = { current }
  const use = new KeyUse({ store, lease, watch, turns, settings, now })
  const recorder = new Recorder(store, watch, lease, use, mostHeld)
  const elsewhere = new Elsewhere(store, lease, now)
  const sessions = new Sessions(live, { recorder, sessions: live, replies, log, elsewhere, now }, silentHooks)
  const memory = { turns, sessions, watches, replies, breakers, figures: new Figures() }
  const base = { store, log, settings, now, clean: (text: string) => text }
  const takers = commandTakers(base, { recorder, watch, use }, memory)
  const opener = new SessionOpener(store, { recorder, watch }, sessions)
  return { ...takers, ...memory, live, lease, watch, use, recorder, opener }
}

/** A request for a turn of the first agent, by a client that notes what it is given. */
export function entryFor(
  agent: AgentSettings,
  { command = start(), route = {}, answer = {}, allowed }: EntryOptions = {},
): { entry: Entry; host: PlainHost; shared: string[] } {
  const host = new PlainHost()
  const shared: string[] = []
  const exchange = new Exchange(command, { ...ANSWER, ...answer }, host)
  return {
    entry: {
      client: plainClient(shared, allowed),
      command,
      ...(command.session && { asked: command.session }),
      exchange,
      agent,
      route: { ...ROUTE, ...route },
    },
    host,
    shared,
  }
}

/** The options of a request for a turn. */
export interface EntryOptions {
  command?: Command & TurnStart
  route?: Partial<Route>
  answer?: Partial<Answer>
  allowed?: readonly string[]
}

/** A client of the plain protocol, and the relations of its requests to other turns. */
export function plainClient(shared: string[] = [], allowed?: readonly string[]): ClientLink {
  return {
    scope: {
      ...silentHooks.request({ transport: 'stdio', front: 'plain', method: '', path: '', carrier: {} }),
      shares: (how: string) => void shared.push(how),
    },
    options: {
      front: { name: 'plain', codec: { name: 'plain' }, dialect: { ...plainBack(), front: { capabilities: ALL } } },
      access: { tenant: 'local', role: 'user', ...(allowed && { allowed }) },
      context: {},
    },
    exchangeOf: () => undefined,
    mayLeave: false,
    settle() {},
  } as unknown as ClientLink
}

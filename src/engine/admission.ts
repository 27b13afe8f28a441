import type { SessionRecord, Store } from '../contract/index.ts'
import { type Command, type Fault, fault, type Id, type TurnStart } from '../model/index.ts'
import type { Breakers } from './breakers.ts'
import type { ClientLink } from './client-link.ts'
import type { Exchange } from './exchange.ts'
import { Idempotency } from './idempotency.ts'
import type { LiveSession } from './live-session.ts'
import type { LiveTurns } from './live-turns.ts'
import { showPast } from './past.ts'
import { strictRefusal } from './predict.ts'
import type { Recorder } from './recorder.ts'
import type { RouteChoice } from './router.ts'
import type { Sessions } from './sessions.ts'
import type { AgentSettings, EngineSettings } from './settings.ts'
import { Turn } from './turn.ts'
import type { TurnOwner } from './turn-init.ts'

const OTHER_BODY = fault(
  'invalid-request',
  'A request with this id and another body runs; send this one under a new id.',
)

/** What admission stands on. */
export interface AdmissionParts {
  store: Store
  sessions: Sessions
  turns: LiveTurns
  recorder: Recorder
  breakers: Breakers
  owner: TurnOwner
  settings(): EngineSettings
  newId(): Id
}

/** A request for a turn, on its way in. */
interface Entry {
  client: ClientLink
  command: Command & TurnStart
  exchange: Exchange
  choice: RouteChoice
  /** The session's id as the client knows it. */
  session: string
}

/**
 * From a `turn-start` to a turn in its session's line: what would be lost, once only, a place, an agent that can be
 * used. Whatever speaks against it ends the exchange with the fault that says so.
 */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #idempotency: Idempotency

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#idempotency = new Idempotency(parts.store, () => parts.owner.now(), parts.turns)
  }

  /** Takes the turn, or joins it to one that runs, or answers it from the record. */
  async start(client: ClientLink, asked: Command & TurnStart, choice: RouteChoice, exchange: Exchange): Promise<void> {
    const { store, owner } = this.#parts
    if (asked.task === 'compact' && choice.agent.dialect.back!.capabilities['start.compact'] === 'none') {
      return exchange.fail(
        fault('invalid-request', `The agent "${choice.agent.name}" cannot compact its conversation.`),
      )
    }
    const strict = choice.route.loss === 'strict' ? lossy(client, asked, choice.agent) : undefined
    if (strict) return exchange.fail(strict)
    const session = asked.session?.id ?? this.#parts.newId()
    const command = { ...asked, options: optionsFor(asked, choice.agent), session: { ...asked.session, id: session } }
    const entry = { client, command, exchange, choice, session }
    const at = owner.now()
    const record = await this.#record(entry, choice.agent, at)
    // Whether the key's last answer has reached its client decides.
    if (command.once) this.#parts.recorder.markDelivered()
    const verdict = await this.#idempotency.claim(record.id, command)
    if (exchange.ended) return
    if (verdict.do === 'refuse') return exchange.fail(OTHER_BODY)
    if (verdict.do === 'join') {
      await verdict.turn.join(exchange, 0)
      exchange.settleCancel()
    } else if (verdict.do === 'replay') {
      const past = await store.readTurn(verdict.turn)
      if (!past) return exchange.fail(fault('internal', 'The record of the first answer is gone; use a new key.'))
      await showPast(store, { record: past, session, after: 0, request: command.request }, exchange)
    } else {
      await this.#begin(entry, record, record.createdAt !== at)
    }
  }

  /** Puts a turn whose agent could not be used in line for its new one. */
  async move(turn: Turn, client: Pick<SessionRecord, 'tenant'>): Promise<void> {
    const { store, sessions, turns } = this.#parts
    const at = this.#parts.owner.now()
    const { id = '', conversation = '' } = turn.command.session ?? {}
    const key = { tenant: client.tenant, agent: turn.agent.name, session: id, conversation }
    const record = await store.openSession(key, this.#parts.newId(), at)
    await store.moveTurn(turn.id, record.id, turn.agent.name)
    if (turn.ended) return
    const session = sessions.open(record, turn.agent, record.createdAt !== at)
    const full = session.refusal(turn.agent.limits.queue)
    if (full) return turn.fail(full)
    turns.add(turn, session)
    session.enqueue(turn)
  }

  async #begin(entry: Entry, record: SessionRecord, used: boolean): Promise<void> {
    const { sessions, breakers } = this.#parts
    const { exchange, choice } = entry
    const { route } = choice
    const others = this.#others(route.fallback)
    const tried = [choice.agent, ...others]
    const agent = tried.find((candidate) => breakers.admit(candidate))
    if (!agent) return exchange.fail(breakers.refusal(choice.agent))
    const own = agent === choice.agent
    const at = this.#parts.owner.now()
    const home = own ? record : await this.#record(entry, agent, at)
    const session = sessions.open(home, agent, own ? used : home.createdAt !== at)
    if (session.busy && route.busy === 'steer' && session.running?.steerable) {
      breakers.release(agent)
      return session.running.steer(exchange, entry.command)
    }
    const full = session.refusal(route.busy === 'reject' ? 0 : { ...agent.limits, ...route.limits }.queue)
    if (full) {
      breakers.release(agent)
      return exchange.fail(full)
    }
    await this.#run(entry, agent, others.slice(tried.indexOf(agent)), session)
  }

  async #run(entry: Entry, agent: AgentSettings, others: AgentSettings[], session: LiveSession): Promise<void> {
    const { turns, recorder, owner } = this.#parts
    const { client, command, exchange, choice } = entry
    const { tenant, front } = client.options
    const scope = client.scope.turn({
      turn: command.turn,
      agent: agent.name,
      back: agent.protocol,
      session: entry.session,
      ...(command.options.model !== undefined && { model: command.options.model }),
    })
    const { route } = choice
    const turn = new Turn({ command, agent, others, route, session: entry.session, exchange, scope, owner })
    turns.add(turn, session)
    await recorder.begin(turn, { session: session.record.id, tenant, front, at: turn.view.startedAt })
    if (turn.ended) return
    turn.accept()
    if (!exchange.settleCancel()) session.enqueue(turn)
  }

  #record({ client, command, session }: Entry, agent: AgentSettings, at: number): Promise<SessionRecord> {
    const { tenant } = client.options
    const key = { tenant, agent: agent.name, session, conversation: command.session?.conversation ?? '' }
    return Promise.resolve(this.#parts.store.openSession(key, this.#parts.newId(), at))
  }

  #others(names: readonly string[]): AgentSettings[] {
    const { agents } = this.#parts.settings()
    return names.flatMap((name) => agents.get(name) ?? [])
  }
}

/** Why a route that takes no losses refuses this turn. */
function lossy({ options }: ClientLink, command: Command & TurnStart, agent: AgentSettings): Fault | undefined {
  const same = options.dialect === agent.dialect
  return strictRefusal(options.dialect.front!.capabilities, agent.dialect.back!.capabilities, command, same)
}

/** A model that was only the agent's name in the client's words is no wish that the agent should hear. */
function optionsFor({ options, agent: named }: Command & TurnStart, agent: AgentSettings): TurnStart['options'] {
  const { model, ...rest } = options
  return named === agent.name && model === named ? rest : options
}

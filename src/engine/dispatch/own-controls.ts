import type { SessionRecord, Store } from '../../contract/index.ts'
import { type Command, type CommandOf, type Fault, fault, type Id, type TurnStart } from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import { type AgentSettings, type EngineSettings, MOVED } from '../common/index.ts'
import type { LiveSession, LiveTurns, Sessions, Watches } from '../session/index.ts'
import { forkSession } from './fork.ts'
import { scopeOf, type Viewer } from './lists.ts'
import { answerQuery, followedTurns } from './queries.ts'
import { BUSY, type SessionChanges } from './session-changes.ts'

/** A command that neither starts a turn nor is about one. */
export type ControlCommand = Exclude<
  Command,
  TurnStart | { type: 'turn-cancel' | 'turn-follow' | 'turn-steer' | 'turn-delete' | 'ask-reply' }
>

/** Origin and agent of a control command. */
export interface ControlContext extends Viewer {
  settings: EngineSettings
  agent: AgentSettings
  allowed?: readonly string[]
  /** Milliseconds since the epoch. */
  at: number
}

/** The session that a command means: its record, and the session in memory. */
export interface Subject {
  record?: SessionRecord | undefined
  live?: LiveSession | undefined
}

/** True when a turn of the session runs or waits, here or in another process. */
export function isBusy({ record, live }: Subject): boolean {
  return live?.busy === true || record?.last?.ended === false
}

/** The parts of the gateway that it answers from. */
export interface OwnPeers {
  store: Store
  sessions: Sessions
  turns: LiveTurns
  watches: Watches
}

/** The commands without a turn, as the gateway serves them without the agent. */
export class OwnControls {
  readonly #peers: OwnPeers
  readonly #changes: SessionChanges

  constructor(peers: OwnPeers, changes: SessionChanges) {
    this.#peers = peers
    this.#changes = changes
  }

  /** Runs the command and replies, or refuses it. */
  async serve(
    command: ControlCommand,
    context: ControlContext,
    { record, live }: Subject,
    exchange: Exchange | undefined,
  ): Promise<void> {
    switch (command.type) {
      case 'query':
        return this.#query(command, context, { record, live }, exchange)
      case 'session-clear':
        return exchange?.reply(await this.#changes.clear(record, live, context.at))
      case 'session-close':
        if (live && !live.busy) live.close()
        return exchange?.reply({})
      case 'session-delete':
        return exchange?.reply(await this.#delete(command.id, context.tenant))
      case 'session-fork':
        return exchange?.reply(await forkSession(this.#peers, command, context))
      case 'config-set':
        return exchange?.reply(await this.#changes.configure(command, context, live))
      default: {
        const text = `The agent "${context.agent.name}" has no place for "${command.type}".`
        exchange?.reply({ fault: fault('invalid-request', text) })
      }
    }
  }

  /** Answers a question; one that follows all turns stays open. */
  async #query(
    command: CommandOf<'query'>,
    context: ControlContext,
    { record, live }: Subject,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const followed = followedTurns(command)
    if (exchange && followed) {
      const full = this.#peers.watches.add(exchange, scopeOf(context, followed), followed)
      if (full) exchange.reply({ fault: full })
      return
    }
    const session = command.session?.id ?? ''
    const { settings, agent, allowed } = context
    const subject = { settings, agent, viewer: context, session, live, record: record?.id, ...(allowed && { allowed }) }
    const answer = await answerQuery(this.#peers, command, subject)
    exchange?.reply(typeof answer === 'string' ? { data: answer } : { fault: answer })
  }

  /** Deletes everything that is kept of a session in which nothing runs. */
  async #delete(id: Id, tenant: string): Promise<{ fault?: Fault }> {
    const { store, sessions } = this.#peers
    const record = await store.readSession(id)
    if (record?.tenant !== tenant) return { fault: fault('session-not-found', 'There is no such session.') }
    const live = sessions.live.get(id)
    if (isBusy({ record, live })) return { fault: BUSY }
    live?.close()
    return (await store.deleteSession(id, record.owner)) ? {} : { fault: MOVED }
  }
}

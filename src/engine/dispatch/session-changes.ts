import type { SessionRecord, Store } from '../../contract/index.ts'
import { type Command, type CommandOf, type Fault, fault } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import { type AgentSettings, MOVED, newId, STALE } from '../common/index.ts'
import type { LiveSession } from '../session/index.ts'

/** The fault of a change to a session with a running turn. */
export const BUSY: Fault = fault('session-busy', 'A turn of this session runs; cancel it first.')

/** The owner of a session that is changed, and the time of the change in milliseconds since the epoch. */
interface About {
  agent: AgentSettings
  tenant: string
  at: number
}

/** Changes of a session by commands: its transcript, and the settings of its client. */
export class SessionChanges {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Follows up on a command that the agent has carried out itself. */
  async done(command: Command, live: LiveSession, link: AgentLink, at: number): Promise<void> {
    const { id, owner } = live.record
    if (command.type === 'session-clear') live.memory.forget(await this.#store.clearSession(id, at, owner))
    else if (command.type === 'config-set') {
      link.wasSet(command)
      await this.#keep(command, live.record)
    }
  }

  /** The conversation begins again: no transcript, no session of the agent's own, and another name towards the agent. */
  async clear(
    record: SessionRecord | undefined,
    live: LiveSession | undefined,
    at: number,
  ): Promise<{ fault?: Fault }> {
    if (live) live.asOf = STALE
    const epoch = record && (await this.#store.clearSession(record.id, at, record.owner))
    live?.renew(epoch)
    return record && epoch === undefined ? { fault: MOVED } : {}
  }

  /** A setting is taken without the agent where each of the session's turns can bring it along. */
  async configure(
    command: CommandOf<'config-set'>,
    { agent, tenant, at }: About,
    live: LiveSession | undefined,
  ): Promise<{ fault?: Fault }> {
    if (!canBeSet(command, agent)) {
      return { fault: fault('invalid-request', `The agent "${agent.name}" cannot be set to this.`) }
    }
    const { id = newId(), conversation = '' } = command.session ?? {}
    const key = { tenant, agent: agent.name, session: id, conversation }
    const kept = await this.#keep(command, live?.record ?? (await this.#store.openSession(key, newId(), at)))
    return kept ? {} : { fault: MOVED }
  }

  /**
   * Keeps a client's settings: they hold for every turn of the session, in whatever process. False when it has gone to
   * another one.
   */
  async #keep({ model, mode, effort, option }: CommandOf<'config-set'>, record: SessionRecord): Promise<boolean> {
    const settings = {
      ...(model !== undefined && { model }),
      ...(effort !== undefined && { effort }),
      ...(mode !== undefined && { mode }),
      ...(option && { options: { ...record.settings?.options, [option.id]: option.value } }),
    }
    record.settings = { ...record.settings, ...settings }
    return this.#store.setSession(record.id, settings, record.owner)
  }
}

/**
 * True when turns can be run with the setting: a mode or an option is set before a turn, a model or an effort with it.
 */
function canBeSet({ model, mode, effort, option }: CommandOf<'config-set'>, agent: AgentSettings): boolean {
  const { capabilities } = agent.dialect.back
  return (
    (mode === undefined || capabilities['config-set'] === 'full') &&
    (option === undefined || (capabilities['config-set'] === 'full' && capabilities['query.offers'] !== 'none')) &&
    (model === undefined || capabilities['option.model'] !== 'none') &&
    (effort === undefined || capabilities['option.effort'] !== 'none')
  )
}

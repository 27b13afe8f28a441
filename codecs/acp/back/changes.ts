import { type CommandOf, type Fault, fault, object, quote, type TurnOptions } from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import type { Change } from './change.ts'
import type { Connection } from './connection.ts'
import type { AgentSession } from './session.ts'

type ConfigSet = Omit<CommandOf<'config-set'>, 'exchange' | 'session' | 'ext' | 'type'>

/** Changes of what the session is set to: by its configuration, by its client, for one turn. */
export class Changes {
  readonly #connection: Connection
  readonly #session: AgentSession
  /** Settings for a session that is not open yet: its folder is known with its first prompt. */
  readonly #pending: ConfigSet[] = []

  constructor(connection: Connection, session: AgentSession) {
    this.#connection = connection
    this.#session = session
  }

  /** Keeps settings for the session until it is open. */
  pend(settings: ConfigSet): void {
    this.#pending.push(settings)
  }

  /** Sets a session that was just opened as it is configured, and as its client has set it before. */
  settle(then: (why?: Fault) => void): void {
    const { mode, model } = this.#connection.context.options
    const first = { ...(mode !== undefined && { mode }), ...(model !== undefined && { model }) }
    if (this.#session.isNew) this.#pending.unshift(first)
    this.#session.isNew = false
    this.#setPending(then)
  }

  #setPending(then: (why?: Fault) => void): void {
    const next = this.#pending.shift()
    if (next) this.set(next, (why) => (why ? then(why) : this.#setPending(then)))
    else then()
  }

  /** Sets what is named, one after the other; `then` gets the fault of the first that fails. */
  set({ option, ...settings }: ConfigSet, then: (why?: Fault) => void): void {
    const { settings: own } = this.#session
    const changes = SETTINGS.flatMap((setting) => {
      const value = settings[setting]
      return value === undefined ? [] : [own.change(setting, value) ?? missing(setting)]
    })
    if (option) changes.push(own.changeOption(option.id, option.value) ?? missing(option.id))
    own.lent = {}
    this.#make(changes, then)
  }

  /**
   * Sets model and effort for one turn; one that names none gets what the session had. `refused` gets those that the
   * agent refuses.
   */
  choose(
    wanted: TurnOptions,
    refused: (setting: Chosen, why: Fault) => void,
    then: () => void,
    left: readonly Chosen[] = CHOSEN,
  ): void {
    const [setting, ...others] = left
    if (setting === undefined) {
      then()
      return
    }
    const { settings } = this.#session
    const now = settings.current(setting)
    const value = wanted[setting] ?? settings.lent[setting]
    const next = (): void => this.choose(wanted, refused, then, others)
    if (value === undefined || value === now) next()
    else {
      if (wanted[setting] === undefined) delete settings.lent[setting]
      else if (now !== undefined) settings.lent[setting] ??= now
      this.#make([settings.change(setting, value) ?? missing(setting)], (why) => {
        if (why) refused(setting, why)
        next()
      })
    }
  }

  #make([change, ...others]: readonly (Change | Fault)[], then: (why?: Fault) => void): void {
    if (!change) then()
    else if ('code' in change) then(change)
    else {
      const params = object({ sessionId: quote(this.#session.id!) }, change.fields)
      this.#connection.call(change.method, params, (answer) => {
        if (answer?.kind !== 'result') {
          then(answer ? { ...faultOfError(answer.error), code: 'invalid-request' } : this.#connection.dead)
          return
        }
        change.done()
        this.#session.settings.configured(answer.result)
        this.#make(others, then)
      })
    }
  }
}

const SETTINGS = ['mode', 'model', 'effort'] as const
const CHOSEN = ['model', 'effort'] as const
type Chosen = (typeof CHOSEN)[number]

function missing(name: string): Fault {
  return fault('invalid-request', `The agent has no setting for "${name}".`)
}

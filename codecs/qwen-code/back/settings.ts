import type { ControlReply, ControlRequests } from '../../../src/codec-kit/index.ts'
import { quote } from '../../../src/model/index.ts'

/** The control request for each setting that a client may change. */
export const SUBTYPES = { model: 'set_model', effort: 'set_effort', mode: 'set_permission_mode' } as const

/** The name of a setting of the agent's session. */
export type Setting = keyof typeof SUBTYPES

/** The names of all settings, in the order in which they are set. */
export const SETTINGS = Object.keys(SUBTYPES) as Setting[]

/** The settings of an agent's process, and those that its clients want. */
export class Settings {
  /** The values that the process is known to have. */
  now: Partial<Record<Setting, string>> = {}
  /** The session's own model: what it was started with or a client set, for the turns that name none. */
  ownModel: string | undefined
  /** The settings of clients for the session. Every new process gets them. */
  readonly #kept = new Map<Setting, string>()
  /** The system prompt that the agent's conversation holds already. */
  system: string | undefined
  /** Those that the process has not got yet, or has refused. */
  readonly #missing = new Set<Setting>()

  constructor(ownModel: string | undefined) {
    this.ownModel = ownModel
  }

  /** A process begins, without the settings of the last one. A fresh session has no system prompt. */
  reset(fresh: boolean): void {
    if (fresh) this.system = undefined
    this.now = this.ownModel === undefined ? {} : { model: this.ownModel }
    for (const name of this.#kept.keys()) this.#missing.add(name)
  }

  /** The next setting that a new process has to get. */
  get missing(): { name: Setting; value: string } | undefined {
    const [name] = this.#missing
    return name && { name, value: this.#kept.get(name)! }
  }

  /** Sends a setting to the process; until its answer its value is not known. */
  send(controls: ControlRequests, name: Setting, value: string, then: (reply: ControlReply) => void): void {
    delete this.now[name]
    controls.send(SUBTYPES[name], { [name]: quote(value) }, (reply) => {
      if (reply?.success) this.now[name] = value
      then(reply)
    })
  }

  /** The process has got a missing setting. */
  restored(name: Setting): void {
    this.#missing.delete(name)
  }

  /** A client has set it for its session, in place of an earlier value. */
  keep(name: Setting, value: string): void {
    this.#missing.delete(name)
    this.#kept.set(name, value)
    if (name === 'model') this.ownModel = value
  }
}

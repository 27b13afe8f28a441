import { scalarText } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Fault, type Id, type JsonText, quote } from '../../../src/model/index.ts'
import { isMode, MODES } from './args.ts'
import { writeError, writeSuccess } from './responses.ts'
import type { ClientState } from './state.ts'

/** A control request of the client: its id and its `request`. */
export interface Request {
  id: string
  subtype: string
  fields: Record<string, unknown>
}

type Setting = Omit<CommandOf<'config-set'>, 'type' | 'exchange'>

/** The efforts that the CLI knows. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** The form of the answer to a command outside of turns. */
export const ANSWER: Answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

/** The control requests by which a client sets its session. Each is answered once it is applied. */
export class Settings {
  /** The requests by their subtype. */
  readonly requests: readonly [string, (request: Request) => void][] = [
    ['set_model', (request) => this.#setModel(request)],
    ['set_effort', (request) => this.#setEffort(request)],
    ['set_permission_mode', (request) => this.#setMode(request)],
  ]
  readonly #ports: FrontPorts
  readonly #state: ClientState
  readonly #open = new Map<Id, (reason: Fault | undefined) => void>()

  constructor(ports: FrontPorts, state: ClientState) {
    this.#ports = ports
    this.#state = state
  }

  /** True while one is not answered for. */
  get open(): boolean {
    return this.#open.size > 0
  }

  /** Sets what the program's arguments ask of the agent. The other modes decide what it asks, which is done here. */
  begin(): void {
    if (this.#state.mode !== 'plan') return
    this.#set({ mode: 'plan' }, (reason) => {
      this.#state.refusal = reason
    })
  }

  /** Takes an answer; `reason` says why the setting does not hold. False when it is to something else. */
  answer(exchange: Id, reason: Fault | undefined): boolean {
    const done = this.#open.get(exchange)
    this.#open.delete(exchange)
    done?.(reason)
    return done !== undefined
  }

  #setModel({ id, fields }: Request): void {
    const { model } = fields
    if (typeof model !== 'string' || model === '') {
      writeError(this.#ports, id, 'Invalid model specified for set_model request')
      return
    }
    this.#change(id, { model }, `{"subtype":"set_model","model":${quote(model)}}`, () => {
      this.#state.model = model
    })
  }

  #setEffort({ id, fields }: Request): void {
    const { effort } = fields
    if (typeof effort !== 'string' || !EFFORTS.includes(effort)) {
      writeError(this.#ports, id, `Invalid effort value. Supported: ${EFFORTS.join(', ')}`)
      return
    }
    const payload = `{"subtype":"set_effort","effort":${quote(effort)},"applied":true,"override":null}`
    this.#change(id, { effort }, payload, () => {
      this.#state.effort = effort
    })
  }

  #setMode({ id, fields }: Request): void {
    const { mode } = fields
    if (!isMode(mode)) {
      const text = `Invalid permission mode: ${scalarText(mode)}. Valid values are: ${MODES.join(', ')}`
      writeError(this.#ports, id, text)
      return
    }
    this.#change(id, { mode }, `{"status":"updated","mode":${quote(mode)}}`, () => {
      this.#state.mode = mode
      this.#state.refusal = undefined
    })
  }

  /** Only the agent itself can keep to plans. In the other modes what it asks is decided here, whether it takes them or not. */
  #change(id: string, setting: Setting, payload: JsonText, apply: () => void): void {
    const served = setting.mode !== undefined && setting.mode !== 'plan'
    this.#set(setting, (reason) => {
      if (reason && !served) {
        writeError(this.#ports, id, reason.message)
        return
      }
      apply()
      writeSuccess(this.#ports, id, payload)
    })
  }

  #set(setting: Setting, done: (reason: Fault | undefined) => void): void {
    const exchange = this.#ports.newId()
    this.#open.set(exchange, done)
    this.#ports.command({ exchange, session: { id: this.#state.session }, type: 'config-set', ...setting }, ANSWER)
  }
}

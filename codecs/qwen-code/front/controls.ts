import {
  controlResponse,
  dropped,
  GatewayCalls,
  type GatewayReply,
  scalarText,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import {
  type CommandOf,
  elements,
  type Fault,
  type JsonText,
  member,
  members,
  object,
  parseObject,
  quote,
} from '../../../src/model/index.ts'
import { CONTINUE, ownExt, PROTOCOL } from '../wire.ts'
import type { Client } from './client.ts'
import { isMode, MODES } from './flags.ts'
import type { QwenCodeQueue } from './queue.ts'

/** A control request of the client; `line` is all of it. */
interface Request {
  id: string
  fields: Record<string, unknown>
  line: JsonText
}

type Setting = Pick<CommandOf<'config-set'>, 'model' | 'effort' | 'mode'>

/** The efforts that the CLI knows. */
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

const CAN =
  '{"can_handle_can_use_tool":true,"can_handle_hook_callback":false,"can_set_permission_mode":true,"can_set_model":true,"can_set_effort":true,"can_get_context_usage":true,"can_get_available_models":true,"can_get_usage_info":true,"can_handle_mcp_message":false}'
/** The members of `initialize` that only the agent's own process could use. */
const UNSERVED = ['sdkMcpServers', 'mcpServers', 'agents', 'hooks'] as const

const UNANSWERED = 'The agent did not answer this request.'

/** The control requests of one client, each answered once; most without anybody else. */
export class FrontControls {
  readonly #client: Client
  readonly #queue: QwenCodeQueue
  /** The commands of requests that are not answered here. */
  readonly calls: GatewayCalls

  /** The function for each request, by its subtype. */
  readonly #served = wordTable<(request: Request) => void>({
    initialize: (request) => this.#initialize(request),
    interrupt: (request) => this.#interrupt(request),
    [CONTINUE]: (request) => this.#continue(request),
    set_model: (request) => this.#setModel(request),
    set_effort: (request) => this.#setEffort(request),
    set_permission_mode: (request) => this.#setMode(request),
    get_available_models: (request) => this.#models(request),
    // Requests that an agent of the same dialect answers, some with an answer that stands in for a missing one.
    mcp_server_status: (request) => this.#forward(request, '{"subtype":"mcp_server_status","status":{}}'),
    supported_commands: (request) => this.#forward(request, '{"subtype":"supported_commands","commands":[]}'),
    get_context_usage: (request) => this.#forward(request),
    get_usage_info: (request) => this.#forward(request),
  })

  constructor(client: Client, queue: QwenCodeQueue) {
    this.#client = client
    this.#queue = queue
    this.calls = new GatewayCalls(client.ports)
  }

  /** Applies the program's arguments to the agent. The other modes decide its questions, which is done here. */
  begin(): void {
    if (this.#client.settings.mode !== 'plan') return
    this.#set({ mode: 'plan' }, (reason) => {
      this.#client.settings.refusal = reason
    })
  }

  /** A `control_request` line with an id. */
  run(id: string, line: JsonText): void {
    const fields = parseObject(member(line, 'request')!) ?? {}
    const said = fields['subtype']
    const subtype = typeof said === 'string' ? said : 'undefined'
    const serve = this.#served.get(subtype)
    if (serve) serve({ id, fields, line })
    else this.#refuse(id, `Unknown control request subtype: ${subtype}`)
  }

  #initialize({ id, fields }: Request): void {
    const { session, settings, totals } = this.#client
    const { effort } = fields
    settings.initialized = true
    if (typeof effort === 'string' && EFFORTS.includes(effort)) settings.effort = effort
    for (const field of UNSERVED) {
      if (isEmpty(fields[field])) continue
      totals.losses.push(dropped('session-open', field))
      this.#client.warn(`${field} of initialize has no effect: configure it where the agent runs.`)
    }
    this.#respond(id, `{"subtype":"initialize","session_id":${quote(session)},"capabilities":${CAN}}`)
  }

  #interrupt({ id }: Request): void {
    this.#respond(id, '{"subtype":"interrupt"}')
    this.#queue.cancel()
  }

  /** Continues what was interrupted; answered before the turn begins. */
  #continue({ id }: Request): void {
    const { interruption } = this.#queue
    const accepted = interruption !== undefined
    const payload = `{"subtype":"${CONTINUE}","accepted":${accepted},"interruption":"${interruption ?? 'none'}"}`
    this.#respond(id, payload)
    if (accepted) this.#queue.continue()
  }

  #setModel({ id, fields: { model } }: Request): void {
    if (typeof model !== 'string' || model === '') this.#refuse(id, 'Invalid model specified for set_model request')
    else this.#change(id, { model }, `{"subtype":"set_model","model":${quote(model)}}`)
  }

  #setEffort({ id, fields: { effort } }: Request): void {
    if (typeof effort !== 'string' || !EFFORTS.includes(effort)) {
      this.#refuse(id, `Invalid effort value. Supported: ${EFFORTS.join(', ')}`)
      return
    }
    this.#change(id, { effort }, `{"subtype":"set_effort","effort":${quote(effort)},"applied":true,"override":null}`)
  }

  #setMode({ id, fields: { mode } }: Request): void {
    if (isMode(mode)) this.#change(id, { mode }, `{"status":"updated","mode":${quote(mode)}}`)
    else this.#refuse(id, `Invalid permission mode: ${scalarText(mode)}. Valid values are: ${MODES.join(', ')}`)
  }

  /**
   * Only the agent itself can work in plan mode. In the other modes its questions are decided here, whether or not it
   * takes the mode.
   */
  #change(id: string, setting: Setting, payload: JsonText): void {
    const { mode } = setting
    this.#set(setting, (reason) => {
      if (reason && (mode === undefined || mode === 'plan')) {
        this.#refuse(id, reason.message)
        return
      }
      Object.assign(this.#client.settings, setting)
      if (mode !== undefined) this.#client.settings.refusal = undefined
      this.#respond(id, payload)
    })
  }

  #set(setting: Setting, done: (reason: Fault | undefined) => void): void {
    const { session, settings } = this.#client
    settings.changing += 1
    this.calls.ask({ type: 'config-set', ...setting }, session, (reply) => {
      settings.changing -= 1
      done('fault' in reply ? reply.fault : undefined)
    })
  }

  #models({ id }: Request): void {
    this.calls.ask({ type: 'query', what: 'models' }, this.#client.session, (reply) => {
      const models = 'fault' in reply || reply.data === undefined ? undefined : member(reply.data, 'models')
      this.#settle(id, reply, models && modelsPayload(models))
    })
  }

  /** Passes a request on; `instead` is the payload if the agent has none; without it that is an error. */
  #forward({ id, line }: Request, instead?: JsonText): void {
    const command = { type: 'foreign', protocol: PROTOCOL, frame: line } as const
    this.calls.ask(command, this.#client.session, (reply) => this.#settle(id, reply, instead))
  }

  #settle(id: string, reply: GatewayReply, instead: JsonText | undefined): void {
    const payload = 'fault' in reply ? instead : (ownExt(reply.ext) ?? instead)
    if (payload !== undefined) this.#respond(id, payload)
    else this.#refuse(id, 'fault' in reply ? reply.fault.message : UNANSWERED)
  }

  #respond(id: string, payload: JsonText): void {
    this.#client.ports.send(controlResponse(quote(id), { payload }))
  }

  #refuse(id: string, error: string): void {
    this.#client.ports.send(controlResponse(quote(id), { error }))
  }
}

/** The models of an agent of another protocol, with their sizes under the name that the CLI gives them. */
function modelsPayload(models: JsonText): JsonText {
  const named = elements(models).map((model) =>
    object(members(model).map(([key, json]) => [key === 'contextWindow' ? 'contextWindowSize' : key, json] as const)),
  )
  return `{"subtype":"get_available_models","models":[${named.join(',')}]}`
}

/** True for what asks for nothing: no object and no list, or one without entries. */
function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || Object.keys(value ?? {}).length === 0
}

import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type Command,
  elements,
  type Fault,
  type Id,
  isRecord,
  type JsonText,
  type LinkEvent,
  member,
  members,
  object,
  parseObject,
  quote,
} from '../../../src/model/index.ts'
import { CONTINUE, ownExt, PROTOCOL } from '../wire.ts'
import type { Interruption } from './queue.ts'
import { writeError, writeSuccess } from './responses.ts'
import { ANSWER, EFFORTS, type Request, Settings } from './settings.ts'
import type { ClientState } from './state.ts'

/** Continues what was interrupted; `answer` gets the interruption, or nothing, before the turn is issued. */
type GoOn = (answer: (interruption: Interruption | undefined) => void) => void

/** A request that the gateway or the agent answers. */
interface Asked {
  id: string
  subtype: string
  /** The payload when nobody knows better; undefined is an error. */
  instead: JsonText | undefined
}

type Question = { type: 'query'; what: 'models' } | { type: 'foreign'; protocol: string; frame: string }

const CAN =
  '{"can_handle_can_use_tool":true,"can_handle_hook_callback":false,"can_set_permission_mode":true,"can_set_model":true,"can_set_effort":true,"can_get_context_usage":true,"can_get_available_models":true,"can_get_usage_info":true,"can_handle_mcp_message":false}'
/** The members of `initialize` that only the agent's own process could use. */
const UNSERVED = ['sdkMcpServers', 'mcpServers', 'agents', 'hooks'] as const

/** Requests that an agent of the same dialect answers, with the answer that stands in for a missing one. */
const HANDED_ON: ReadonlyMap<string, JsonText | undefined> = new Map([
  ['mcp_server_status', '{"subtype":"mcp_server_status","status":{}}'],
  ['supported_commands', '{"subtype":"supported_commands","commands":[]}'],
  ['get_context_usage', undefined],
  ['get_usage_info', undefined],
])

/** The control requests of one client, each answered once; most without anybody else. */
export class FrontControls {
  readonly #ports: FrontPorts
  readonly #state: ClientState
  readonly #cancel: () => void
  readonly #goOn: GoOn
  readonly #asked = new Map<Id, Asked>()
  readonly #settings: Settings
  readonly #own: ReadonlyMap<string, (request: Request) => void>

  /** `cancel` stops the turn that runs, `goOn` continues one that was interrupted. */
  constructor(ports: FrontPorts, state: ClientState, cancel: () => void, goOn: GoOn) {
    this.#ports = ports
    this.#state = state
    this.#cancel = cancel
    this.#goOn = goOn
    const settings = new Settings(ports, state)
    this.#settings = settings
    this.#own = new Map<string, (request: Request) => void>([
      ['initialize', (request: Request) => this.#initialize(request)],
      ['interrupt', (request: Request) => this.#interrupt(request)],
      ...settings.requests,
      [CONTINUE, (request: Request) => this.#continue(request)],
    ])
  }

  /** True when nothing waits for an answer. */
  get idle(): boolean {
    return this.#asked.size === 0 && !this.changing
  }

  /** True while a setting has no answer: a message after it must have it. */
  get changing(): boolean {
    return this.#settings.open
  }

  /** Sets what the program's arguments ask of the agent. */
  begin(): void {
    this.#settings.begin()
  }

  /** A `control_request` line with an id. */
  run(id: string, line: JsonText): void {
    const request = member(line, 'request')!
    const fields = parseObject(request) ?? {}
    const said = fields['subtype']
    const subtype = typeof said === 'string' ? said : 'undefined'
    const own = this.#own.get(subtype)
    if (own) own({ id, subtype, fields })
    else if (subtype === 'get_available_models') this.#ask({ id, subtype, instead: undefined }, MODELS)
    else if (HANDED_ON.has(subtype)) {
      this.#ask({ id, subtype, instead: HANDED_ON.get(subtype) }, { type: 'foreign', protocol: PROTOCOL, frame: line })
    } else writeError(this.#ports, id, `Unknown control request subtype: ${subtype}`)
  }

  /** The answer to a request that was handed on; false for any other. */
  answer(exchange: Id, reply: Pick<Extract<LinkEvent, { type: 'command-reply' }>, 'data' | 'ext'> | Fault): boolean {
    if (this.#settings.answer(exchange, 'code' in reply ? reply : undefined)) return true
    const asked = this.#asked.get(exchange)
    if (!asked) return false
    this.#asked.delete(exchange)
    if ('code' in reply) {
      if (asked.instead === undefined) writeError(this.#ports, asked.id, reply.message)
      else writeSuccess(this.#ports, asked.id, asked.instead)
      return true
    }
    const models = reply.data === undefined ? undefined : member(reply.data, 'models')
    const own = ownExt(reply.ext) ?? (models === undefined ? asked.instead : modelsPayload(models))
    if (own === undefined) writeError(this.#ports, asked.id, 'The agent did not answer this request.')
    else writeSuccess(this.#ports, asked.id, own)
    return true
  }

  #ask(asked: Asked, question: Question): void {
    const exchange = this.#ports.newId()
    this.#asked.set(exchange, asked)
    const command: Command = { exchange, session: { id: this.#state.session }, ...question }
    this.#ports.command(command, ANSWER)
  }

  #initialize({ id, fields }: Request): void {
    this.#state.initialized = true
    const { effort } = fields
    if (typeof effort === 'string' && EFFORTS.includes(effort)) this.#state.effort = effort
    for (const field of UNSERVED) {
      if (isEmpty(fields[field])) continue
      this.#state.losses.push({ kind: 'dropped', item: 'session-open', field, why: 'no-place', count: 1 })
      this.#ports.warn(`turnpike as qwen: ${field} of initialize has no effect: configure it where the agent runs.`)
    }
    const session = quote(this.#state.session)
    writeSuccess(this.#ports, id, `{"subtype":"initialize","session_id":${session},"capabilities":${CAN}}`)
  }

  #interrupt({ id }: Request): void {
    writeSuccess(this.#ports, id, '{"subtype":"interrupt"}')
    this.#cancel()
  }

  /** Answered before the turn begins. */
  #continue({ id }: Request): void {
    const answer = (interruption: Interruption | undefined): void => {
      const accepted = interruption !== undefined
      const payload = `{"subtype":"${CONTINUE}","accepted":${accepted},"interruption":"${interruption ?? 'none'}"}`
      writeSuccess(this.#ports, id, payload)
    }
    this.#goOn(answer)
  }
}

const MODELS: Question = { type: 'query', what: 'models' }

/** The models of an agent of another protocol, with their sizes under the name that the CLI gives them. */
function modelsPayload(models: JsonText): JsonText {
  const named = elements(models).map((model) =>
    object(members(model).map(([key, json]) => [key === 'contextWindow' ? 'contextWindowSize' : key, json] as const)),
  )
  return object([
    ['subtype', '"get_available_models"'],
    ['models', `[${named.join(',')}]`],
  ])
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) ? Object.keys(value).length === 0 : true
}

import { GatewayCalls, RPC_CODES, RpcWriter, readRpc } from '../../../src/codec-kit/index.ts'
import { type Frame, type FrontLink, type FrontPorts, frameText, type InputFate } from '../../../src/contract/index.ts'
import {
  type Fault,
  type Id,
  type LinkEvent,
  member,
  parse,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import type { Client } from './client.ts'
import { Methods } from './methods.ts'
import { readOffers } from './offers.ts'
import { Prompts } from './prompts.ts'
import { Requests } from './requests.ts'
import type { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { changeOffers, commandsJson, optionsJson } from './settings.ts'
import { updateOf } from './turn.ts'
import { Updates } from './updates.ts'

/**
 * A client of the Agent Client Protocol on stdio, such as an editor: requests and notifications in, updates, answers and
 * questions out, in as many sessions at a time as it opens. When its input ends it is gone, and its turns are cancelled.
 */
export class AcpFront implements FrontLink {
  readonly #client: Client
  readonly #requests: Requests
  readonly #gateway: GatewayCalls
  readonly #asks: Asks
  readonly #prompts: Prompts
  readonly #methods: Methods

  constructor(ports: FrontPorts) {
    const client: Client = {
      ports,
      writer: new RpcWriter(),
      sessions: new Map(),
      shows: undefined,
      agent: undefined,
      carries: undefined,
    }
    this.#client = client
    this.#requests = new Requests(client)
    this.#gateway = new GatewayCalls(ports)
    this.#asks = new Asks(client)
    this.#prompts = new Prompts(client, this.#requests, this.#asks)
    this.#methods = new Methods({
      client,
      requests: this.#requests,
      gateway: this.#gateway,
      sessions: new Sessions(client, this.#requests, this.#gateway),
      prompts: this.#prompts,
    })
  }

  decode(frame: Frame): void {
    const line = frameText(frame)
    if (line.trim() === '') return
    const message = readRpc(line)
    if (message === undefined) this.#unreadable(line)
    else if (message.kind === 'notification') this.#methods.notified(message.method, message.params)
    else if (message.kind !== 'request') this.#asks.calls.answer(message, line)
    else if (isId(message.id)) {
      const request = this.#requests.open(message.id, message.method)
      this.#methods.request(request, message.params, member(line, 'params') ?? '{}')
    } else this.#reject('The id of a request is text, a number or null.')
  }

  decodeEnd(): void {
    this.#prompts.cancelAll()
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#prompts.encode(event, exchange, view)
  }

  encodeLink(event: LinkEvent, exchange?: Id): void {
    if (event.type === 'command-reply') this.#gateway.answer(event)
    else {
      const session = exchange === undefined ? undefined : this.#prompts.sessionOf(exchange)
      if (!session) return
      if (event.type === 'session-changed') this.#changed(session, event.json)
      else if (event.type === 'foreign' && event.protocol === PROTOCOL) {
        const update = updateOf(event.frame)
        if (update !== undefined) this.#updates(session).raw(update)
      }
    }
  }

  encodeFault(reason: Fault, exchange: Id | undefined, _input: InputFate): void {
    if (exchange === undefined) this.#requests.fault(reason)
    else if (!this.#gateway.fail(exchange, reason)) this.#prompts.fail(exchange, reason)
  }

  /** The agent's offers in a session have changed. */
  #changed(session: Session, json: string): void {
    const changed = readOffers(parse(json))
    const { mode, options, commands, title } = changed
    changeOffers(session, changed)
    const updates = this.#updates(session)
    if (mode !== undefined) updates.write('current_mode_update', { currentModeId: JSON.stringify(mode) })
    if (options) updates.write('config_option_update', { configOptions: optionsJson(session, this.#client) })
    if (commands) updates.write('available_commands_update', { availableCommands: commandsJson(session) })
    if (title !== undefined) updates.write('session_info_update', { title: JSON.stringify(title) })
  }

  #updates({ id }: Session): Updates {
    return new Updates(this.#client.ports.send, id)
  }

  /** A line that is not a message: no JSON, a batch, or an object of another kind. */
  #unreadable(line: string): void {
    const value = parse(line)
    if (value === undefined) {
      this.#requests.reject('null', 'A line is not JSON: each line is one message of JSON-RPC.', RPC_CODES.parse)
    } else if (Array.isArray(value)) this.#reject('Batches are not supported: write each message as a line of its own.')
    else this.#reject('A line is no message of JSON-RPC 2.0.')
  }

  #reject(text: string): void {
    this.#requests.reject('null', text, RPC_CODES.invalidRequest)
  }
}

/** True for ids that requests may have. */
function isId(id: string): boolean {
  const value: unknown = JSON.parse(id)
  return value === null || typeof value === 'string' || typeof value === 'number'
}

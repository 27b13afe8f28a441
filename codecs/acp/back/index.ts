import * as v from 'valibot'
import {
  dropped,
  RPC_CODES,
  type RpcAnswer,
  type RpcMessage,
  readRpc,
  UnaskedTurn,
  unparsed,
} from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import { type Command, type Fault, fault, isRecord, member } from '../../../src/model/index.ts'
import { ACP_CODES } from '../errors.ts'
import type { Options } from '../options.ts'
import { SessionUpdate } from '../update-schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { Changes } from './changes.ts'
import { Connection } from './connection.ts'
import { Controls } from './controls.ts'
import { Files } from './files.ts'
import { PLAIN_TEXT } from './plain-text.ts'
import { Prompts } from './prompts.ts'
import { AgentSession } from './session.ts'
import { TurnDecoder } from './turn.ts'

/**
 * A running agent: one process, the session that its turns run in, one prompt at a time. Updates name their session but
 * no prompt, and the answer to the prompt is the end of its turn.
 */
export class AcpBack implements BackLink {
  readonly #ports: BackPorts
  readonly #connection: Connection
  readonly #session: AgentSession
  readonly #controls: Controls
  readonly #asks: Asks
  readonly #files: Files
  readonly #unasked: UnaskedTurn<TurnDecoder>
  readonly #prompts: Prompts

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#ports = ports
    this.#connection = new Connection(context, ports, (why) => this.#die(why, false))
    this.#session = new AgentSession(this.#connection, ports)
    const changes = new Changes(this.#connection, this.#session)
    this.#controls = new Controls(this.#connection, this.#session, changes, ports)
    this.#asks = new Asks(this.#connection)
    this.#files = new Files(this.#connection, ports)
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, '', this.#prompts.begun))
    this.#prompts = new Prompts({
      ports,
      connection: this.#connection,
      session: this.#session,
      changes,
      asks: this.#asks,
      unasked: this.#unasked,
    })
  }

  open(): void {
    this.#connection.open()
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#prompts.start(command)
    else if (command.type === 'turn-cancel') this.#prompts.cancel()
    else if (command.type === 'ask-reply') this.#asks.reply(command)
    else if (command.type !== 'foreign') this.#control(command)
    else if (command.protocol === PROTOCOL) this.#connection.send(command.frame)
  }

  decode(frame: Frame): void {
    if (this.#connection.dead) return
    const line = frameText(frame)
    if (this.#plainText(line)) return
    const message = readRpc(line)
    if (message === undefined) this.#noise(line)
    else if (message.kind === 'request') this.#request(message, line)
    else if (message.kind === 'notification') this.#notified(message, line)
    else if (!this.#answered(message, line)) this.#prompts.decoder?.out.report(unparsed('command-reply'))
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#connection.dead) this.#die(this.#connection.reasonOf(end), end.why === 'cancelled')
  }

  #plainText(line: string): boolean {
    const decoder = this.#prompts.running
    const plain = decoder && PLAIN_TEXT.exec(line)
    if (!plain || !decoder.continues(plain[2] ?? plain[4]) || !this.#isOurs(plain[1]!)) return false
    decoder.text(plain[3]!)
    return true
  }

  /** A line that is not a message: some programs print to their standard output. */
  #noise(line: string): void {
    // Some programs write a byte order mark before each message.
    if (line.startsWith('\ufeff')) this.decode(line.replace(/^\ufeff+/, ''))
    else if (!this.#connection.handshake.done && /^content-length:/i.test(line)) {
      const text = `The agent "${this.#connection.context.agent}" frames its messages by Content-Length: only lines of JSON are read.`
      this.#connection.break(fault('protocol-violation', text))
    } else this.#prompts.decoder?.out.report(unparsed('foreign'))
  }

  /** Every request gets an answer: an agent would wait for ever. */
  #request(request: RpcMessage & { kind: 'request' }, line: string): void {
    const { id, method, params } = request
    if (this.#connection.context.recorded === 'both') return
    const turn = isRecord(params) && this.#isOurs(params['sessionId']) ? this.#prompts.running : undefined
    if (method === 'session/request_permission') this.#asks.permission(request, line, turn)
    else if (method === 'elicitation/create') this.#asks.input(request, line, turn)
    else if (!this.#files.request(request, this.#session.place)) {
      const { writer } = this.#connection
      this.#connection.send(writer.error(id, RPC_CODES.methodNotFound, `Method not found: ${method}`))
    }
  }

  /** An answer of the agent; in a recording, one to the prompt by its shape. */
  #answered(message: RpcAnswer, line: string): boolean {
    const { calls, context } = this.#connection
    if (!context.recorded) return calls.answer(message, line)
    const isEnd = message.kind === 'error' || member(member(line, 'result')!, 'stopReason') !== undefined
    return !isEnd || calls.answerTo('session/prompt', message, line)
  }

  #notified({ method, params }: RpcMessage & { kind: 'notification' }, line: string): void {
    if (method === 'session/update') this.#update(params, line)
    else if (method === '$/cancel_request') {
      this.#asks.withdraw(member(member(line, 'params') ?? '{}', 'requestId'), ACP_CODES.cancelled)
    } else this.#foreign(line)
  }

  #update(params: unknown, line: string): void {
    const { success, output } = v.safeParse(SessionUpdate, params)
    if (!success) this.#prompts.decoder?.out.report(unparsed('foreign'))
    else if (this.#isOurs(output.sessionId)) this.#updated(output.update, line)
    else if (!this.#session.past.has(output.sessionId)) {
      this.#prompts.decoder?.out.report(dropped('foreign', 'sessionId', 'unknown'))
    }
  }

  #updated(update: v.InferOutput<typeof SessionUpdate>['update'], line: string): void {
    const changed = this.#session.settings.update(update)
    if (changed) {
      const json = JSON.stringify(changed)
      if (json !== '{}') this.#ports.emit({ turn: null, type: 'session-changed', json })
      else this.#prompts.running?.failure.noted(update)
      return
    }
    if (this.#session.replays) return
    const json = member(member(line, 'params')!, 'update')!
    const decoder = this.#prompts.running
    if (decoder) {
      if (!decoder.update(update, json)) decoder.foreign(line)
    } else if (update.sessionUpdate === 'agent_message_chunk') this.#unasked.open().update(update, json)
    else this.#unasked.decoder?.update(update, json)
  }

  /** True for the session that is open, or being loaded; in a recording, for any. */
  #isOurs(session: unknown): boolean {
    return this.#session.is(session) || this.#connection.context.recorded !== undefined
  }

  #foreign(line: string): void {
    const decoder = this.#prompts.running
    if (decoder) decoder.foreign(line)
    else this.#ports.emit({ turn: null, type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #control(command: Parameters<Controls['run']>[0]): void {
    // The engine keeps a session in which a turn runs.
    if (command.type === 'session-close' && this.#prompts.decoder) return
    if (command.type === 'session-clear') this.#prompts.forget()
    this.#controls.run(command)
  }

  #die(why: Fault, cancelled: boolean): void {
    this.#unasked.end()
    this.#connection.dead = why
    this.#prompts.fail(why, cancelled)
    this.#connection.die(why)
  }
}

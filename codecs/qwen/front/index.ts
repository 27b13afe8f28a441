import * as v from 'valibot'
import {
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  isRecord,
  type JsonText,
  type LinkEvent,
  member,
  oneLine,
  parse,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { RFC_TYPES } from '../../qwen-code/index.ts'
import { ControlResponse, Instant } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { HELP } from './args.ts'
import { readOpenAiBody } from './body.ts'
import { Client } from './client.ts'
import { noticeMembers } from './ending.ts'
import { Instants } from './instant.ts'
import { type FaultKind, Lines, type Place } from './lines.ts'
import { beyondThis, isTaken, isText, placeOf } from './negotiation.ts'
import { QwenQueue } from './queue.ts'
import { describe, implicitCommand, type Read, type Request, readChatRequest } from './request.ts'

/** The text that `--version` prints. */
const VERSION = '0.0.0-turnpike'
const UNSUPPORTED_EXIT = 2

/**
 * A client of the RFC's command line: on stdio for as long as the process lives, over HTTP for the lines of one body.
 * Requests run one after the other; hints, heartbeats, cancellations and answers are taken at once.
 */
export class QwenFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  readonly #client: Client
  readonly #queue: QwenQueue
  readonly #instants: Instants
  readonly #text: string[] = []
  #faultKind: FaultKind = 'error'
  /** The ids for the refusal of the line that is being read. */
  #place: Place | undefined
  #sawInput = false
  #closed = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    const client = new Client(context, ports)
    this.#client = client
    this.#queue = new QwenQueue(client)
    this.#instants = new Instants(client)
    if (client.args.input !== undefined) client.textInput = client.args.input === 'text'
    // A body that is called JSON is no prompt when it is none.
    else if (context.headers['content-type'] !== undefined) client.textInput = isText(context)
  }

  open(): void {
    const { print, prompt, unsupported, refused } = this.#client.args
    if (refused !== undefined) {
      this.#client.warn(refused)
      this.#close(1)
    } else if (print) {
      for (const text of print === 'help' ? HELP : [`qwen ${VERSION}`]) this.#ports.send(text)
      this.#close(0)
    } else if (unsupported !== undefined) this.#refuseVersion(unsupported)
    else if (this.#http && !isTaken(this.#context)) {
      const text = 'The body must be lines of JSON, sent as application/x-ndjson, or text, sent as text/plain.'
      this.#ports.fault(fault('invalid-request', text), 'continues', undefined, 415)
      this.#close(0)
    } else if (prompt !== undefined) {
      this.#client.ended = true
      this.#prompt(prompt)
    }
  }

  decode(frame: Frame): void {
    const client = this.#client
    if (this.#closed || client.args.prompt !== undefined) return
    this.#sawInput = true
    const line = frameText(frame)
    const value = parse(line)
    client.textInput ??= !isRecord(value)
    if (client.textInput) this.#text.push(line)
    else if (isRecord(value)) {
      this.#place = placeOf(value)
      this.#request(line, value)
      this.#place = undefined
    } else this.#refuse(value === undefined ? 'The line is not JSON.' : 'The line is not a JSON object.')
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    this.#client.ended = true
    if (why === 'signal') this.#queue.drop()
    else if (this.#text.length > 0) this.#prompt(this.#text.join('\n'))
    else if (this.#http && !this.#sawInput && !this.#closed) {
      this.#refuse('The body holds no request: send one JSON object a line.')
    }
    this.#settle()
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#client.lastAt = view.at
    this.#queue.encode(event, exchange, view)
    if (event.type === 'turn-end') this.#settle()
  }

  encodeLink(event: LinkEvent): void {
    if (event.type === 'command-reply') {
      if (this.#queue.reply(event) || this.#instants.reply(event)) this.#settle()
    } else if (event.type === 'notice' && !this.#client.text) {
      this.#lines().write('x-qwen-session-event', noticeMembers(event), event.ext)
    } else if (event.type === 'foreign' && event.protocol === PROTOCOL) this.#ports.send(oneLine(event.frame))
  }

  encodeFault(reason: Fault, exchange: Id | undefined, input: InputFate): void {
    const healthy = input === 'continues' && (reason.retryable || reason.code === 'invalid-request')
    if (exchange === undefined) this.#writeFault(reason, healthy)
    else if (!this.#instants.reply({ turn: null, type: 'command-reply', exchange, fault: reason })) {
      this.#queue.fail(reason, exchange, healthy)
    }
    if (exchange !== undefined) this.#settle()
  }

  keepAlive(): void {
    if (this.#client.settled && !this.#client.text) this.#instants.beat(this.#client.sessions.current)
  }

  get #http(): boolean {
    return this.#context.transport === 'http'
  }

  #request(line: JsonText, value: Record<string, unknown>): void {
    const beyond = beyondThis(value, this.#client)
    const { type } = value
    if (beyond !== undefined) this.#refuseVersion(beyond)
    else if (type === 'control_response') this.#controlResponse(line, value)
    else if (RFC_TYPES.has(type)) this.#instant(line, value)
    else if ('input' in value) this.#enqueue(readChatRequest(line, value))
    else if ('messages' in value) this.#enqueue(readOpenAiBody(line, value))
    else if (type === 'control_request') {
      this.#refuse('A client of this protocol answers control requests and sends none.', 'control_errors')
    } else this.#refuse('The line is no request: it has neither input nor messages, and its type is not known.')
  }

  #enqueue(read: Read): void {
    if (typeof read === 'string') this.#refuse(read)
    else this.#take(read)
  }

  #take(request: Request): void {
    const { toolCall } = request
    const { sessions } = this.#client
    if (toolCall !== undefined && this.#queue.asks?.toolResult(toolCall, request.input)) return
    const session = sessions.of(request.session, request.standalone)
    const prompt = sessions.prompt(session, request.prompt, toolCall !== undefined)
    if (this.#queue.add({ request, session, prompt })) return
    this.#place = { session, prompt }
    const text = 'Too many requests are waiting: send more when these have ended.'
    this.#ports.fault(fault('overloaded', text), 'continues')
  }

  /** Text as a prompt of its own. */
  #prompt(text: string): void {
    this.#sawInput = true
    const input = [{ type: 'text', text } as const]
    const command = implicitCommand(input)
    const own = { session: undefined, prompt: undefined, standalone: false, ext: undefined }
    this.#take({ ...own, input, options: {}, ...(command && { command }) })
  }

  #instant(line: JsonText, value: Record<string, unknown>): void {
    const { success, output, issues } = v.safeParse(Instant, value)
    if (!success) {
      this.#refuse(describe(issues[0]))
      return
    }
    const session = output.session_id || undefined
    const prompt = output.prompt_id || undefined
    const place = session ?? this.#client.sessions.current
    if (output.type === 'heartbeat_request') this.#instants.heartbeat(output, place)
    else if (output.type === 'command_hint_request') this.#instants.hint(output, place, line)
    else if (output.type === 'command_hint_cancel') this.#instants.cancelHint(place, prompt)
    else {
      const request = output.request_id ?? prompt ?? place
      this.#queue.cancel(session, prompt, { request, reason: output.reason ?? 'escape' })
    }
  }

  #controlResponse(line: JsonText, value: Record<string, unknown>): void {
    const { success, output, issues } = v.safeParse(ControlResponse, value)
    if (!success) this.#refuse(describe(issues[0]), 'control_errors')
    else if (!this.#queue.asks?.answer(output.request_id, member(line, 'response')!)) {
      this.#refuse('No control request with this request_id waits for an answer.', 'control_errors')
    }
  }

  /** Lines of no turn. */
  #lines(place: Place = { session: this.#client.sessions.current }): Lines {
    return new Lines(this.#client, { ...place, model: this.#client.args.model })
  }

  /** A request that cannot be taken, by way of the engine, which records the fault. */
  #refuse(message: string, kind: FaultKind = 'error'): void {
    this.#faultKind = kind
    this.#ports.fault(fault('invalid-request', message), 'continues')
    this.#faultKind = 'error'
  }

  #refuseVersion(message: string): void {
    this.#faultKind = 'unsupported'
    this.#ports.fault(fault('unsupported-version', message), 'continues')
    this.#close(UNSUPPORTED_EXIT)
  }

  #writeFault(reason: Fault, healthy: boolean): void {
    const client = this.#client
    if (client.text) {
      client.exitCode = 1
      client.warn(reason.message)
      if (client.transport !== 'stdio') this.#ports.send(reason.message)
    } else if (healthy || this.#faultKind === 'unsupported') {
      this.#lines(this.#place).recoverable(reason, client.at, this.#faultKind)
    } else {
      this.#lines(this.#place).fatal(reason)
      this.#close(1)
    }
  }

  /** Closes the wire once it is broken, or once the input has ended and everything is answered. */
  #settle(): void {
    const { ended, exitCode } = this.#client
    if (this.#queue.broken || (ended && this.#queue.idle && this.#instants.idle)) this.#close(exitCode)
  }

  #close(exitCode: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#ports.close(exitCode)
  }
}

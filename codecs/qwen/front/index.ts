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
  type TurnOptions,
  type TurnView,
} from '../../../src/model/index.ts'
import { ControlResponse, Instant } from '../schema.ts'
import { type Format, PROTOCOL } from '../wire.ts'
import { type Arguments, HELP, readArguments, readQuery } from './args.ts'
import { noticeMembers } from './ending.ts'
import { Instants } from './instant.ts'
import { Greeting, Lines, type Place } from './lines.ts'
import { beyondThis, isTaken, mediaType, placeOf, readAsk } from './negotiation.ts'
import { OVERLOADED, type QueueOwner, QwenQueue } from './queue.ts'
import { describe, implicitCommand, type Read, type Request, readChatRequest, readOpenAiBody } from './request.ts'
import { Sessions } from './sessions.ts'

/** The text that `--version` prints. */
const VERSION = '0.0.0-turnpike'
const UNSUPPORTED_EXIT = 2

/** The place of a failure that this link finds itself: a line, the errors of controls, or standard error. */
type FaultKind = 'error' | 'control_errors' | 'unsupported'

/**
 * A client of the RFC's command line: on stdio for as long as the process lives, over HTTP for the lines of one body.
 * Requests run one after the other; hints, heartbeats, cancellations and answers are taken at once.
 */
export class QwenFront implements FrontLink, QueueOwner {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  readonly #arguments: Arguments
  readonly #sessions: Sessions
  readonly #queue: QwenQueue
  readonly #instants: Instants
  readonly #text: string[] = []
  #textInput: boolean | undefined
  #greeting: Greeting | undefined
  /** The output format that the first request asks for. */
  #wished: Format | undefined
  #faultKind: FaultKind = 'error'
  /** The ids for the refusal of the line that is being read. */
  #place: Place | undefined
  #lastAt = 0
  #exitCode = 0
  #sawInput = false
  #closed = false
  ended = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#arguments = context.transport === 'stdio' ? readArguments(context.argv) : readQuery(context)
    this.#sessions = new Sessions(this.#arguments.session, () => ports.newId())
    this.#queue = new QwenQueue(ports, this)
    this.#instants = new Instants(ports, () => this.greeting)
    if (this.#arguments.input !== undefined) this.#textInput = this.#arguments.input === 'text'
    else if (mediaType(context) === 'text/plain') this.#textInput = true
  }

  get greeting(): Greeting {
    this.#greeting ??= this.#newGreeting()
    return this.#greeting
  }

  get defaults(): TurnOptions {
    const { model, systemPrompt } = this.#arguments
    return { ...(model !== undefined && { model }), ...(systemPrompt !== undefined && { systemPrompt }) }
  }

  get at(): number {
    return this.#ports.now?.() ?? this.#lastAt
  }

  open(): void {
    const { print, prompt, unsupported, refused } = this.#arguments
    if (refused !== undefined) {
      this.#ports.warn(`turnpike as qwen: ${refused}`)
      this.#close(1)
    } else if (print) {
      for (const text of print === 'help' ? HELP : [`qwen ${VERSION}`]) this.#ports.send(text)
      this.#close(0)
    } else if (unsupported !== undefined) this.#refuseVersion(unsupported)
    else if (this.#context.transport === 'http' && !isTaken(this.#context)) {
      const text = 'The body must be lines of JSON, sent as application/x-ndjson, or text, sent as text/plain.'
      this.#ports.fault(fault('invalid-request', text), 'continues', undefined, 415)
      this.#close(0)
    } else if (prompt !== undefined) {
      this.ended = true
      this.#prompt(prompt)
    }
  }

  decode(frame: Frame): void {
    if (this.#closed || this.#arguments.prompt !== undefined) return
    this.#sawInput = true
    const line = frameText(frame)
    const value = parse(line)
    this.#textInput ??= !isRecord(value)
    if (this.#textInput) this.#text.push(line)
    else if (isRecord(value)) this.#request(line, value)
    else this.#refuse(value === undefined ? 'The line is not JSON.' : 'The line is not a JSON object.')
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    this.ended = true
    if (why === 'signal') this.#queue.drop()
    else if (this.#text.length > 0) this.#prompt(this.#text.join('\n'))
    else if (this.#context.transport === 'http' && !this.#sawInput && !this.#closed) {
      this.#refuse('The body holds no request: send one JSON object a line.')
    }
    this.#settle()
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#lastAt = view.at
    this.#queue.encode(event, exchange, view)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type === 'command-reply') {
      if (!this.#queue.reply(event) && this.#instants.reply(event, this.at)) this.#settle()
    } else if (event.type === 'notice' && this.greeting.output !== 'text') {
      this.#lines({ session: this.#sessions.current }).write('x-qwen-session-event', noticeMembers(event), event.ext)
    } else if (event.type === 'foreign' && event.protocol === PROTOCOL) this.#ports.send(oneLine(event.frame))
  }

  encodeFault(reason: Fault, exchange: Id | undefined, input: InputFate): void {
    const healthy = input === 'continues' && (reason.retryable || reason.code === 'invalid-request')
    if (exchange === undefined) this.#writeFault(reason, healthy)
    else if (this.#instants.has(exchange)) {
      this.encodeLink({ turn: null, type: 'command-reply', exchange, fault: reason })
    } else this.#queue.fail(reason, exchange, healthy)
  }

  keepAlive(): void {
    if (this.#greeting && this.greeting.output !== 'text') this.#instants.beat(this.#sessions.current, this.at)
  }

  /** A request has its answer. */
  over(failed: boolean): void {
    if (failed) {
      this.#exitCode = 1
      if (this.greeting.output !== 'text') this.#close(1)
    }
    this.#settle()
  }

  #newGreeting(): Greeting {
    const { transport } = this.#context
    const output = this.#arguments.output ?? this.#wished ?? (transport === 'stdio' ? 'text' : 'stream-json')
    const input = this.#arguments.input ?? (this.#textInput ? 'text' : 'stream-json')
    return new Greeting(input, output, transport !== 'http' && input !== 'text' && output !== 'text')
  }

  #request(line: JsonText, value: Record<string, unknown>): void {
    this.#place = placeOf(value)
    this.#route(line, value)
    this.#place = undefined
  }

  #route(line: JsonText, value: Record<string, unknown>): void {
    const { transport } = this.#context
    const ask = readAsk(value)
    this.#wished ??= ask.output ?? (value['stream'] === true && transport !== 'stdio' ? 'stream-chunk-json' : undefined)
    const beyond = beyondThis(ask, this.greeting)
    const { type } = value
    if (beyond !== undefined) this.#refuseVersion(beyond)
    else if (type === 'control_response') this.#controlResponse(line, value)
    else if (typeof type === 'string' && INSTANT.has(type)) this.#instant(type, line, value)
    else if ('input' in value) this.#enqueue(readChatRequest(line, value))
    else if ('messages' in value) this.#enqueue(readOpenAiBody(line, value))
    else if (type === 'control_request') {
      this.#refuse('A client of this protocol answers control requests and sends none.', 'control_errors')
    } else this.#refuse('The line is no request: it has neither input nor messages, and its type is not known.')
  }

  #enqueue(read: Read): void {
    if ('wrong' in read) this.#refuse(read.wrong)
    else this.#take(read.ok)
  }

  #take(request: Request): void {
    const { toolCall } = request
    if (toolCall !== undefined && this.#queue.writer?.asks.toolResult(toolCall, request.input)) return
    const session = this.#sessions.of(request.session, request.standalone)
    const prompt = this.#sessions.prompt(session, request.prompt, toolCall !== undefined)
    if (this.#queue.add({ request, session, prompt })) return
    this.#place = { session, prompt }
    this.#ports.fault(OVERLOADED, 'continues')
  }

  /** Text as a prompt of its own. */
  #prompt(text: string): void {
    this.#sawInput = true
    const input = [{ type: 'text', text } as const]
    const command = implicitCommand(input)
    this.#take({
      session: undefined,
      prompt: undefined,
      input,
      options: {},
      ...(command && { command }),
      standalone: false,
      ext: undefined,
    })
  }

  #instant(type: string, line: JsonText, value: Record<string, unknown>): void {
    const { success, output, issues } = v.safeParse(Instant, value)
    if (!success) {
      this.#refuse(describe(issues[0]))
      return
    }
    const session = output.session_id || undefined
    const prompt = output.prompt_id || undefined
    const place = session ?? this.#sessions.current
    if (type === 'heartbeat_request') this.#instants.heartbeat(output, place)
    else if (type === 'command_hint_request') this.#instants.hint(output, place, line)
    else if (type === 'command_hint_cancel') this.#instants.cancelHint(place, prompt)
    else {
      const request = output.request_id ?? prompt ?? place
      this.#queue.cancel(session, prompt, { request, reason: output.reason ?? 'escape' })
    }
  }

  #controlResponse(line: JsonText, value: Record<string, unknown>): void {
    const { success, output, issues } = v.safeParse(ControlResponse, value)
    if (!success) this.#refuse(describe(issues[0]), 'control_errors')
    else if (!this.#queue.writer?.asks.answer(output.request_id, member(line, 'response')!)) {
      this.#refuse('No control request with this request_id waits for an answer.', 'control_errors')
    }
  }

  #lines(place: Place): Lines {
    return new Lines(this.#ports, undefined, { ...place, model: this.#arguments.model }, this.greeting)
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
    if (this.greeting.output === 'text') {
      this.#exitCode = 1
      this.#ports.warn(`turnpike as qwen: ${reason.message}`)
      if (this.#context.transport !== 'stdio') this.#ports.send(reason.message)
      return
    }
    const lines = this.#lines(this.#place ?? { session: this.#sessions.current })
    if (this.#faultKind === 'unsupported') lines.unsupported(reason, this.at)
    else if (healthy) lines.recoverable(reason, this.at, this.#faultKind)
    else {
      lines.fatal(reason)
      this.#close(1)
    }
  }

  /** The input has ended and everything is answered. */
  #settle(): void {
    if (this.ended && this.#queue.idle && this.#instants.idle) this.#close(this.#exitCode)
  }

  #close(exitCode: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#ports.close(exitCode)
  }
}

const INSTANT: ReadonlySet<string> = new Set([
  'heartbeat_request',
  'command_hint_request',
  'command_hint_cancel',
  'control/cancel',
])

import { messageLine, refusesBody } from '../../../src/codec-kit/index.ts'
import {
  type Frame,
  type Framing,
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
  type LinkEvent,
  parse,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { FrontAsks } from './asks.ts'
import { Client } from './client.ts'
import { FrontControls } from './controls.ts'
import { framingOf } from './flags.ts'
import { HELP, VERSION } from './help.ts'
import { readMessage } from './message.ts'
import { QwenCodeQueue } from './queue.ts'
import { messageOf, resultEntries } from './result.ts'
import { StdinText } from './text.ts'

/** The time that a program with a prompt in its arguments waits for more of it on stdin, in milliseconds. */
const MORE_MS = 500

/**
 * A client of the Qwen Code CLI: on stdio for as long as the process lives, over HTTP for the lines of one body. Turns
 * run one after the other in the order they came; control requests are answered at once.
 */
export class QwenCodeFront implements FrontLink {
  readonly idleMs?: number
  readonly #context: FrontContext
  readonly #client: Client
  readonly #asks: FrontAsks
  readonly #queue: QwenCodeQueue
  readonly #controls: FrontControls
  readonly #text = new StdinText()
  #sawInput = false
  #first = true
  #ended = false
  #closed = false
  /** Set where the exit code does not depend on the turns. */
  #exitCode: number | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#client = new Client(context, ports)
    this.#asks = new FrontAsks(this.#client, !this.#http && this.#lines)
    this.#queue = new QwenCodeQueue(this.#client, this.#asks)
    this.#controls = new FrontControls(this.#client, this.#queue)
    if (!this.#lines && this.#client.args.prompt !== undefined) this.idleMs = MORE_MS
  }

  get framing(): Framing {
    return framingOf(this.#client.args)
  }

  /** Readers of lines skip empty ones. */
  keepAlive(): void {
    if (this.#http && this.#lines) this.#client.ports.send('')
  }

  open(): void {
    const { ports, args } = this.#client
    const { warnings, refusal, print, prompt } = args
    for (const text of warnings) this.#client.warn(text)
    if (print) {
      for (const text of print === 'help' ? HELP : [VERSION]) ports.send(text)
      this.#close(0)
    } else if (refusal !== undefined) {
      ports.warn(refusal)
      this.#close(1)
    } else if (refusesBody(this.#context, ports)) this.#close(0)
    else {
      this.#controls.begin()
      if (this.#lines && prompt !== undefined) this.#prompt(prompt)
    }
  }

  decode(frame: Frame): void {
    if (this.#closed || this.#ended) return
    const read = frameText(frame)
    const line = this.#first ? read.replace(/^\ufeff/, '') : read
    this.#first = false
    if (this.#lines) this.#line(line)
    else if (this.#text.add(line)) this.#client.warn('the text on stdin is too long; it is cut at 8 MiB.')
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    const before = this.#ended
    this.#ended = true
    this.#asks.close()
    if (why === 'signal') {
      this.#exitCode = 130
      this.#queue.drop()
    } else if (!before && !this.#closed) {
      if (!this.#lines) this.#prompt(this.#text.withPrompt(this.#client.args.prompt))
      else if (this.#http && !this.#sawInput) this.#fault('The body holds no message: send one JSON object a line.')
    }
    this.#settle()
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#queue.encode(event, exchange, view)
    if (event.type === 'turn-end') this.#settle()
  }

  encodeLink(event: LinkEvent): void {
    if (event.type === 'command-reply') {
      if (this.#controls.calls.answer(event)) this.#queue.resume()
      else this.#queue.cleared(event.exchange, event.fault)
      this.#settle()
    } else if (event.type === 'ask') this.#asks.ask(event, undefined, undefined)
    else if (event.type === 'ask-settled') this.#asks.settled(event.ask)
  }

  encodeFault(reason: Fault, exchange: Id | undefined, input: InputFate): void {
    if (exchange !== undefined && this.#controls.calls.fail(exchange, reason)) this.#queue.resume()
    else if (exchange === undefined || !this.#queue.fail(reason, exchange)) this.#refuse(reason, input)
    this.#settle()
  }

  get #http(): boolean {
    return this.#context.transport === 'http'
  }

  /** True when the input is lines of messages. */
  get #lines(): boolean {
    return this.#client.args.input === 'stream-json'
  }

  #line(line: string): void {
    if (line.trim() === '') return
    this.#sawInput = true
    const value = parse(line)
    const type = isRecord(value) ? value['type'] : undefined
    if (!isRecord(value) || typeof type !== 'string') {
      // What was read before still gets its results.
      const what = value === undefined ? 'it is not JSON' : 'it has no type'
      this.#fault(`A line on stdin cannot be read: ${what}. Nothing after it is read.`, 'ends')
    } else if (type === 'user') this.#user(value, line)
    else if (type === 'control_response') this.#asks.answer(value, line)
    else if (type === 'control_request' && typeof value['request_id'] === 'string' && 'request' in value) {
      this.#controls.run(value['request_id'], line)
    } else if (type !== 'control_cancel_request') this.#client.warn('a line of an unknown type on stdin is ignored.')
  }

  #user(value: Record<string, unknown>, line: string): void {
    const read = readMessage(value, line)
    if (read === 'empty') this.#client.warn('a message without content on stdin is ignored.')
    else if (read === 'null') this.#fault('The message of a user line is null.')
    else if (!this.#queue.add(read)) {
      const text = 'Too many messages are waiting: send more when these have their results.'
      this.#client.ports.fault(fault('overloaded', text), 'continues')
    }
  }

  /** A line or a body that cannot be taken, by way of the engine, which records the fault. */
  #fault(text: string, input: InputFate = 'continues'): void {
    this.#client.ports.fault(fault('invalid-request', text), input)
  }

  /** A prompt from the arguments or from stdin as text. */
  #prompt(text: string): void {
    if (text.trim() !== '') this.#queue.add({ input: [{ type: 'text', text }], ext: undefined })
    else {
      const told = 'No input provided via stdin. Input can be provided by piping data or using the --prompt option.'
      this.#client.ports.warn(told)
      this.#exitCode = 1
    }
  }

  /** A failure that no turn owns, as a result of its own where the output is lines. */
  #refuse(reason: Fault, input: InputFate): void {
    const { ports, args } = this.#client
    if (input === 'ends') this.#ended = true
    if (input === 'ends' || args.output === 'text') this.#exitCode = 1
    const ending = { outcome: 'failed', fault: reason } as const
    if (!this.#http) ports.warn(messageOf(ending))
    if (args.output === 'text') return
    const line = messageLine(resultEntries(ending, '', { durationMs: 0, answers: 0 }, this.#client, undefined))
    ports.send(args.output === 'json' ? `[${line}]` : line)
  }

  /** The input has ended and everything is answered. */
  #settle(): void {
    if (!this.#ended || !this.#queue.idle || !this.#controls.calls.idle) return
    this.#close(this.#exitCode ?? (this.#lines ? 0 : this.#queue.exitCode))
  }

  #close(exitCode: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#client.ports.close(exitCode)
  }
}

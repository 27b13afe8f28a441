import { type GatewayReply, refusesBody } from '../../../src/codec-kit/index.ts'
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
  type JsonText,
  type LinkEvent,
  oneLine,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { PROTOCOL, PROTOCOL_VERSION, TOKEN_VARIABLE } from '../wire.ts'
import { type Arguments, HELP, readArguments } from './args.ts'
import { FrontAsks, QUERIES } from './asks.ts'
import { commandExt, type Line, readLine } from './command-line.ts'
import { noticeLine, type Request, refusal, success } from './lines.ts'
import { readPrompt } from './prompt.ts'
import { type Waiting, ZotQueue } from './queue.ts'
import { modelTable, PROVIDER } from './replies.ts'

/** The name of this implementation in `hello` and `--version`. */
const VERSION = '0.0.0-turnpike'

type RefusalCode = 'invalid-request' | 'unauthenticated' | 'overloaded'

const NOBODY: Request = { command: '' }

/**
 * A client of `zot rpc`: on stdio for as long as the process lives, over HTTP for the lines of one body. Prompts and
 * compactions run one after the other in the order they came; everything else is answered at once.
 */
export class ZotFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  readonly #arguments: Arguments
  readonly #queue: ZotQueue
  readonly #asks: FrontAsks
  /** The client may send commands: no token is needed, or its `hello` has brought it. */
  #granted: boolean
  #model: string | undefined
  /** The exit code once all is answered, if the process does not end by itself: 0 after a stop, 1 after an unreadable line. */
  #exitCode: number | undefined
  /** True once something of the input was answered. */
  #sawInput = false
  #ended = false
  #closed = false
  /** The command that a fault found by this link itself answers. */
  #refused = NOBODY

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#arguments = readArguments(context.argv)
    this.#granted = this.#token === ''
    this.#model = this.#arguments.options.model
    const named = context.headers['turnpike-session'] || new URLSearchParams(context.query).get('session')
    const session = named || this.#arguments.session || ports.newId()
    const { options, appended } = this.#arguments
    const client = { session, appended, options: () => ({ ...options, ...(this.#model && { model: this.#model }) }) }
    this.#queue = new ZotQueue(ports, client, () => this.#asks.changing)
    this.#asks = new FrontAsks(ports, session, () => ({ provider: this.#provider, model: this.#model ?? '' }))
  }

  open(): void {
    for (const text of this.#arguments.warnings) this.#ports.warn(`turnpike as zot: ${text}`)
    const { refused, print } = this.#arguments
    if (refused !== undefined) {
      this.#ports.warn(`zot: ${refused}`)
      this.#close(1)
    } else if (print) this.#print(print)
    else if (refusesBody(this.#context, this.#ports)) this.#close(0)
  }

  decode(frame: Frame): void {
    if (this.#closed || this.#arguments.print) return
    this.#sawInput = true
    const line = readLine(frameText(frame))
    if (typeof line === 'string') this.#refuse(NOBODY, `malformed json: ${line}`)
    else if (line.command === 'hello') this.#hello(line)
    else if (!this.#granted) this.#refuse(line, 'auth required: send hello with token first', 'unauthenticated')
    else this.#run(line)
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    this.#ended = true
    if (why === 'signal') {
      // As the shell reports a program that SIGTERM ended.
      this.#exitCode ??= 143
      this.#queue.drop()
      this.#queue.cancel(undefined)
    } else if (this.#context.transport === 'http' && !this.#sawInput) {
      this.#refuse(NOBODY, 'The body holds no command: send one JSON object a line.')
    }
    this.#settle()
  }

  encode(event: TurnEvent, exchange: Id, turn: TurnView): void {
    this.#queue.encode(event, exchange, turn)
    if (event.type === 'turn-end') this.#settle()
  }

  encodeTexts(run: TextRun, exchange: Id, turn: TurnView): void {
    this.#queue.texts(run, exchange, turn)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type === 'command-reply') {
      if (this.#asks.calls.answer(event)) this.#queue.resume()
      this.#settle()
    } else if (event.type === 'notice') this.#ports.send(noticeLine(event))
    else if (event.type === 'foreign' && event.protocol === PROTOCOL) this.#ports.send(oneLine(event.frame))
  }

  /** Readers of lines skip empty ones. */
  keepAlive(): void {
    if (this.#context.transport === 'http') this.#ports.send('')
  }

  encodeFault(reason: Fault, exchange: Id | undefined, input: InputFate): void {
    if (exchange === undefined) {
      this.#ports.send(refusal(this.#refused, reason))
      this.#sawInput = true
      if (input === 'ends') this.#exitCode = 1
    } else if (this.#asks.calls.fail(exchange, reason)) this.#queue.resume()
    else this.#queue.fail(reason, exchange)
    this.#settle()
  }

  #run(line: Line): void {
    const query = QUERIES.get(line.command)
    if (query) this.#asks.ask(line, { type: 'query', what: query.what }, query.write, commandExt(line))
    else if (line.command === 'prompt') this.#prompt(line)
    else if (line.command === 'compact')
      this.#enqueue({ command: 'compact', id: line.id, input: [], ext: commandExt(line) }, line)
    else if (line.command === 'abort') {
      this.#ports.send(success(line, undefined))
      this.#queue.cancel(commandExt(line))
    } else if (line.command === 'clear') this.#clear(line)
    else if (line.command === 'set_model') this.#setModel(line)
    else this.#refuse(line, 'unknown command')
  }

  #hello(line: Line): void {
    if (this.#token !== '' && line.value['token'] !== this.#token) {
      this.#refuse(line, 'invalid token', 'unauthenticated')
      this.#ports.warn(`turnpike as zot: the token of hello is not that of ${TOKEN_VARIABLE}.`)
      this.#close(1)
      return
    }
    this.#granted = true
    const names = `"provider":${quote(this.#provider)},"model":${quote(this.#model ?? '')}`
    this.#ports.send(success(line, `{"protocol_version":${PROTOCOL_VERSION},"version":"${VERSION}",${names}}`))
  }

  #prompt(line: Line): void {
    const read = readPrompt(line.value, line.json)
    if (typeof read === 'string') this.#refuse(line, read)
    else this.#enqueue({ command: 'prompt', id: line.id, input: read.input, ext: commandExt(line, read.images) }, line)
  }

  #clear(line: Line): void {
    const ask = (): void => this.#asks.ask(line, { type: 'session-clear' }, undefined, commandExt(line))
    if (this.#queue.idle) ask()
    else this.#enqueue({ command: 'clear', ask }, line)
  }

  #enqueue(waiting: Waiting, request: Request): void {
    if (this.#queue.add(waiting)) return
    this.#refuse(request, 'Too many prompts are waiting: send more when these have ended.', 'overloaded')
  }

  #setModel(line: Line): void {
    const { model } = line.value
    if (typeof model !== 'string') {
      this.#refuse(line, 'set_model: model must be a string')
      return
    }
    const write = (): JsonText => {
      this.#model = model
      return `{"model":${quote(model)}}`
    }
    this.#asks.ask(line, { type: 'config-set', model }, write, commandExt(line))
  }

  /** The response that a command was not done, by way of the engine, which records the fault. */
  #refuse(request: Request, message: string, code: RefusalCode = 'invalid-request'): void {
    this.#refused = request
    this.#ports.fault(fault(code, message), 'continues')
    this.#refused = NOBODY
  }

  #print(what: 'help' | 'version' | 'models'): void {
    if (what === 'models') {
      const { calls, session } = this.#asks
      calls.ask({ type: 'query', what: 'models' }, session, (reply) => this.#printModels(reply))
      return
    }
    for (const text of what === 'help' ? HELP : [`zot ${VERSION}`]) this.#ports.send(text)
    this.#close(0)
  }

  #printModels(reply: GatewayReply): void {
    const failed = 'fault' in reply
    if (failed) this.#ports.warn(`turnpike as zot: ${reply.fault.message}`)
    for (const text of modelTable(failed ? undefined : reply.data)) this.#ports.send(text)
    this.#close(failed ? 1 : 0)
  }

  /** The token that a client must bring; empty where none is needed. */
  get #token(): string {
    return this.#context.transport === 'http' ? '' : (this.#context.env[TOKEN_VARIABLE] ?? '')
  }

  get #provider(): string {
    return this.#arguments.provider ?? PROVIDER
  }

  /** The input has ended and all is answered: the engine closes the wire by itself, unless the exit code is ours. */
  #settle(): void {
    const over = this.#ended && this.#queue.idle && this.#asks.calls.idle
    if (over && this.#exitCode !== undefined) this.#close(this.#exitCode)
  }

  #close(exitCode: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#ports.close(exitCode)
  }
}

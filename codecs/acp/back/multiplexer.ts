import {
  RPC_CODES,
  type RpcAnswer,
  type RpcMessage,
  RpcWriter,
  readRpc,
  scalarText,
  withRpcId,
} from '../../../src/codec-kit/index.ts'
import { type Frame, frameText, type Multiplexer, type MultiplexerPorts } from '../../../src/contract/index.ts'
import { type JsonText, member, quote } from '../../../src/model/index.ts'
import { ACP_CODES } from '../errors.ts'
import { canClose } from '../schema.ts'
import { PLAIN_TEXT } from './plain-text.ts'
import { RoutedAsks } from './routed-asks.ts'
import { SessionOwners, sessionOf } from './session-owners.ts'

const TAKEN = 'Another client works in this session.'
const MADE_TWICE = 'The agent has made a session that it had made before.'

type Request = RpcMessage & { kind: 'request' }
type Notification = RpcMessage & { kind: 'notification' }

/** A request that a link has made, with its own id. */
interface Made {
  readonly link: number
  readonly id: JsonText
  readonly method: string
  readonly session: string | undefined
}

/** Requests that an agent gets once: their answer is that of every link. */
const ONCE: ReadonlySet<string> = new Set(['initialize', 'authenticate'])

/** Requests that open the session which they name, and whose updates may come before their answer. */
const OPENING: ReadonlySet<string> = new Set(['session/load', 'session/resume'])

/** Requests that make a session. The one that is copied may be another link's. */
const MAKING: ReadonlySet<string> = new Set(['session/new', 'session/fork'])

/** Several links on one agent: a session is that of the link which has opened it, and messages go by their session. */
export class AcpMultiplexer implements Multiplexer {
  readonly #ports: MultiplexerPorts
  readonly #writer = new RpcWriter()
  /** The requests that are not answered, by the id that the agent knows; those that it gets once, of each link. */
  readonly #made = new Map<string, Made>()
  readonly #asks: RoutedAsks
  readonly #owners = new SessionOwners()
  /** The answers to requests that the agent gets once. */
  readonly #once = new Map<string, string>()
  /** Links that were given up, until the agent does nothing for them any more. */
  readonly #left = new Set<number>()
  #closes = false
  #count = 0

  constructor(ports: MultiplexerPorts) {
    this.#ports = ports
    this.#asks = new RoutedAsks(ports)
  }

  fromLink(link: number, frame: Frame): void {
    const line = frameText(frame)
    const message = readRpc(line)
    if (message?.kind === 'request') this.#request(link, message, line)
    else if (message?.kind === 'notification') {
      if (this.#owners.isFree(sessionOf(message.params), link)) this.#ports.toProcess(line)
    } else if (message) this.#asks.answer(link, message.id, line)
  }

  fromProcess(frame: Frame): void {
    // Some programs write a byte order mark before each message.
    const line = frameText(frame).replace(/^\ufeff+/, '')
    const plain = PLAIN_TEXT.exec(line)
    const message = plain ? undefined : readRpc(line)
    if (plain) this.#tell(this.#owners.linkOf(plain[1]), line)
    else if (message === undefined) this.#noise(line)
    else if (message.kind === 'request') this.#asks.ask(message, line, this.#linkOf(message, line))
    else if (message.kind === 'notification') this.#tell(this.#linkOf(message, line), line)
    else this.#answer(message, line)
  }

  leave(link: number): void {
    this.#left.add(link)
    this.#asks.leave(link)
    for (const { link: of, method, session } of this.#made.values()) {
      if (of !== link || method !== 'session/prompt' || session === undefined) continue
      this.#ports.toProcess(this.#writer.notification('session/cancel', `{"sessionId":${quote(session)}}`))
    }
    if (this.#closes) for (const session of this.#owners.sessionsOf(link)) this.#close(session, link)
    this.#forget(link)
  }

  works(link: number): boolean {
    return [...this.#made.values()].some((made) => made.link === link)
  }

  #request(link: number, { id, method, params }: Request, line: string): void {
    const session = sessionOf(params)
    const answer = this.#once.get(method)
    if (answer !== undefined) this.#ports.toLink(link, withRpcId(answer, id))
    else if (method !== 'session/fork' && !this.#owners.isFree(session, link)) {
      this.#ports.toLink(link, this.#writer.error(id, ACP_CODES.resourceNotFound, TAKEN))
    } else {
      if (session !== undefined && OPENING.has(method)) this.#owners.give(session, link)
      const isOnItsWay = ONCE.has(method) && [...this.#made.values()].some((made) => made.method === method)
      const own = this.#make({ link, id, method, session })
      if (!isOnItsWay) this.#ports.toProcess(withRpcId(line, own))
    }
  }

  #make(made: Made): JsonText {
    this.#count += 1
    this.#made.set(String(this.#count), made)
    return String(this.#count)
  }

  #answer(message: RpcAnswer, line: string): void {
    const own = scalarText(JSON.parse(message.id))
    const made = this.#made.get(own)
    if (!made) return
    if (ONCE.has(made.method)) this.#answerAll(made.method, message, line)
    else {
      this.#made.delete(own)
      this.#settle(made, message, line)
    }
  }

  /** The answer to a request that every link makes, and the agent gets once. */
  #answerAll(method: string, message: RpcAnswer, line: string): void {
    this.#once.set(method, line)
    if (method === 'initialize') this.#closes = message.kind === 'result' && canClose(message.result)
    for (const [own, made] of [...this.#made]) {
      if (made.method !== method) continue
      this.#made.delete(own)
      this.#settle(made, message, line)
    }
  }

  #settle({ link, id, method, session }: Made, message: RpcAnswer, line: string): void {
    const isDone = message.kind === 'result'
    const opened = MAKING.has(method) && isDone ? sessionOf(message.result) : undefined
    if (session !== undefined && (isDone ? method === 'session/close' : OPENING.has(method)))
      this.#owners.delete(session)
    if (!this.#owners.isFree(opened, link)) {
      this.#tell(link, this.#writer.error(id, RPC_CODES.internal, MADE_TWICE))
    } else {
      if (opened !== undefined) this.#owners.give(opened, link)
      this.#tell(link, withRpcId(line, id))
    }
    if (!this.#left.has(link)) return
    if (opened !== undefined && this.#closes) this.#close(opened, link)
    this.#forget(link)
  }

  #linkOf({ method, params }: Request | Notification, line: string): number | undefined {
    if (method === '$/cancel_request') return this.#asks.linkOf(member(member(line, 'params') ?? '{}', 'requestId'))
    const link = this.#owners.linkOf(sessionOf(params))
    return link !== undefined && this.#left.has(link) ? undefined : link
  }

  /** A line that is no message. It may say what is wrong with an agent that never gets ready. */
  #noise(line: string): void {
    for (const { link, method } of this.#made.values()) if (method === 'initialize') this.#tell(link, line)
  }

  #tell(link: number | undefined, line: string): void {
    if (link !== undefined && !this.#left.has(link)) this.#ports.toLink(link, line)
  }

  #close(session: string, link: number): void {
    const own = this.#make({ link, id: 'null', method: 'session/close', session })
    this.#ports.toProcess(this.#writer.request(own, 'session/close', `{"sessionId":${quote(session)}}`))
  }

  #forget(link: number): void {
    if (this.works(link)) return
    this.#left.delete(link)
    for (const session of this.#owners.sessionsOf(link)) this.#owners.delete(session)
  }
}

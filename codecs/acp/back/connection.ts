import * as v from 'valibot'
import { Handshake, RpcCalls, RpcWriter, type TakeAnswer } from '../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, CallEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText, member } from '../../../src/model/index.ts'
import type { ContentKinds } from '../content.ts'
import { textOfError } from '../errors.ts'
import type { Options } from '../options.ts'
import { Initialized, isOffered, type SessionCapability } from '../schema.ts'
import { PROTOCOL_VERSION } from '../wire.ts'
import { FILE_METHODS, introduction } from './introduction.ts'
import { loginFault } from './login.ts'
import { type Quirks, quirksOf } from './quirks.ts'

/** The connection to an agent: its process, the handshake, and the calls of its methods. */
export class Connection {
  readonly writer = new RpcWriter()
  readonly context: BackContext<Options>
  /** The agent's answer to `initialize`. */
  about: Initialized | undefined
  /** The reason why nothing can be sent any more. */
  dead: Fault | undefined
  readonly calls: RpcCalls
  readonly handshake: Handshake
  readonly #ports: BackPorts
  readonly #onBroken: (why: Fault) => void

  /** `onBroken` is called when the handshake fails, before the engine gets the fault. */
  constructor(context: BackContext<Options>, ports: BackPorts, onBroken: (why: Fault) => void) {
    this.context = context
    this.#ports = ports
    this.#onBroken = onBroken
    this.calls = new RpcCalls((line) => this.send(line), this.writer)
    this.handshake = new Handshake(context, 'initialize')
  }

  /** The kinds of content that prompts may have. */
  get kinds(): ContentKinds {
    const kinds = this.about?.agentCapabilities?.promptCapabilities
    return { image: kinds?.image === true, audio: kinds?.audio === true, embedded: kinds?.embeddedContext === true }
  }

  /** The ways of this agent that are not those of the protocol. */
  get quirks(): Quirks {
    return quirksOf(this.about)
  }

  /** The methods by which the agent may have files read and written here. */
  get files(): readonly string[] {
    return this.#ports.file ? FILE_METHODS[this.context.options.client] : []
  }

  /** True for an announced capability of the agent's sessions: `{}`, or an object with members. */
  offers(capability: SessionCapability): boolean {
    return isOffered(this.about, capability)
  }

  /** Starts the process and introduces this client to it (Initialization). */
  open(): void {
    this.#ports.open({ kind: 'process', stdin: 'open' })
    const params = introduction(this.files)
    this.calls.call('initialize', params, (answer, line) => {
      if (answer?.kind === 'result') this.#initialized(line)
      else if (answer) this.#break('agent-unavailable', `refused to start: ${textOfError(answer.error)}`)
    })
  }

  /** Writes a line, unless the agent has ended. */
  send(line: string): void {
    if (!this.dead) this.#ports.send(line)
  }

  /** Calls a method of the agent; an agent that has ended gives no answer. */
  call(method: string, params: JsonText, take: TakeAnswer): void {
    if (this.dead) take(undefined, '')
    else this.calls.call(method, params, take)
  }

  /** Nothing is sent any more; waiting calls learn that there is no answer. */
  die(why: Fault): void {
    this.dead = why
    this.calls.end()
    this.handshake.end()
  }

  /** The fault of a turn that the end of the process leaves unanswered. */
  reasonOf(end: CallEnd): Fault {
    return this.handshake.reasonOf(end, `agent "${this.context.agent}"`, 'its command and arguments')
  }

  /** The fault of an agent that wants a login before it works. */
  loginFault(reason: string): Fault {
    return loginFault(this.context.agent, reason, this.about?.authMethods ?? [])
  }

  /** The end of the wire: it cannot be used any more. */
  break(why: Fault): void {
    this.#onBroken(why)
    this.#ports.broken(why)
  }

  #initialized(line: string): void {
    const result = member(line, 'result')!
    const { success, output } = v.safeParse(Initialized, JSON.parse(result))
    if (!success || output.protocolVersion !== PROTOCOL_VERSION) {
      const text = `does not speak version ${PROTOCOL_VERSION} of the protocol: install a version of it that does.`
      this.#break('unsupported-version', text)
      return
    }
    this.about = output
    const { auth } = this.context.options
    if (auth === undefined) this.#greet(result)
    else {
      this.call('authenticate', `{"methodId":${JSON.stringify(auth)}}`, (answer) => {
        if (answer?.kind === 'result') this.#greet(result)
        else if (answer) this.break(this.loginFault(textOfError(answer.error)))
      })
    }
  }

  #greet(json: JsonText): void {
    const version = this.about?.agentInfo?.version
    this.#ports.emit({ turn: null, type: 'agent-ready', ...(version != null && { version }), json })
    this.handshake.end()
  }

  #break(code: 'agent-unavailable' | 'unsupported-version', text: string): void {
    this.break(fault(code, `The agent "${this.context.agent}" ${text}`, { retryable: false }))
  }
}

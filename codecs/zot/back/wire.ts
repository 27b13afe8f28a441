import * as v from 'valibot'
import { Handshake, messageLine } from '../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, CallEnd } from '../../../src/contract/index.ts'
import {
  type Ext,
  type Fault,
  fault,
  isRecord,
  type JsonText,
  type Members,
  member,
  quote,
} from '../../../src/model/index.ts'
import { HelloData, type Options, Response } from '../schema.ts'
import { ownExt, PROTOCOL_VERSION, TOKEN_VARIABLE } from '../wire.ts'

/** The agent's response to one command, with its `data` as raw JSON; undefined when the process ended without one. */
export type Reply = (Response & { raw?: JsonText }) | undefined

const REPLACEABLE = new Set(['images'])

/** The process of an agent: its start, the handshake, and the pairs of command and response. */
export class AgentWire {
  /** The model that the agent uses, as far as it is known. */
  model: string | undefined
  /** The session's own model, from its start or from a client, for prompts that name none. */
  own: string | undefined
  /** The system prompt that the agent's transcript holds already. */
  system: string | undefined
  /** The reason why nothing can be sent any more. */
  dead: Fault | undefined
  readonly handshake: Handshake
  readonly #context: BackContext<Options>
  readonly #ports: BackPorts
  readonly #onBroken: (reason: Fault) => void
  readonly #requests = new Map<string, { type: string; take: (reply: Reply) => void }>()

  /** `onBroken` is called when the handshake fails, after `dead` is set and before the engine gets the fault. */
  constructor(context: BackContext<Options>, ports: BackPorts, onBroken: (reason: Fault) => void) {
    this.#context = context
    this.#ports = ports
    this.#onBroken = onBroken
    this.handshake = new Handshake(context, 'hello')
  }

  /** Starts the process and greets it. */
  open(): void {
    const token = this.#token()
    if (token === undefined) return
    this.#ports.open({
      kind: 'process',
      stdin: 'open',
      ...(this.#context.process?.args === undefined && { args: ['rpc'] }),
      // Also without a token: one that the gateway itself was started with must not reach the agent.
      env: { [TOKEN_VARIABLE]: token },
    })
    this.request('hello', { token: token === '' ? undefined : quote(token) }, (reply) => this.#greeted(reply))
  }

  /** Set when its messages were meant for another client. */
  get recorded(): 'agent' | 'both' | undefined {
    return this.#context.recorded
  }

  /** Sends a command; `then` is called once, with its response. */
  request(type: string, fields: Members, then: (reply: Reply) => void, ext?: Ext): void {
    if (this.dead) {
      then(undefined)
      return
    }
    const id = this.#ports.newId()
    this.#requests.set(id, { type, take: then })
    this.#ports.send(messageLine({ type: quote(type), id: quote(id), ...fields }, ownExt(ext), REPLACEABLE))
  }

  /** Takes a `response`: `stray` when nothing waits for it. */
  response(value: Record<string, unknown>, line: string): 'taken' | 'stray' | 'misfit' {
    const { success, output } = v.safeParse(Response, value)
    if (!success) return 'misfit'
    const id = this.#requestOf(output)
    const request = this.#requests.get(id)
    if (!request) return 'stray'
    this.#requests.delete(id)
    const raw = isRecord(output.data) ? member(line, 'data') : undefined
    request.take(raw === undefined ? output : { ...output, raw })
    return 'taken'
  }

  /** The fault of a turn that the end of the process leaves unanswered. */
  reasonOf(end: CallEnd): Fault {
    return this.handshake.reasonOf(end, `zot agent "${this.#context.agent}"`, 'its arguments and its credentials')
  }

  /** Nothing is sent any more; waiting commands learn that there is no response. */
  die(reason: Fault): void {
    this.dead = reason
    const requests = [...this.#requests.values()]
    this.#requests.clear()
    for (const { take } of requests) take(undefined)
    this.handshake.end()
  }

  /** The id of the request that a response answers: in a recording, of the oldest of its command. */
  #requestOf({ id, command }: Response): string {
    if (!this.#context.recorded) return id ?? ''
    return [...this.#requests].find(([, { type }]) => type === command)?.[0] ?? ''
  }

  /** The token to say; '' for none, undefined when the configuration names a variable that is not set. */
  #token(): string | undefined {
    const token = this.#context.options.token ?? ''
    if (typeof token === 'string') return token
    const value = this.#context.env[token.env]
    if (value) return value
    this.#break(
      'agent-unavailable',
      `The token of agent "${this.#context.agent}" is to come from the environment variable ${token.env}, which is not set: set it for the gateway, or remove \`token\`.`,
    )
    return undefined
  }

  #greeted(reply: Reply): void {
    if (!reply) return
    const agent = `The zot agent "${this.#context.agent}"`
    if (!reply.success) {
      this.#break('agent-unavailable', `${agent} refused hello: check \`token\` in its configuration.`)
      return
    }
    const { success, output } = v.safeParse(HelloData, reply.data)
    if (!success || output.protocol_version !== PROTOCOL_VERSION) {
      const text = `${agent} does not speak protocol version ${PROTOCOL_VERSION}: install a version of zot that does.`
      this.#break('unsupported-version', text)
      return
    }
    this.model = this.own = output.model ?? undefined
    this.#ports.emit({
      turn: null,
      type: 'agent-ready',
      ...(output.model && { model: output.model }),
      ...(output.version && { version: output.version }),
      json: reply.raw!,
    })
    this.handshake.end()
  }

  #break(code: 'agent-unavailable' | 'unsupported-version', message: string): void {
    const reason = fault(code, message, { retryable: false })
    this.#onBroken(reason)
    this.#ports.broken(reason)
  }
}

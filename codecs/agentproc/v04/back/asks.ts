import { weakened } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import {
  type AskReply,
  type Id,
  type JsonText,
  member,
  object,
  parseObject,
  quote,
} from '../../../../src/model/index.ts'
import { type AgentLine, ascii, type ReadLine, unpadded } from '../schema.ts'

type Request = Extract<AgentLine, { type: 'permission_request' }>

/** A request in its turn. `response` is the line that answers it, once there is one. */
interface Pending {
  ask: Id
  request: string
  response?: JsonText
}

/** The message to an agent that is denied when nobody was asked. */
const OVER = 'the turn is over'
const MALFORMED = 'malformed permission request'

/** An agent's permission requests: every one is answered, in the order they came. */
export class Permissions {
  readonly #turn: Id
  readonly #ports: BackPorts
  #pending: Pending[] = []
  readonly #used = new Set<string>()
  #over = false

  constructor(turn: Id, ports: BackPorts) {
    this.#turn = turn
    this.#ports = ports
  }

  /** A request with a valid id: asked of the client, or denied at once when it names no tool or has no input object. */
  request(event: Request, ext: ReadLine['ext'], line: string): void {
    if (this.#over) return
    const pending: Pending = { ask: this.#askOf(event.request_id), request: event.request_id }
    this.#pending.push(pending)
    const args = member(unpadded(line), 'input')
    if (event.tool_name === '' || args === undefined || parseObject(args) === undefined) {
      pending.response = response(pending.request, 'deny', undefined, MALFORMED)
      this.#flush()
      return
    }
    this.#ports.emit({
      type: 'ask',
      turn: this.#turn,
      ask: pending.ask,
      question: {
        kind: 'approval',
        ...(event.tool_use_id !== undefined && { tool: event.tool_use_id }),
        name: event.tool_name,
        args,
        ...(event.description !== undefined && { description: event.description }),
        options: [
          { id: 'allow', kind: 'allow', scope: 'once' },
          { id: 'deny', kind: 'deny', scope: 'once' },
        ],
        editable: true,
      },
      ...(ext && { ext }),
    })
  }

  /** The client's answer; without an ask it means the oldest open one. */
  reply(ask: Id | undefined, reply: AskReply): void {
    const pending = this.#pending.find((one) => one.response === undefined && (ask === undefined || one.ask === ask))
    if (!pending) return
    const allow = reply.kind === 'approval' && reply.option === 'allow'
    const { edited, message, stopTurn } = reply.kind === 'approval' ? reply : {}
    const input = allow && edited !== undefined && parseObject(edited) ? edited : undefined
    if (edited !== input) this.#weakened('edited')
    if (stopTurn) this.#weakened('stopTurn')
    pending.response = response(pending.request, allow ? 'allow' : 'deny', input, message)
    this.#flush()
  }

  /** Denies the open questions: the answer has come, or the turn must stop. Later requests are ignored. */
  deny(): void {
    for (const pending of this.#open()) pending.response = response(pending.request, 'deny', undefined, OVER)
    this.#flush()
  }

  /** The agent is gone: what is still open needs no answer. */
  abandon(): void {
    this.#open()
  }

  /** The agent's own id, so that a client of this wire is asked under it; a second question under one id is another one. */
  #askOf(request: string): Id {
    if (this.#used.has(request)) return `${request}#${this.#ports.newId()}`
    this.#used.add(request)
    return request
  }

  /** Ends the questions: settles the open ones and returns them. */
  #open(): Pending[] {
    this.#over = true
    const open = this.#pending.filter(({ response: given }) => given === undefined)
    for (const { ask } of open) this.#ports.emit({ type: 'ask-settled', turn: this.#turn, ask, how: 'cancelled' })
    return open
  }

  #flush(): void {
    let [first] = this.#pending
    while (first?.response !== undefined) {
      this.#ports.send(first.response)
      this.#pending.shift()
      first = this.#pending[0]
    }
  }

  #weakened(field: string): void {
    this.#ports.report(weakened('ask-reply', field), this.#turn)
  }
}

function response(
  request: string,
  behavior: 'allow' | 'deny',
  input: JsonText | undefined,
  message: string | undefined,
): JsonText {
  return ascii(
    object({
      type: '"permission_response"',
      request_id: quote(request),
      behavior: quote(behavior),
      updated_input: input,
      message: quote(message),
    }),
  )
}

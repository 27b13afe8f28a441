import * as v from 'valibot'
import { weakened } from '../../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../../src/contract/index.ts'
import {
  type AskOption,
  type EventOf,
  type Id,
  isPlainChoice,
  type JsonText,
  member,
  narrowestOption,
  parse,
  parseObject,
  type Question,
  quote,
} from '../../../../src/model/index.ts'
import { permissionResponseSchema, unpadded } from '../schema.ts'
import { line } from './lines.ts'

type Approval = Extract<Question, { kind: 'approval' }>

interface Open {
  ask: Id
  turn: Id
  options: readonly AskOption[]
}

/** The approvals that a runner is asked for, by the request id on the wire. */
export class Asks {
  readonly #ports: FrontPorts
  readonly #exchange: Id
  readonly #open = new Map<string, Open>()

  constructor(ports: FrontPorts, exchange: Id) {
    this.#ports = ports
    this.#exchange = exchange
  }

  /** The line of a request. */
  ask(event: EventOf<'ask'>, session: string | undefined): JsonText {
    const { ask, turn, ext } = event
    const question = event.question as Approval
    // A runner takes an id without spaces only.
    const request = /^\S+$/.test(ask) ? ask : this.#ports.newId()
    this.#open.set(request, { ask, turn, options: question.options })
    const known = parseObject(question.args) !== undefined
    if (!known) this.#weakened('args')
    if (!isPlainChoice(question.options)) this.#weakened('options')
    const { tool, description } = question
    return line(
      'permission_request',
      {
        request_id: quote(request),
        tool_name: quote(question.name),
        input: known ? question.args : '{}',
        description: quote(description),
        tool_use_id: quote(tool),
      },
      undefined,
      { session, ext },
    )
  }

  /** A line of the runner; anything but an answer to an open request is ignored. */
  answer(text: string): void {
    const json = unpadded(text)
    const { success, output } = v.safeParse(permissionResponseSchema, parse(json))
    const open = success ? this.#open.get(output.request_id) : undefined
    if (!success) return
    if (!open) {
      // An error event would end the turn.
      const text = 'turnpike as agentproc: a permission_response is ignored: no request of this id waits for an answer.'
      this.#ports.warn(text)
      return
    }
    this.#open.delete(output.request_id)
    const edited = member(json, 'updated_input')
    this.#reply(open, output.behavior, output.message, edited && parseObject(edited) ? edited : undefined)
  }

  /** Another client has answered: this wire cannot take a request back. */
  settled(ask: Id): void {
    for (const [request, open] of this.#open) {
      if (open.ask !== ask) continue
      this.#open.delete(request)
      this.#ports.report(weakened('ask-settled'), this.#exchange)
    }
  }

  #reply(
    { ask, turn, options }: Open,
    behavior: 'allow' | 'deny',
    message: string | undefined,
    edited: JsonText | undefined,
  ): void {
    this.#ports.command({
      exchange: this.#exchange,
      type: 'ask-reply',
      target: { turn },
      ask,
      reply: {
        kind: 'approval',
        option: narrowestOption(options, behavior)?.id ?? behavior,
        ...(edited !== undefined && { edited }),
        ...(message !== undefined && { message }),
      },
    })
  }

  #weakened(field: string): void {
    this.#ports.report(weakened('ask.approval', field, 'too-narrow'), this.#exchange)
  }
}

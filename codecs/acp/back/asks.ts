import * as v from 'valibot'
import { askIdOf, RPC_CODES, type RpcMessage } from '../../../src/codec-kit/index.ts'
import {
  type AskOption,
  type AskReply,
  type CommandOf,
  type JsonText,
  member,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { Elicitation, PermissionRequest } from '../schema.ts'
import { entriesExt } from '../wire.ts'
import { readOption } from './ask-options.ts'
import type { Connection } from './connection.ts'
import { formResult, UNANSWERED, urlResult } from './forms.ts'
import type { TurnDecoder } from './turn.ts'

type Request = RpcMessage & { kind: 'request' }

/** An open question: the id of its request, and how its answer is written. */
interface Open {
  readonly request: JsonText
  readonly turn: TurnDecoder
  /** The result of a reply. */
  result(reply: AskReply): JsonText
  /** The result when nobody answers. */
  readonly cancelled: JsonText
}

/** The answer to a permission that nobody decides. */
export const CANCELLED = '{"outcome":{"outcome":"cancelled"}}'

/** The agent's questions to its client: permissions for tool calls, and forms. */
export class Asks {
  readonly #connection: Connection
  readonly #open = new Map<string, Open>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Takes a request for permission. Without a turn, or after a cancel, the answer is that it was cancelled. */
  permission(request: Request, line: string, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(PermissionRequest, request.params)
    if (!success) {
      this.#refuse(request, 'Invalid params: a tool call and options are expected.')
      return
    }
    if (!turn || turn.cancelAsked) {
      this.#answer(request.id, CANCELLED)
      return
    }
    const { toolCall, options } = output
    const json = member(member(line, 'params')!, 'toolCall')!
    turn.out.started()
    const { tool, name, args } = turn.tools.asked(toolCall, json)
    const question: Question = {
      kind: 'approval',
      tool,
      name,
      args,
      ...(toolCall.title != null && { description: toolCall.title }),
      options: options.map(readOption),
    }
    const [content, locations, meta] = ['content', 'locations', '_meta'].map((key) => member(json, key))
    this.#ask(turn, question, entriesExt({ content, locations, _meta: meta }), {
      request: request.id,
      turn,
      cancelled: CANCELLED,
      result: (reply) => this.#chosen(reply, question.options, () => turn.tools.deny(toolCall.toolCallId)),
    })
  }

  /** Takes a request for input (Elicitation): a form, or a page that the user is to open. */
  input(request: Request, line: string, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Elicitation, request.params)
    if (!success) {
      this.#refuse(request, 'Invalid params: a form or a URL is expected.')
      return
    }
    if (!turn || turn.cancelAsked) {
      this.#answer(request.id, UNANSWERED)
      return
    }
    const open = { request: request.id, turn, cancelled: UNANSWERED }
    if (output.mode === 'url') {
      const message = `${output.message}\n${output.url}`
      const page = entriesExt({ url: quote(output.url), elicitationId: quote(output.elicitationId) })
      this.#ask(turn, { kind: 'input', message }, page, { ...open, result: urlResult })
      return
    }
    const schema = member(member(line, 'params')!, 'requestedSchema')!
    const needsValues = Object.keys(output.requestedSchema.properties ?? {}).length > 0
    const result = (reply: AskReply): JsonText => formResult(reply, needsValues)
    this.#ask(turn, { kind: 'input', message: output.message, schema }, undefined, { ...open, result })
  }

  /** Sends the answer to a question; one that is not open any more gets none. */
  reply({ ask = '', reply }: CommandOf<'ask-reply'>): void {
    const open = this.#open.get(ask)
    if (!open) return
    this.#open.delete(ask)
    this.#answer(open.request, open.result(reply))
  }

  /** Nobody answers any more: the turn is cancelled, or has its end (Cancellation). */
  cancel(): void {
    for (const { request, cancelled } of this.#open.values()) this.#answer(request, cancelled)
    this.#open.clear()
  }

  /** The agent takes its question back (`$/cancel_request`). */
  withdraw(request: JsonText | undefined, code: number): void {
    for (const [ask, open] of this.#open) {
      if (open.request !== request) continue
      this.#open.delete(ask)
      this.#connection.send(this.#connection.writer.error(request, code, 'The request was cancelled.'))
      open.turn.out.emit({ type: 'ask-settled', ask, how: 'cancelled', by: 'agent' })
    }
  }

  #ask(turn: TurnDecoder, question: Question, ext: ReturnType<typeof entriesExt>, open: Open): void {
    const ask = askIdOf(open.request, this.#open)
    this.#open.set(ask, open)
    turn.out.started()
    turn.out.emit({ type: 'ask', ask, question }, ext)
  }

  #chosen(reply: AskReply, options: readonly AskOption[], denied: () => void): JsonText {
    if (reply.kind !== 'approval') return CANCELLED
    const chosen = options.find(({ id }) => id === reply.option)
    if (chosen?.kind !== 'allow') denied()
    // Without an option that refuses, the answer is `cancelled`.
    if (!chosen || (reply.stopTurn && chosen.kind === 'deny')) return CANCELLED
    return `{"outcome":{"outcome":"selected","optionId":${quote(chosen.id)}}}`
  }

  #refuse({ id }: Request, text: string): void {
    this.#connection.send(this.#connection.writer.error(id, RPC_CODES.invalidParams, text))
  }

  #answer(id: JsonText, result: JsonText): void {
    this.#connection.send(this.#connection.writer.result(id, result))
  }
}

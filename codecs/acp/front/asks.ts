import * as v from 'valibot'
import { dropped, RpcCalls } from '../../../src/codec-kit/index.ts'
import {
  type AskOption,
  type AskReply,
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  member,
  narrowestOption,
  object,
  parseObject,
  type Question,
  quote,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownMember } from '../wire.ts'
import type { Client } from './client.ts'
import { elicitationOf } from './elicitation.ts'
import { Permission } from './schema.ts'
import { inputJson, kindJson, proposedJson, unreported } from './tool-entries.ts'
import type { Work } from './work.ts'

type Approval = Extract<Question, { kind: 'approval' }>
type Input = Extract<Question, { kind: 'input' }>

/** The questions of agents to one client: requests of its own, each under an id of this side. */
export class Asks {
  readonly #client: Client
  readonly calls: RpcCalls
  /** The open questions, each with the id of the request to the client. */
  readonly #open = new Map<string, { id: JsonText }>()

  constructor(client: Client) {
    this.#client = client
    this.calls = new RpcCalls(client.ports.send, client.writer)
  }

  /** Asks the client. A question that it cannot be asked is denied. */
  ask({ ask, question, ext }: EventOf<'ask'>, work: Work, view: TurnView): void {
    if (question.kind === 'approval') this.#approval({ ask, question, ext }, work, view)
    // No other question is carried to clients of this protocol.
    else this.#input(ask, question as Input, ext, work)
  }

  /** Withdraws a settled question from a client that still shows it, unless the client cancelled the prompt. */
  settled(ask: Id, work: Work): void {
    const key = `${work.exchange}/${ask}`
    const open = this.#open.get(key)
    this.#open.delete(key)
    const { ports, writer } = this.#client
    if (open && !work.cancelled) ports.send(writer.notification('$/cancel_request', `{"requestId":${open.id}}`))
  }

  /** `session/request_permission`, with the agent's own options, and the change that an agent of this protocol shows. */
  #approval(
    { ask, question, ext }: { ask: Id; question: Approval; ext: Ext | undefined },
    work: Work,
    view: TurnView,
  ): void {
    const { tool, name, args, options } = question
    const known = tool === undefined ? undefined : view.tool(tool)
    const { description = known?.title } = question
    const call = object({
      toolCallId: quote(work.writer.tools.idOf(tool ?? `ask-${ask}`)),
      title: quote(description ?? name),
      name: quote(name),
      kind: kindJson(known?.kind, unreported),
      status: '"pending"',
      rawInput: inputJson(args),
      content: proposedJson(ownMember(ext, 'content')),
      locations: startingWith('[', ownMember(ext, 'locations')),
      _meta: startingWith('{', ownMember(ext, '_meta')),
    })
    const params = object({
      sessionId: quote(work.session.id),
      toolCall: call,
      options: `[${options.map(optionJson).join(',')}]`,
    })
    this.#request(ask, 'session/request_permission', params, work, (result) => approved(question, result))
  }

  #input(ask: Id, question: Input, ext: Ext | undefined, work: Work): void {
    const asked = elicitationOf(question, ext, this.#client.shows)
    if (!asked) {
      this.#client.ports.report(dropped('ask.input', undefined, 'policy'), work.exchange)
      this.#reply(ask, { kind: 'input', values: '{}' }, work)
      return
    }
    const { session, writer } = work
    const params = object(
      {
        sessionId: quote(session.id),
        toolCallId: question.tool === undefined ? undefined : quote(writer.tools.idOf(question.tool)),
      },
      asked.entries,
    )
    this.#request(ask, 'elicitation/create', params, work, asked.read)
  }

  /** Asks; the first answer while the question is open counts. An error is a refusal. */
  #request(
    ask: Id,
    method: string,
    params: JsonText,
    work: Work,
    read: (result: JsonText | undefined) => AskReply,
  ): void {
    const key = `${work.exchange}/${ask}`
    const open = { id: '' }
    this.#open.set(key, open)
    open.id = this.calls.call(method, params, (answer, line) => {
      if (this.#open.get(key) !== open) return
      this.#open.delete(key)
      this.#reply(ask, read(answer?.kind === 'result' ? member(line, 'result') : undefined), work)
    })
  }

  #reply(ask: Id, reply: AskReply, { session, turn }: Work): void {
    const { ports } = this.#client
    const target = { turn }
    ports.command({ exchange: ports.newId(), session: { id: session.id }, type: 'ask-reply', target, ask, reply })
  }
}

/** The client's choice; anything but one of the options is a refusal. */
function approved({ options }: Approval, result: JsonText | undefined): AskReply {
  const { success, output } = v.safeParse(Permission, parseObject(result ?? ''))
  const chosen = success ? options.find(({ id }) => id === output.outcome.optionId) : undefined
  return { kind: 'approval', option: (chosen ?? narrowestOption(options, 'deny'))?.id ?? 'deny' }
}

function startingWith(sign: '[' | '{', json: JsonText | undefined): JsonText | undefined {
  return json?.startsWith(sign) ? json : undefined
}

function optionJson({ id, kind, scope, label }: AskOption): JsonText {
  const once = scope === 'once'
  const word = kind === 'allow' ? (once ? 'Allow' : 'Always allow') : once ? 'Reject' : 'Always reject'
  return object({
    optionId: quote(id),
    name: quote(label ?? word),
    kind: quote(`${kind === 'allow' ? 'allow' : 'reject'}_${once ? 'once' : 'always'}`),
  })
}

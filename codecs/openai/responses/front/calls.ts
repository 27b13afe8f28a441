import { callIdOf } from '../../../../src/codec-kit/index.ts'
import {
  type Ask,
  type EventOf,
  type JsonText,
  object,
  quote,
  type ToolView,
  type TurnView,
  textOf,
} from '../../../../src/model/index.ts'
import type { DeclaredTools } from '../../declared-tools.ts'
import { approvalId, itemId, type ResponseRef } from '../ids.ts'
import type { Output } from './output.ts'

/** Calls as items: those that the agent has run itself, and what a parked turn asks of its client. */
export class CallItems {
  readonly #ref: ResponseRef
  readonly #tools: DeclaredTools
  readonly #output: Output

  constructor(ref: ResponseRef, tools: DeclaredTools, output: Output) {
    this.#ref = ref
    this.#tools = tools
    this.#output = output
  }

  /** A tool of the agent's own has its result. It is no function call: a client would run that. */
  own(tool: ToolView, agent: string): void {
    const at = this.#output.length
    const failed = tool.status !== 'ok'
    const args = tool.args === '' ? '{}' : tool.args
    this.#output.begin(() => this.#ownItem(tool, agent, at, 'in_progress'))
    const of = `"output_index":${at},"item_id":${quote(itemId('mcp', this.#ref, at))}`
    this.#output.event('response.mcp_call.in_progress', () => of)
    this.#output.delta('response.mcp_call_arguments.delta', of, args)
    this.#output.event('response.mcp_call_arguments.done', () => `${of},"arguments":${quote(args)}`)
    this.#output.event(`response.mcp_call.${failed ? 'failed' : 'completed'}`, () => of)
    this.#output.done(at, this.#ownItem(tool, agent, at, failed ? 'failed' : 'completed'))
  }

  /** A parked turn waits for these answers. */
  pending({ asks, continuation }: EventOf<'turn-parked'>, view: TurnView): void {
    for (const [at, ask] of asks.entries()) this.#ask(ask, { continuation, at }, view)
  }

  #ask({ question }: Ask, call: { continuation: string; at: number }, view: TurnView): void {
    if (question.kind === 'tool') {
      const tool = view.tool(question.tool)
      if (tool) this.#call(tool, callIdOf('call_', call))
    } else if (question.kind === 'approval') {
      this.#output.whole(
        object([
          ['id', quote(approvalId(call, question.options))],
          ['type', '"mcp_approval_request"'],
          ['server_label', quote(view.agent)],
          ['name', quote(question.name)],
          ['arguments', quote(question.args)],
        ]),
      )
    }
  }

  /** A call of the client's tool, of the kind and group that it was declared with. */
  #call({ name, args }: ToolView, callId: string): void {
    const declared = this.#tools.get(name)
    const custom = declared?.kind === 'custom'
    const at = this.#output.length
    const id = quote(itemId(custom ? 'ctc' : 'fc', this.#ref, at))
    const [type, given] = custom ? ['custom_tool_call', 'input'] : ['function_call', 'arguments']
    const item = (text: string, status: string): JsonText =>
      object([
        ['id', id],
        ['type', quote(type!)],
        ['status', quote(status)],
        ['call_id', quote(callId)],
        ['name', quote(declared?.name ?? name)],
        ['namespace', declared?.namespace === undefined ? undefined : quote(declared.namespace)],
        [given!, quote(text)],
      ])
    this.#output.begin(() => item('', 'in_progress'))
    const of = `"item_id":${id},"output_index":${at}`
    this.#output.delta(`response.${type}_${given}.delta`, of, args)
    this.#output.event(`response.${type}_${given}.done`, () => `${of},"name":${quote(name)},"${given}":${quote(args)}`)
    this.#output.done(at, item(args, 'completed'))
  }

  #ownItem({ name, args, parts, status: end }: ToolView, agent: string, at: number, status: string): JsonText {
    const over = status !== 'in_progress'
    const said = textOf(parts)
    const error = object([
      ['type', '"mcp_tool_execution_error"'],
      ['content', `[{"type":"text","text":${quote(said === '' ? `The call ended with the status: ${end}.` : said)}}]`],
    ])
    return object([
      ['id', quote(itemId('mcp', this.#ref, at))],
      ['type', '"mcp_call"'],
      ['status', quote(status)],
      ['approval_request_id', 'null'],
      ['server_label', quote(agent)],
      ['name', quote(name)],
      ['arguments', over ? quote(args === '' ? '{}' : args) : '""'],
      ['output', status === 'completed' ? quote(said) : 'null'],
      ['error', status === 'failed' ? error : 'null'],
    ])
  }
}

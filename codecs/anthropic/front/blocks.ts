import { callExt, callIdOf, citedPieces, withFurther } from '../../../src/codec-kit/index.ts'
import {
  type Ask,
  type Citation,
  type JsonText,
  members,
  object,
  type Part,
  quote,
  type ToolStatus,
  type ToolView,
  type TurnView,
} from '../../../src/model/index.ts'
import { citationJson } from '../citations.ts'
import { inputOf } from '../input.ts'
import { ownExt } from '../wire.ts'

/** A text, with its sources. */
export function textBlock(text: string, citations: readonly Citation[] = []): JsonText {
  const jsons = citations.flatMap((citation) => citationJson(citation) ?? [])
  return object([
    ['type', '"text"'],
    ['text', quote(text)],
    ['citations', jsons.length === 0 ? undefined : `[${jsons.join(',')}]`],
  ])
}

/** Reasoning; a signature is never made up. */
export function thinkingBlock(thinking: string, signature: string): JsonText {
  return object([
    ['type', '"thinking"'],
    ['thinking', quote(thinking)],
    ['signature', quote(signature)],
  ])
}

/** Reasoning that the provider hides. */
export function redactedBlock(data: string): JsonText {
  return object([
    ['type', '"redacted_thinking"'],
    ['data', quote(data)],
  ])
}

/** A call that the client is to run. */
export function toolUseBlock({ id, name, input, further }: AskedCall): JsonText {
  const block = object([
    ['type', '"tool_use"'],
    ['id', quote(id)],
    ['name', quote(name)],
    ['input', input],
  ])
  return withFurther(block, further)
}

/** A call of a client's tool. */
interface AskedCall {
  id: string
  name: string
  input: JsonText
  /** Members that only servers and clients of this API know. */
  further: JsonText | undefined
}

/** The calls of the client's tools that a parked turn waits for, each with its place among its questions. */
export function askedCalls(asks: readonly Ask[], continuation: string, view: TurnView): AskedCall[] {
  return asks.flatMap(({ question }, at) => {
    const tool = question.kind === 'tool' ? view.tool(question.tool) : undefined
    if (!tool) return []
    const further = ownExt(callExt(view, tool.id))
    return { id: callIdOf('toolu_', { continuation, at }), name: tool.name, input: inputOf(tool.args), further }
  })
}

type Ext = Part['ext']

/**
 * A call that the agent runs itself. As a `tool_use` it would be for the client to run. `ext` is that of a provider's
 * block, which keeps its type; else the agent is the server of its tools.
 */
export function serverUseBlock({ id, name, args }: Pick<ToolView, 'id' | 'name' | 'args'>, agent: string, ext: Ext) {
  const own = ownExt(ext)
  const [type, ...others] = own === undefined ? ([['type', '"mcp_tool_use"']] as const) : members(own)
  return object([
    type!,
    ['id', quote(id)],
    ['name', quote(name)],
    ['input', inputOf(args)],
    ['server_name', own === undefined ? quote(agent) : undefined],
    ...others,
  ])
}

/** The result of such a call. */
export function serverResultBlock(id: string, status: ToolStatus, parts: readonly Part[], ext: Ext): JsonText {
  const own = ownExt(ext)
  const [first] = parts
  if (own !== undefined && first?.type === 'data') {
    const [type, ...others] = members(own)
    return object([type!, ['tool_use_id', quote(id)], ['content', first.json], ...others])
  }
  const said = parts.flatMap((part) => {
    if (part.type === 'text') return citedPieces(part).map(({ text, citations }) => textBlock(text, citations))
    return part.type === 'data' ? textBlock(part.json) : []
  })
  return object([
    ['type', '"mcp_tool_result"'],
    ['tool_use_id', quote(id)],
    ['is_error', String(status !== 'ok')],
    ['content', `[${said.join(',')}]`],
  ])
}

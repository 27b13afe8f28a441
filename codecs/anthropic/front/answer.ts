import { citedPieces } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Id,
  type JsonText,
  type Part,
  quote,
  type TurnEvent,
  type TurnView,
  type Usage,
} from '../../../src/model/index.ts'
import { STOP_REASONS } from '../stops.ts'
import { usageJson } from '../usage.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import {
  askedCalls,
  redactedBlock,
  serverResultBlock,
  serverUseBlock,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from './blocks.ts'

/** The parts of a request that its answer repeats. */
export interface Asked {
  model: string
  /** The id of the request, for its errors and headers. */
  request: Id
  /** The id of the message that answers it. */
  message: Id
  /** The estimated tokens of the request. */
  tokens: number
  /** The texts at which the model was to stop. */
  stops: readonly string[]
}

/** An answer: its blocks, its `stop_reason` and `stop_sequence`, its tokens. */
export function answerJson(
  { message, model }: Asked,
  content: string,
  [reason, sequence]: readonly [JsonText, JsonText],
  usage: Usage,
): JsonText {
  const head = `"id":${quote(message)},"type":"message","role":"assistant","model":${quote(model)}`
  const end = `"stop_reason":${reason},"stop_sequence":${sequence},"usage":${usageJson(usage)}`
  return `{${head},"content":[${content}],${end}}`
}

/** The tokens of an answer; those of the request are estimated where the agent reports none. */
export function usageOf({ answerUsage: usage = {} }: TurnView, tokens: number): Usage {
  return { input: tokens, ...usage }
}

/**
 * The `stop_reason` of a turn that has completed, and the sequence that it stopped at: where there is only one, that. A
 * message that refuses is a refusal, however its agent has ended.
 */
export function endOf(
  { stop: said = 'end' }: EventOf<'turn-end'>,
  { messages }: TurnView,
  { stops }: Asked,
): { reason: string; sequence: JsonText } {
  const stop = said === 'end' && messages.some(({ refuses }) => refuses) ? 'refusal' : said
  const known = stop === 'stop-sequence' && stops.length === 1 ? quote(stops[0]!) : 'null'
  return { reason: STOP_REASONS[stop], sequence: known }
}

/** The end of a turn that its client waits for, or its park. */
export type Ending = Extract<TurnEvent, { type: 'turn-end' | 'turn-parked' }>

/** A whole answer, from the view of its turn. */
export function wholeAnswer(ending: Ending, view: TurnView, asked: Asked): JsonText {
  const calls = ending.type === 'turn-parked' ? askedCalls(ending.asks, ending.continuation, view) : []
  const content = [...answerBlocks(view), ...calls.map(toolUseBlock)]
  const { reason, sequence } =
    ending.type === 'turn-end' ? endOf(ending, view, asked) : { reason: 'tool_use', sequence: 'null' }
  return answerJson(asked, content.join(','), [quote(reason), sequence], usageOf(view, asked.tokens))
}

/**
 * All messages and tools of the agent, in the order of the view: tools that no message names come before the last
 * message, which reports their outcome.
 */
function answerBlocks(view: TurnView): JsonText[] {
  const said = view.messages.filter(({ role, lane }) => role === 'assistant' && lane === undefined)
  const shown = new Set<Id>()
  const blocks = said.map(({ parts, text, reasoning }) => {
    if (parts) return parts.flatMap((part) => partBlock(part, view, shown) ?? [])
    return [...(reasoning === '' ? [] : [thinkingBlock(reasoning, '')]), ...(text === '' ? [] : [textBlock(text)])]
  })
  const others = view.tools.filter(({ id, lane, executor, called }) => {
    return called && executor !== 'client' && lane === undefined && !shown.has(id)
  })
  const last = blocks.pop() ?? []
  return [...blocks.flat(), ...others.flatMap(({ id }) => toolBlocks(id, view)), ...last]
}

function toolBlocks(id: Id, view: TurnView, ext?: Part['ext']): JsonText[] {
  const tool = view.tool(id)
  if (!tool || tool.executor === 'client') return []
  const result = tool.status === undefined ? [] : [serverResultBlock(id, tool.status, tool.parts, undefined)]
  return [serverUseBlock(tool, view.agent, ext), ...result]
}

/** True for a part that came as a block of a tool which a server of this API has run. */
function isOfServer({ ext }: Part): boolean {
  return ownMember(ext, 'type') !== undefined
}

/** The blocks of one part of a message; undefined for one that has none here. */
function partBlock(part: Part, view: TurnView, shown: Set<Id>): JsonText | readonly JsonText[] | undefined {
  switch (part.type) {
    case 'text':
      return citedPieces(part).map(({ text, citations }) => textBlock(text, citations))
    case 'reasoning':
      if (part.seal?.provider === PROTOCOL && part.seal.kind === 'redacted') return redactedBlock(part.seal.data)
      return thinkingBlock(part.text, part.seal?.provider === PROTOCOL ? part.seal.data : '')
    case 'tool-call':
      shown.add(part.tool)
      // The result of a provider's tool is a part of its own.
      if (isOfServer(part))
        return serverUseBlock({ id: part.tool, name: part.name, args: part.args }, view.agent, part.ext)
      return toolBlocks(part.tool, view)
    case 'tool-reply':
      return isOfServer(part) ? serverResultBlock(part.tool, part.status, part.parts, part.ext) : undefined
    default:
      return undefined
  }
}

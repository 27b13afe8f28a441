import { answeredHistory, flatToolName, messageLine, weakened } from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  type JsonText,
  member,
  object,
  type Part,
  quote,
  type TurnOptions,
  type TurnStart,
} from '../../../../src/model/index.ts'
import { effortOf } from '../../effort.ts'
import { chatFormat } from '../../formats.ts'
import type { Options } from '../../options.ts'
import { partLoss, type Report } from '../../part-loss.ts'
import { chatExt } from '../../request-ext.ts'
import { userEntry } from '../../user.ts'
import { ownExt, ownMember } from '../../wire.ts'
import { messageJsons } from '../messages.ts'

/** The messages of a request: the system prompt, the conversation before, and the input. */
export function messagesOf({ options, history = [], input }: TurnStart, report: Report): JsonText[] {
  const lost = partLoss(report)
  const { systemPrompt } = options
  const system = systemPrompt === undefined ? [] : messageJsons(message('system', systemPrompt), lost)
  const before = answeredHistory(history, input).flatMap((said) => messageJsons(said, lost))
  return [...system, ...before, ...messageJsons({ role: 'user', parts: input }, lost)]
}

function message(role: 'system', text: string): { role: 'system'; parts: Part[] } {
  return { role, parts: [{ type: 'text', text }] }
}

/** The body of one request. `messages` are those of the whole conversation so far. */
export function requestBody(
  start: TurnStart & { ext?: { protocol: string; json: JsonText } },
  settings: Options,
  messages: readonly JsonText[],
  report: Report,
): string {
  const { options, clientTools = [] } = start
  const own = chatExt(start.ext, report)
  const tools = clientTools.flatMap((tool) => toolJson(tool, report) ?? [])
  const limit = settings.token_limit ?? 'max_completion_tokens'
  return messageLine(
    [
      ['model', quote(options.model ?? settings.model ?? 'default')],
      ['messages', `[${messages.join(',')}]`],
      ['stream', 'true'],
      ['stream_options', settings.stream_usage === false ? undefined : '{"include_usage":true}'],
      ['tools', tools.length === 0 ? undefined : `[${tools.join(',')}]`],
      ['tool_choice', member(own ?? '', 'tool_choice') ?? choiceJson(options.toolChoice)],
      ['parallel_tool_calls', json(options.parallelTools)],
      ['response_format', member(own ?? '', 'response_format') ?? formatJson(options)],
      [limit, json(options.maxTokens)],
      ['temperature', json(options.temperature)],
      ['top_p', json(options.topP)],
      userEntry(start.user, own, report),
      ['stop', json(options.stop)],
      ['reasoning_effort', json(effortOf(options, settings, report))],
    ],
    own,
  )
}

function json(value: unknown): JsonText | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

function choiceJson(choice: TurnOptions['toolChoice']): JsonText | undefined {
  if (choice === undefined || typeof choice === 'string') return json(choice)
  return JSON.stringify({ type: 'function', function: { name: choice.tool } })
}

function formatJson({ outputSchema }: TurnOptions): JsonText | undefined {
  if (outputSchema === undefined) return undefined
  const schema = object([
    ['name', '"answer"'],
    ['schema', outputSchema],
  ])
  return object([
    ['type', '"json_schema"'],
    ['json_schema', schema],
  ])
}

function toolJson(tool: ClientTool, report: Report): JsonText | undefined {
  if (tool.kind === 'hosted') {
    const own = ownMember(tool.ext, 'responses') === undefined ? ownExt(tool.ext) : undefined
    if (own === undefined) report(weakened('start.clientTools', tool.name))
    return own
  }
  const common = [
    ['name', quote(flatToolName(tool))],
    ['description', tool.description === undefined ? undefined : quote(tool.description)],
  ] as const
  if (tool.kind === 'custom')
    return typed('custom', object([...common, ['format', chatFormat(ownMember(tool.ext, 'format'))]]))
  return typed('function', object([...common, ['parameters', tool.schema], ['strict', json(tool.strict)]]))
}

function typed(type: string, inner: JsonText): JsonText {
  return object([
    ['type', quote(type)],
    [type, inner],
  ])
}

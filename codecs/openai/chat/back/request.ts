import { answeredHistory, flatToolName, messageLine, weakened, withFurther } from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  type Ext,
  elements,
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
import { isStrange, ownOf } from '../../further.ts'
import type { Options } from '../../options.ts'
import type { Report } from '../../part-loss.ts'
import { chatExt } from '../../request-ext.ts'
import { userEntry } from '../../user.ts'
import { ownExt, ownMember } from '../../wire.ts'
import type { MessageWriter } from '../write-messages.ts'

type Start = TurnStart & { ext?: Ext }

/** The messages that each request begins with: the system prompt. */
export function systemOf({ options: { systemPrompt }, ext }: Start, writer: MessageWriter): JsonText[] {
  const own = ownMember(ext, 'messages')
  if (own !== undefined) return elements(own)
  return systemPrompt === undefined ? [] : writer.message(message('system', systemPrompt))
}

/** The messages of the conversation before the first answer: the history, and the input. */
export function messagesOf({ history = [], input }: Start, writer: MessageWriter): JsonText[] {
  const before = answeredHistory(history, input).flatMap((said) => writer.message(said))
  return [...before, ...writer.message({ role: 'user', parts: input })]
}

function message(role: 'system', text: string): { role: 'system'; parts: Part[] } {
  return { role, parts: [{ type: 'text', text }] }
}

/** The body of one request. `messages` are those of the whole conversation so far. */
export function requestBody(start: Start, settings: Options, messages: readonly JsonText[], report: Report): string {
  const { options, clientTools = [] } = start
  const own = chatExt(start.ext, report)
  const tools = clientTools.flatMap((tool) => toolJson(tool, report) ?? [])
  const limit = settings.token_limit ?? 'max_completion_tokens'
  return messageLine(
    [
      ['model', quote(options.model ?? settings.model ?? 'default')],
      ['messages', `[${messages.join(',')}]`],
      ['stream', 'true'],
      ['stream_options', streamJson(settings, member(own ?? '', 'stream_options'))],
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

/** The wish for a count of tokens, and what a client of this API says besides. */
function streamJson({ stream_usage: usage }: Options, own: JsonText | undefined): JsonText | undefined {
  return usage === false ? own : withFurther('{"include_usage":true}', own)
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
  if (isStrange(tool, 'chat')) report(weakened('start.clientTools', tool.name))
  return withFurther(ownToolJson(tool), ownOf(tool, 'chat'))
}

function ownToolJson(tool: ClientTool): JsonText {
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

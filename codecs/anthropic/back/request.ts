import {
  answeredHistory,
  dropped,
  flatToolName,
  messageLine,
  weakened,
  withFurther,
} from '../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  type JsonText,
  type Loss,
  type Message,
  member,
  members,
  object,
  type Part,
  parse,
  quote,
  type TurnOptions,
  type TurnStart,
} from '../../../src/model/index.ts'
import type { Options } from '../options.ts'
import { ownExt, ownMember, PROTOCOL } from '../wire.ts'
import { messageJsons, type Writing } from '../write-blocks.ts'
import { thinkingMembers } from './thinking.ts'

/** Receives what the API has no form for. */
type Report = (loss: Loss) => void

/** The beta under which requests have calls of MCP servers. */
const MCP_BETA = 'mcp-client'

/** The form in which the parts of this turn are written. */
export function writingOf({ ext }: TurnStart & { ext?: Part['ext'] }, report: Report): Writing {
  const betas = betasOf(ext)
  return {
    lost(part, field) {
      if (field === 'ext') report(dropped('part.ext', part.ext!.protocol))
      else if (field === 'citations') report(dropped('citation'))
      else report(field === undefined ? dropped(`part.${part.type}`) : weakened(`part.${part.type}`, field))
    },
    allows: (type) => !type.startsWith('mcp_') || betas?.includes(MCP_BETA) === true,
  }
}

/** The betas that the client has asked for, as the header has them. */
export function betasOf(ext: Part['ext']): string | undefined {
  const betas = parse(ownMember(ext, 'betas') ?? 'null')
  return isTexts(betas) ? betas.join(',') : undefined
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

/** The messages before the first answer: the conversation before, and the input. */
export function conversationOf({ history = [], input }: TurnStart, writing: Writing): JsonText[] {
  const asked: Message = { role: 'user', parts: input }
  return messageJsons([...answeredHistory(history, input), asked], writing)
}

/** The body of one request. `messages` are those of the whole conversation so far. */
export function requestBody(
  start: TurnStart & { ext?: Part['ext'] },
  settings: Options,
  messages: readonly JsonText[],
  report: Report,
): string {
  const { options, clientTools = [], ext } = start
  if (ext && ext.protocol !== PROTOCOL) report(dropped('ext', ext.protocol))
  const tools = clientTools.flatMap((tool) => toolJson(tool, report) ?? [])
  const said = ownExt(ext)
  const own = said === undefined ? [] : members(said).filter(([key]) => key !== 'betas' && key !== 'tool_choice')
  const { systemPrompt } = options
  const { maxTokens, thinking, effort, temperature, topP } = thinkingMembers(start, settings, report)
  return messageLine(
    [
      ['model', quote(options.model ?? settings.model ?? 'default')],
      ['max_tokens', String(maxTokens)],
      [
        'system',
        own.find(([key]) => key === 'system')?.[1] ?? (systemPrompt === undefined ? undefined : quote(systemPrompt)),
      ],
      ['messages', `[${messages.join(',')}]`],
      ['stream', 'true'],
      ['tools', tools.length === 0 ? undefined : `[${tools.join(',')}]`],
      [
        'tool_choice',
        tools.length === 0 ? noChoice(options, report) : (ownMember(ext, 'tool_choice') ?? choiceJson(options)),
      ],
      ['temperature', temperatureJson(temperature, report)],
      ['top_p', json(topP)],
      ['stop_sequences', json(options.stop)],
      ['metadata', metadataJson(start.user, own.find(([key]) => key === 'metadata')?.[1])],
      ['thinking', thinking],
      ['output_config', outputJson(options, effort, own.find(([key]) => key === 'output_config')?.[1])],
      ['cache_control', settings.prompt_caching === true ? '{"type":"ephemeral"}' : undefined],
    ],
    own.length === 0 ? undefined : object(own),
    REPLACEABLE,
  )
}

/** A client's own mark for the cache stands. */
const REPLACEABLE: ReadonlySet<string> = new Set(['cache_control'])

function json(value: unknown): JsonText | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

/** The API refuses a choice among no tools. */
function noChoice({ toolChoice, parallelTools }: TurnOptions, report: Report): undefined {
  if (toolChoice !== undefined) report(dropped('option.toolChoice'))
  if (parallelTools !== undefined) report(dropped('option.parallelTools'))
}

const CHOICES = { auto: 'auto', required: 'any', none: 'none' } as const

function choiceJson({ toolChoice, parallelTools }: TurnOptions): JsonText | undefined {
  if (toolChoice === undefined && parallelTools !== false) return undefined
  const single = parallelTools === false && toolChoice !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (typeof toolChoice === 'object') return JSON.stringify({ type: 'tool', name: toolChoice.tool, ...single })
  return JSON.stringify({ type: CHOICES[toolChoice ?? 'auto'], ...single })
}

function temperatureJson(temperature: number | undefined, report: Report): JsonText | undefined {
  if (temperature === undefined || temperature <= 1) return json(temperature)
  report(weakened('option.temperature', undefined, 'too-narrow'))
  return '1'
}

function metadataJson(user: string | undefined, own: JsonText | undefined): JsonText | undefined {
  if (user === undefined) return own
  return object([['user_id', quote(user)], ...members(own ?? '{}')])
}

function outputJson(
  { outputSchema }: TurnOptions,
  effort: string | undefined,
  own: JsonText | undefined,
): JsonText | undefined {
  const format =
    outputSchema === undefined
      ? undefined
      : object([
          ['type', '"json_schema"'],
          ['schema', outputSchema],
        ])
  const config = withFurther(
    object([
      ['effort', json(effort)],
      ['format', format],
    ]),
    own,
  )
  return config === '{}' ? undefined : config
}

/** A tool whose type the API knows is as its client has written it. */
function toolJson(tool: ClientTool, report: Report): JsonText | undefined {
  const own = ownExt(tool.ext)
  const typed = member(own ?? '', 'type') !== undefined
  if (typed) return own
  if (tool.kind === 'hosted') {
    report(weakened('start.clientTools', tool.name))
    return undefined
  }
  if (tool.kind === 'custom' || (tool.ext && own === undefined)) report(weakened('start.clientTools', tool.name))
  const schema = tool.kind === 'custom' ? FREE_TEXT : (tool.schema ?? '{"type":"object"}')
  return messageLine(
    [
      ['name', quote(flatToolName(tool))],
      ['description', tool.description === undefined ? undefined : quote(tool.description)],
      ['input_schema', schema],
      ['strict', json(tool.strict)],
    ],
    own,
  )
}

/** A tool with free text gets it in a member. */
const FREE_TEXT = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'

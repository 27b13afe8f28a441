import { messageLine, weakened, withFurther } from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  elements,
  type JsonText,
  member,
  members,
  object,
  quote,
  type TurnOptions,
  type TurnStart,
} from '../../../../src/model/index.ts'
import { effortOf } from '../../effort.ts'
import { responseFormat } from '../../formats.ts'
import { GROUP, isStrange, ownOf } from '../../further.ts'
import type { Options } from '../../options.ts'
import type { Report } from '../../part-loss.ts'
import { responsesExt } from '../../request-ext.ts'
import { userEntry } from '../../user.ts'
import { ownExt, ownMember } from '../../wire.ts'

/** The body of one request. `input` has the items of the whole conversation so far. */
export function requestBody(
  start: TurnStart & { ext?: { protocol: string; json: JsonText } },
  settings: Options,
  input: readonly JsonText[],
  report: Report,
): string {
  const { options, clientTools = [] } = start
  const own = responsesExt(start.ext, report)
  const system = own && member(own, 'input')
  const effort = effortOf(options, settings, report)
  const tools = toolsJson(clientTools, report)
  return messageLine(
    [
      ['model', quote(options.model ?? settings.model ?? 'default')],
      ['instructions', system === undefined ? promptJson(options) : undefined],
      ['input', `[${(system === undefined ? input : [...elements(system), ...input]).join(',')}]`],
      ['stream', 'true'],
      // The conversation comes with each request, so the server need not keep it.
      ['store', settings.store === true ? 'true' : 'false'],
      ['tools', tools.length === 0 ? undefined : `[${tools.join(',')}]`],
      ['tool_choice', (own && member(own, 'tool_choice')) ?? choiceJson(options.toolChoice, clientTools)],
      ['parallel_tool_calls', json(options.parallelTools)],
      ['text', textJson(options, own && member(own, 'text'))],
      ['reasoning', reasoningJson(effort, own && member(own, 'reasoning'))],
      ['include', (own && member(own, 'include')) ?? (effort === undefined ? undefined : ENCRYPTED)],
      ['max_output_tokens', json(options.maxTokens)],
      ['temperature', json(options.temperature)],
      ['top_p', json(options.topP)],
      userEntry(start.user, own, report),
    ],
    own,
  )
}

/** Models that reason give their reasoning in a form that goes back with the next request; others refuse the wish. */
const ENCRYPTED = '["reasoning.encrypted_content"]'

function promptJson({ systemPrompt }: TurnOptions): JsonText | undefined {
  return systemPrompt === undefined ? undefined : quote(systemPrompt)
}

function json(value: unknown): JsonText | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

function choiceJson(choice: TurnOptions['toolChoice'], tools: readonly ClientTool[]): JsonText | undefined {
  if (choice === undefined || typeof choice === 'string') return json(choice)
  const custom = tools.some(({ name, kind }) => name === choice.tool && kind === 'custom')
  return JSON.stringify({ type: custom ? 'custom' : 'function', name: choice.tool })
}

/** The format of the answer, and what else a client of this API says of its text. */
function textJson({ outputSchema }: TurnOptions, own: JsonText | undefined): JsonText | undefined {
  if (own === undefined) return outputSchema === undefined ? undefined : object([['format', formatJson(outputSchema)]])
  const said = member(own, 'format')
  const format = said ?? (outputSchema === undefined ? undefined : formatJson(outputSchema))
  return object([['format', format], ...members(own).filter(([key]) => key !== 'format')])
}

function formatJson(schema: JsonText): JsonText {
  return object([
    ['type', '"json_schema"'],
    ['name', '"answer"'],
    ['schema', schema],
    ['strict', 'false'],
  ])
}

function reasoningJson(effort: string | undefined, own: JsonText | undefined): JsonText | undefined {
  if (own === undefined) return effort === undefined ? undefined : `{"effort":${json(effort)}}`
  return object([['effort', json(effort)], ...members(own).filter(([key]) => key !== 'effort')])
}

/** The tools; those of one group are together in a tool of the type `namespace`. */
function toolsJson(tools: readonly ClientTool[], report: Report): JsonText[] {
  const groups = new Map<string, JsonText[]>()
  const plain: JsonText[] = []
  for (const tool of tools) {
    const written = toolJson(tool, report)
    if (written === undefined) continue
    if (tool.namespace === undefined) plain.push(written)
    else groups.set(tool.namespace, [...(groups.get(tool.namespace) ?? []), written])
  }
  return [...plain, ...[...groups].map(([name, inner]) => groupJson(name, inner, tools))]
}

function groupJson(name: string, inner: readonly JsonText[], tools: readonly ClientTool[]): JsonText {
  const first = tools.find(({ namespace, ext }) => namespace === name && ownMember(ext, GROUP) !== undefined)
  const own = ownMember(first?.ext, GROUP) ?? '{}'
  return object([
    ['type', '"namespace"'],
    ['name', quote(name)],
    ['description', member(own, 'description') ?? '""'],
    ['tools', `[${inner.join(',')}]`],
    ...members(own).filter(([key]) => key !== 'description'),
  ])
}

function toolJson(tool: ClientTool, report: Report): JsonText | undefined {
  if (tool.kind === 'hosted') {
    const own = ownMember(tool.ext, 'responses') ?? ownExt(tool.ext)
    if (own === undefined) report(weakened('start.clientTools', tool.name))
    return own
  }
  if (isStrange(tool, 'responses')) report(weakened('start.clientTools', tool.name))
  return withFurther(ownToolJson(tool), ownOf(tool, 'responses'))
}

function ownToolJson(tool: ClientTool): JsonText {
  const custom = tool.kind === 'custom'
  return object([
    ['type', custom ? '"custom"' : '"function"'],
    ['name', quote(tool.name)],
    ['description', tool.description === undefined ? undefined : quote(tool.description)],
    ...(custom
      ? ([['format', responseFormat(ownMember(tool.ext, 'format'))]] as const)
      : ([
          ['parameters', tool.schema ?? 'null'],
          // The API makes schemas strict unless it is told not to.
          ['strict', json(tool.strict ?? false)],
        ] as const)),
  ])
}

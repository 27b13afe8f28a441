import * as v from 'valibot'
import { flag, furtherMembers, jsonSchema, maybe, record, text, wrongMember } from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  elements,
  type Fault,
  type JsonText,
  member,
  object,
  parse,
  rest,
  type TurnOptions,
} from '../../../../src/model/index.ts'
import { wrongRequest } from '../../errors.ts'
import { GROUP } from '../../further.ts'
import { entriesExt, toExt } from '../../wire.ts'

const named = v.pipe(text, v.minLength(1, 'must not be empty'))
const callable = [
  v.looseObject({
    type: v.literal('function'),
    name: named,
    description: maybe(text),
    parameters: maybe(jsonSchema),
    strict: maybe(flag),
  }),
  v.looseObject({ type: v.literal('custom'), name: named, description: maybe(text) }),
] as const
const group = v.looseObject({
  type: v.literal('namespace'),
  name: named,
  description: maybe(text),
  tools: v.array(v.variant('type', callable, 'must be a function or a custom tool'), 'must be an array'),
})
const hosted = record({ type: text }, 'must be an object with a type')
const KNOWN: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace'])

/** A tool that the client runs, a group of such tools, or one of the provider. */
export const tool = v.lazy((given) => {
  const type = typeof given === 'object' && given !== null && 'type' in given ? given.type : undefined
  return KNOWN.has(type) ? v.variant('type', [...callable, group]) : hosted
})

/** The tool that the model must call. */
export const choice = v.union(
  [v.picklist(['auto', 'none', 'required']), record({ type: text, name: v.optional(text) })],
  'must be "auto", "none", "required", or an object that names a tool',
)

/** The choice as an option; a choice among several tools, or of a hosted one, has no place there. */
export function toolChoiceOf(given: v.InferOutput<typeof choice> | null | undefined): TurnOptions['toolChoice'] {
  if (given == null || typeof given === 'string') return given ?? undefined
  const { type, name } = given
  return (type === 'function' || type === 'custom') && name !== undefined ? { tool: name } : undefined
}

/** True for a choice that has no more than its option, or none. */
export function isWholeChoice(given: v.InferOutput<typeof choice> | null | undefined): boolean {
  if (given == null || typeof given === 'string') return true
  if (toolChoiceOf(given) === undefined) return false
  return furtherMembers(JSON.stringify(given), given, { type: true, name: true }) === undefined
}

/** Reads tools that `tool` has accepted, raw. */
export function toolsOf(json: JsonText | undefined): ClientTool[] {
  return elements(json ?? '[]').flatMap(readTool)
}

/** Reads the tools of an item. `path` is its place in the request. */
export function readTools(json: JsonText, path: string): ClientTool[] | Fault {
  const checked = v.safeParse(v.object({ [path]: v.array(tool, 'must be an array') }), { [path]: parse(json) })
  return checked.success ? toolsOf(json) : wrongRequest(wrongMember(checked.issues[0]))
}

/** The tools of one entry: a group has several. */
function readTool(raw: JsonText): ClientTool[] {
  const { type, name } = parse(raw) as { type: string; name: string }
  if (type === 'function' || type === 'custom') return [declared(raw)]
  // A server of Chat Completions knows no such tools.
  if (type !== 'namespace') return [{ name: type, kind: 'hosted', ext: entriesExt([['responses', raw]])! }]
  const group = rest(raw, OF_GROUP)
  return elements(member(raw, 'tools')!).map((inner) => ({ ...declared(inner, group), namespace: name }))
}

/** The members of a group of tools that are read. */
const OF_GROUP: ReadonlySet<string> = new Set(['type', 'name', 'tools'])

const NAMED = { type: true, name: true, description: true } as const
const FUNCTION = { ...NAMED, parameters: true, strict: true } as const
const CUSTOM = { ...NAMED, format: true } as const

/** A tool; `group` are the members that its group has besides its name, raw. */
function declared(raw: JsonText, group?: JsonText): ClientTool {
  const given = parse(raw) as { type: string; name: string; description?: string | null; strict?: boolean | null }
  const custom = given.type === 'custom'
  const schema = member(raw, 'parameters')
  const ext = object([
    [GROUP, group],
    ['format', custom ? member(raw, 'format') : undefined],
    ['responses', furtherMembers(raw, given, custom ? CUSTOM : FUNCTION)],
  ])
  return {
    name: given.name,
    ...(custom && { kind: 'custom' }),
    ...(given.description != null && { description: given.description }),
    ...(!custom && schema !== undefined && schema !== 'null' && { schema }),
    ...(!custom && given.strict != null && { strict: given.strict }),
    ...(ext !== '{}' && { ext: toExt(ext)! }),
  }
}

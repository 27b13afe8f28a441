import * as v from 'valibot'
import { flag, furtherMembers, jsonSchema, maybe, record, text } from '../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  elements,
  type Fault,
  type JsonText,
  member,
  rest,
  type TurnOptions,
} from '../../../src/model/index.ts'
import { invalidRequest } from '../errors.ts'
import { toExt } from '../wire.ts'

/** A tool: one of the client, or by its type one that the API knows. */
export const tool = record(
  {
    type: maybe(text),
    name: v.optional(text, ''),
    description: maybe(text),
    input_schema: maybe(jsonSchema),
    strict: maybe(flag),
  },
  'must be an object',
)

const CHOICES = { auto: 'auto', any: 'required', none: 'none', tool: 'tool' } as const

/** The tool that the model must call, and whether it may call several at once. */
export const choice = v.pipe(
  record(
    {
      type: v.picklist(
        Object.keys(CHOICES) as (keyof typeof CHOICES)[],
        `must be one of ${Object.keys(CHOICES).join('|')}`,
      ),
      name: maybe(text),
      disable_parallel_tool_use: maybe(flag),
    },
    'must be an object',
  ),
  v.check(({ type, name }) => type !== 'tool' || name != null, 'must have the name of the tool'),
)

/** The choice as options. */
export function toolOptions(given: v.InferOutput<typeof choice> | null | undefined): TurnOptions {
  if (given == null) return {}
  const known = CHOICES[given.type]
  const toolChoice = known === 'tool' ? { tool: given.name! } : known
  return { toolChoice, ...(given.disable_parallel_tool_use === true && { parallelTools: false }) }
}

const CHOICE = { type: true, name: true, disable_parallel_tool_use: true } as const

/** True for a choice that has no more than its options, or none. */
export function isWholeChoice(given: v.InferOutput<typeof choice> | null | undefined): boolean {
  return given == null || furtherMembers(JSON.stringify(given), given, CHOICE) === undefined
}

/** Typed tools whose calls the client runs; the provider runs the others. */
const RUN_BY_CLIENT = /^(bash|text_editor|computer|memory|browser)_/

const PLAIN: ReadonlySet<string> = new Set(['type', 'name', 'description', 'input_schema', 'strict'])

/** The tools of a request; `json` is the list as it was sent. */
export function readTools(tools: readonly v.InferOutput<typeof tool>[], json: JsonText): readonly ClientTool[] | Fault {
  const raws = elements(json)
  const wrong = tools.findIndex(({ name, type }) => name === '' && !isTyped(type))
  if (wrong >= 0) return invalidRequest(`tools[${wrong}].name is missing.`)
  return tools.map((given, at) => readTool(given, raws[at]!))
}

function isTyped(type: string | null | undefined): type is string {
  return type != null && type !== 'custom'
}

function readTool({ type, name, description, strict }: v.InferOutput<typeof tool>, raw: JsonText): ClientTool {
  if (isTyped(type)) {
    // The type determines its arguments, for servers that know it.
    const own = { name: name || type, ext: toExt(raw)! }
    return RUN_BY_CLIENT.test(type) ? own : { ...own, kind: 'hosted' }
  }
  const schema = member(raw, 'input_schema')
  const ext = toExt(rest(raw, PLAIN))
  return {
    name,
    ...(description != null && { description }),
    ...(schema !== undefined && schema !== 'null' && { schema }),
    ...(strict != null && { strict }),
    ...(ext && { ext }),
  }
}

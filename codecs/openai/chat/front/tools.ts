import * as v from 'valibot'
import {
  flag,
  furtherMembers,
  jsonSchema,
  type KnownMembers,
  maybe,
  record,
  text,
} from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  elements,
  type Fault,
  type JsonText,
  member,
  type TurnOptions,
} from '../../../../src/model/index.ts'
import { invalidRequest } from '../../errors.ts'
import { entriesExt, toExt } from '../../wire.ts'

const CHOICES = ['auto', 'none', 'required'] as const
const named = record({ name: text }, 'must be an object with a name')
/** The tool that the model must call. */
export const choice = v.union(
  [
    v.picklist(CHOICES),
    v.looseObject({ type: v.literal('function'), function: named }),
    v.looseObject({ type: v.literal('custom'), custom: named }),
    record({ type: v.literal('allowed_tools') }),
  ],
  'must be "auto", "none", "required", or an object that names a tool',
)
/** A tool that the client runs, or one of the provider. */
export const tool = record(
  {
    type: text,
    function: maybe(
      record({
        name: v.pipe(text, v.minLength(1, 'must not be empty')),
        description: maybe(text),
        parameters: maybe(jsonSchema),
        strict: maybe(flag),
      }),
    ),
    custom: maybe(record({ name: text, description: maybe(text) })),
  },
  'must be an object',
)

/** The choice as an option; a choice among several tools has no place there. */
export function toolChoiceOf(given: v.InferOutput<typeof choice> | null | undefined): TurnOptions['toolChoice'] {
  if (given == null || typeof given === 'string') return given ?? undefined
  if (given.type === 'function') return { tool: (given.function as { name: string }).name }
  return given.type === 'custom' ? { tool: (given.custom as { name: string }).name } : undefined
}

const NAMED: KnownMembers = { name: true }

/** True for a choice that has no more than its option, or none. */
export function isWholeChoice(given: v.InferOutput<typeof choice> | null | undefined): boolean {
  if (given == null || typeof given === 'string') return true
  if (given.type === 'allowed_tools') return false
  return furtherMembers(JSON.stringify(given), given, { type: true, function: NAMED, custom: NAMED }) === undefined
}

/** The tools of a request; `json` is the list as it was sent. */
export function readTools(
  tools: readonly v.InferOutput<typeof tool>[] | null | undefined,
  json: JsonText | undefined,
): readonly ClientTool[] | Fault {
  if (!tools) return []
  const raws = elements(json!)
  const read: ClientTool[] = []
  for (const [at, given] of tools.entries()) {
    const known = readTool(given, raws[at]!)
    if (!known) return invalidRequest(`tools[${at}] must have a function, or be of a known type.`, `tools[${at}]`)
    read.push(known)
  }
  return read
}

const CALLED: KnownMembers = { name: true, description: true }
const TOOL: KnownMembers = {
  type: true,
  function: { ...CALLED, parameters: true, strict: true },
  custom: { ...CALLED, format: true },
}

function readTool(given: v.InferOutput<typeof tool>, raw: JsonText): ClientTool | undefined {
  const { type, function: called, custom } = given
  const chat = furtherMembers(raw, given, TOOL)
  if (type === 'function' && called) {
    const schema = member(member(raw, 'function')!, 'parameters')
    const ext = entriesExt([['chat', chat]])
    return {
      name: called.name,
      ...(called.description != null && { description: called.description }),
      ...(schema !== undefined && schema !== 'null' && { schema }),
      ...(called.strict != null && { strict: called.strict }),
      ...(ext && { ext }),
    }
  }
  if (type === 'custom' && custom) {
    const { name, description } = custom
    const ext = entriesExt([
      ['format', member(member(raw, 'custom')!, 'format')],
      ['chat', chat],
    ])
    return { name, kind: 'custom', ...(description != null && { description }), ...(ext && { ext }) }
  }
  // Tools of the provider are named by their type.
  return type === 'function' || type === 'custom' ? undefined : { name: type, kind: 'hosted', ext: toExt(raw)! }
}

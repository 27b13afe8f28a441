import { type Entry, furtherMembers, type KnownMembers, unknownMembers } from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  type JsonText,
  member,
  members,
  object,
  type Part,
  parseObject,
  rest,
} from '../../../src/model/index.ts'
import { toExt } from '../wire.ts'
import { OWN, type Read } from './body.ts'
import { isWholeChoice } from './tools.ts'

/** Members that the model has a place for a part of. */
const PARTLY: ReadonlySet<string> = new Set(['metadata', 'output_config', 'output_format', 'thinking'])
const KNOWN: ReadonlySet<string> = new Set(Object.keys(OWN))

/** Members of objects that have a place in the model. */
const USER: ReadonlySet<string> = new Set(['user_id'])
const FORMAT = { type: true, schema: true } as const
const OUTPUT = { effort: true, format: FORMAT } as const
const THOUGHT = { format: FORMAT } as const

/** The members that the model has no place for, and a system prompt that is more than text. */
export function extOf(body: string, read: Read, system: readonly Part[], betas: string | undefined): Ext | undefined {
  const others = unknownMembers(body, read, KNOWN)
  const json = object([
    ['system', system.some(({ ext }) => ext) ? member(body, 'system') : undefined],
    ['tool_choice', isWholeChoice(read.tool_choice) ? undefined : member(body, 'tool_choice')],
    ...(others === undefined ? [] : members(others)).map(([key, value]) => withinOf(key, value, read)),
    ['betas', betas === undefined ? undefined : JSON.stringify(betas.split(',').map((beta) => beta.trim()))],
  ])
  return json === '{}' ? undefined : toExt(json)
}

function further(json: JsonText, known: KnownMembers): JsonText | undefined {
  return furtherMembers(json, parseObject(json)!, known)
}

/**
 * The rest of a member; undefined when nothing is left. With thinking, the effort of a client stays in its own member.
 */
function withinOf(key: string, value: JsonText, { thinking: thought }: Read): Entry {
  if (value === 'null' && PARTLY.has(key)) return [key, undefined]
  if (key === 'metadata') return [key, rest(value, USER)]
  if (key === 'output_config') return [key, further(value, thought == null ? OUTPUT : THOUGHT)]
  if (key !== 'output_format' || member(value, 'schema') === undefined) return [key, value]
  // Its newer place, where the schema goes too.
  const format = further(value, FORMAT)
  return ['output_config', format && object([['format', format]])]
}

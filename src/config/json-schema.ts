import * as z from 'zod'
import { isRecord } from '../model/index.ts'
import { AGENT_KEYS, fileSchema } from './schema.ts'

/** A schema of JSON (draft 2020-12). */
type JsonSchema = Record<string, unknown>

/** A text with a variable, which may stand for a value of any kind. */
const VARIABLE = { type: 'string', pattern: String.raw`\$\{` }

/** The options of a protocol in an agent's entry. */
export interface ProtocolKeys {
  /** The values of `protocol` that mean it. */
  names: readonly string[]
  keys: Readonly<Record<string, JsonSchema>>
}

/**
 * The JSON Schema of the configuration file, for editors. `describe` gives the text for a key by its path, such as
 * `server.port`, `agents.NAME.args` or `routes[].agent`.
 */
export function configSchema(
  protocols: readonly ProtocolKeys[],
  describe: (path: string) => string | undefined,
): JsonSchema {
  const schema = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const described = walk(schema, '', describe)
  const agent = agentOf(described)
  const all = protocols.flatMap(({ keys }) => Object.keys(keys))
  Object.assign(agent['properties'] as JsonSchema, {
    protocol: {
      ...propertyOf(agent, 'protocol'),
      anyOf: [{ enum: protocols.flatMap(({ names }) => names) }, VARIABLE],
    },
    ...Object.fromEntries(all.filter((key) => !AGENT_KEYS.includes(key)).map((key) => [key, {}])),
  })
  agent['additionalProperties'] = false
  agent['allOf'] = protocols
    .filter(({ keys }) => Object.keys(keys).length > 0)
    .map(({ names, keys }) => whenThen({ protocol: { enum: names } }, keys))
  return { ...described, title: 'turnpike.yaml' }
}

/** Properties that hold where others do. */
function whenThen(condition: JsonSchema, properties: JsonSchema): JsonSchema {
  return Object.fromEntries([
    ['if', { properties: condition }],
    ['then', { properties }],
  ])
}

/** The schema of an agent's entry. */
function agentOf(schema: JsonSchema): JsonSchema {
  return propertyOf(schema, 'agents')['additionalProperties'] as JsonSchema
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  return (schema['properties'] as Record<string, JsonSchema>)[name]!
}

/** A copy with descriptions, in which every value may be a text with a variable. */
function walk(schema: JsonSchema, path: string, describe: (path: string) => string | undefined): JsonSchema {
  const { properties, items, additionalProperties, ...rest } = schema
  const text = describe(path)
  const about = text === undefined ? {} : { description: text }
  if (isRecord(properties)) {
    const inner = Object.entries(properties).map(([name, one]) => [
      name,
      walk(one as JsonSchema, path === '' ? name : `${path}.${name}`, describe),
    ])
    return {
      ...rest,
      ...about,
      properties: Object.fromEntries(inner),
      additionalProperties: additionalProperties ?? false,
    }
  }
  if (isRecord(items)) return { ...rest, ...about, items: walk(items, `${path}[]`, describe) }
  if (isRecord(additionalProperties)) {
    return { ...rest, ...about, additionalProperties: walk(additionalProperties, `${path}.NAME`, describe) }
  }
  const { type, default: byDefault } = rest
  if (type === 'string' && !('enum' in rest)) return { ...rest, ...about }
  if (Object.keys(rest).every((key) => key === 'default' || key === 'description')) return { ...rest, ...about }
  const { default: _, ...value } = rest
  return { ...about, ...(byDefault !== undefined && { default: byDefault }), anyOf: [value, VARIABLE] }
}

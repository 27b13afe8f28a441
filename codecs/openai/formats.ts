import { type JsonText, member, members, object } from '../../src/model/index.ts'

/** The `format` of a custom tool as Chat Completions has it: a grammar is an object of its own. */
export function chatFormat(format: JsonText | undefined): JsonText | undefined {
  if (format === undefined || member(format, 'definition') === undefined) return format
  return object([
    ['type', '"grammar"'],
    ['grammar', without(format, 'type')],
  ])
}

/** The `format` of a custom tool as the Responses API has it: a grammar's fields are those of the format. */
export function responseFormat(format: JsonText | undefined): JsonText | undefined {
  const grammar = format === undefined ? undefined : member(format, 'grammar')
  if (grammar === undefined) return format
  return flat(format!, 'grammar', grammar)
}

/** An object with the members of the object that it has as `key`. */
function flat(json: JsonText, key: string, inner: JsonText): JsonText {
  return object(members(json).flatMap(([name, raw]) => (name === key ? members(inner) : [[name, raw] as const])))
}

function without(json: JsonText, key: string): JsonText {
  return object(members(json).filter(([name]) => name !== key))
}

/** The form of the answer in a request of Chat Completions, as the `text` of the Responses API. */
export function textOfChat(json: JsonText): JsonText | undefined {
  const format = member(json, 'response_format')
  const schema = format === undefined ? undefined : member(format, 'json_schema')
  const text = object([
    ['format', schema === undefined ? format : flat(format!, 'json_schema', schema)],
    ['verbosity', member(json, 'verbosity')],
  ])
  return text === '{}' ? undefined : text
}

/** The `text` of a request of the Responses API, as the members that Chat Completions has for it. */
export function chatOfText(text: JsonText): JsonText {
  const format = member(text, 'format')
  const schema = format === undefined ? undefined : member(format, 'schema')
  const deep = object([
    ['type', '"json_schema"'],
    ['json_schema', without(format ?? '{}', 'type')],
  ])
  return object([
    ['response_format', schema === undefined ? format : deep],
    ['verbosity', member(text, 'verbosity')],
  ])
}

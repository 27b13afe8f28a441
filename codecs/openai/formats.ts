import { type JsonText, member, members, object } from '../../src/model/index.ts'

/** The `format` of a custom tool as Chat Completions has it: a grammar is an object of its own. */
export function chatFormat(format: JsonText | undefined): JsonText | undefined {
  const definition = format === undefined ? undefined : member(format, 'definition')
  if (definition === undefined) return format
  const grammar = object([
    ['definition', definition],
    ['syntax', member(format!, 'syntax')],
  ])
  return object([
    ['type', '"grammar"'],
    ['grammar', grammar],
  ])
}

/** The `format` of a custom tool as the Responses API has it: a grammar's fields are those of the format. */
export function responseFormat(format: JsonText | undefined): JsonText | undefined {
  const grammar = format === undefined ? undefined : member(format, 'grammar')
  if (grammar === undefined) return format
  return object([
    ['type', '"grammar"'],
    ['syntax', member(grammar, 'syntax')],
    ['definition', member(grammar, 'definition')],
  ])
}

/** The form of the answer in a request of Chat Completions, as the `text` of the Responses API. */
export function textOfChat(json: JsonText): JsonText | undefined {
  const format = member(json, 'response_format')
  const schema = format === undefined ? undefined : member(format, 'json_schema')
  const flat = schema === undefined ? format : object([['type', '"json_schema"'], ...members(schema)])
  const text = object([
    ['format', flat],
    ['verbosity', member(json, 'verbosity')],
  ])
  return text === '{}' ? undefined : text
}

/** The `text` of a request of the Responses API, as the members that Chat Completions has for it. */
export function chatOfText(text: JsonText): JsonText {
  const format = member(text, 'format')
  const schema = format === undefined ? undefined : member(format, 'schema')
  const inner = object(members(format ?? '{}').filter(([key]) => key !== 'type'))
  const deep = object([
    ['type', '"json_schema"'],
    ['json_schema', inner],
  ])
  return object([
    ['response_format', schema === undefined ? format : deep],
    ['verbosity', member(text, 'verbosity')],
  ])
}

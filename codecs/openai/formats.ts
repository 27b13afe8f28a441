import { type JsonText, member, object } from '../../src/model/index.ts'

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

import { isRecord, type JsonText, object, parse, quote } from '../../src/model/index.ts'

/** The arguments of a call as an object, which the API demands. */
export function inputOf(args: JsonText): JsonText {
  if (args === '') return '{}'
  return isRecord(parse(args)) ? args : object([['input', quote(args)]])
}

import { callIdOf } from '../../../../src/codec-kit/index.ts'
import { type Ask, type JsonText, object, quote, type TurnView } from '../../../../src/model/index.ts'

/** The calls of the client's tools that a parked turn waits for, as `tool_calls`; in a stream each with its `index`. */
export function callJsons(continuation: string, asks: readonly Ask[], view: TurnView, indexed: boolean): JsonText[] {
  return asks.flatMap(({ question }, at) => {
    const tool = question.kind === 'tool' ? view.tool(question.tool) : undefined
    if (!tool) return []
    const called = object([
      ['name', quote(tool.name)],
      ['arguments', quote(tool.args)],
    ])
    return object([
      ['index', indexed ? String(at) : undefined],
      ['id', quote(callIdOf('call_', { continuation, at }))],
      ['type', '"function"'],
      ['function', called],
    ])
  })
}

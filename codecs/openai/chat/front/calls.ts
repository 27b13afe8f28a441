import { callExt, callIdOf, withFurther } from '../../../../src/codec-kit/index.ts'
import { type EventOf, type JsonText, object, quote, type TurnView } from '../../../../src/model/index.ts'
import { type DeclaredTools, formOf } from '../../declared-tools.ts'
import { ownMember } from '../../wire.ts'

/** The calls of the client's tools that a parked turn waits for, as `tool_calls`; in a stream each with its `index`. */
export function callJsons(
  { asks, continuation }: EventOf<'turn-parked'>,
  view: TurnView,
  tools: DeclaredTools,
  indexed: boolean,
): JsonText[] {
  return asks.flatMap(({ question }, at) => {
    const tool = question.kind === 'tool' ? view.tool(question.tool) : undefined
    if (!tool) return []
    const [type, given] = formOf(tools.get(tool.name))
    const called = object([
      ['name', quote(tool.name)],
      [given, quote(tool.args)],
    ])
    const json = object([
      ['index', indexed ? String(at) : undefined],
      ['id', quote(callIdOf('call_', { continuation, at }))],
      ['type', quote(type)],
      [type, called],
    ])
    return withFurther(json, ownMember(callExt(view, tool.id), 'chat'))
  })
}

import { callIdOf, withFurther } from '../../../../src/codec-kit/index.ts'
import {
  type Ask,
  type Id,
  type JsonText,
  object,
  type Part,
  quote,
  type TurnView,
} from '../../../../src/model/index.ts'
import { ownOf } from '../../further.ts'

/** The calls of the client's tools that a parked turn waits for, as `tool_calls`; in a stream each with its `index`. */
export function callJsons(continuation: string, asks: readonly Ask[], view: TurnView, indexed: boolean): JsonText[] {
  return asks.flatMap(({ question }, at) => {
    const tool = question.kind === 'tool' ? view.tool(question.tool) : undefined
    if (!tool) return []
    const called = object([
      ['name', quote(tool.name)],
      ['arguments', quote(tool.args)],
    ])
    const json = object([
      ['index', indexed ? String(at) : undefined],
      ['id', quote(callIdOf('call_', { continuation, at }))],
      ['type', '"function"'],
      ['function', called],
    ])
    return withFurther(json, ownOf(callIn(view, tool.id), 'chat'))
  })
}

/** The call of a tool as a part of its message, which has its further members. */
function callIn({ messages }: TurnView, tool: Id): Pick<Part, 'ext'> {
  const parts = messages.flatMap((message) => message.parts ?? [])
  return parts.find((part) => part.type === 'tool-call' && part.tool === tool) ?? {}
}

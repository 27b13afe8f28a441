import { isObject, parsed } from './judges.ts'
import type { AgentRun, JsonRecord } from './suite.ts'

/** One event of a stream of server-sent events. */
export interface StreamEvent {
  /** The field `event`. */
  readonly event?: string
  readonly data: string
  /** The JSON object of its data, if it is one. */
  readonly object?: JsonRecord
}

/** The events of a streamed answer. What no blank line ends is none. */
export function eventsOf({ output }: AgentRun): StreamEvent[] {
  const blocks = output.split(/(?:\r\n|\n|\r(?!\n)){2}/)
  return blocks.slice(0, -1).flatMap((block) => {
    const fields = block.split(/\r\n|\n|\r/).map((line): [string, string] => {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line)!
      return [name, value]
    })
    const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : []))
    if (data.length === 0) return []
    const event = fields.find(([name]) => name === 'event')?.[1]
    const object = parsed(data.join('\n'))
    return [{ data: data.join('\n'), ...(event !== undefined && { event }), ...(isObject(object) && { object }) }]
  })
}

/** The JSON objects of a stream's events, in order: all, or those of these types. */
export function streamed(run: AgentRun, ...types: readonly string[]): JsonRecord[] {
  const all = eventsOf(run).flatMap(({ object }) => (object ? [object] : []))
  return types.length === 0 ? all : all.filter(({ type }) => types.includes(type as string))
}

import type { ClientTool, Message, Part } from '../model/index.ts'
import { parkedCallOf } from './call-ids.ts'

/**
 * The place of the first message with the result of a call that no message before has made, unless the call is one of a
 * parked turn of ours; undefined when there is none.
 */
export function strayReply(messages: readonly Pick<Message, 'parts'>[]): number | undefined {
  const calls = new Set<string>()
  const isStray = (part: Part): boolean => {
    if (part.type === 'tool-call') calls.add(part.tool)
    return part.type === 'tool-reply' && !calls.has(part.tool) && parkedCallOf(part.tool) === undefined
  }
  const stray = messages.findIndex(({ parts }) => parts.some(isStray))
  return stray < 0 ? undefined : stray
}

/**
 * Servers refuse a conversation with a call that has no result: one that was never run gets a result that says so.
 * `input` goes on with the conversation, and may have results itself.
 */
export function answeredHistory(history: readonly Message[], input: readonly Part[]): readonly Message[] {
  const said = [...history.flatMap(({ parts }) => parts), ...input]
  const results = new Set(said.map((part) => (part.type === 'tool-reply' ? part.tool : undefined)))
  return history.flatMap((said): Message[] => {
    const open = said.parts.flatMap((part) => (part.type === 'tool-call' && !results.has(part.tool) ? part.tool : []))
    if (open.length === 0) return [said]
    const parts = open.map((tool): Part => ({ type: 'tool-reply', tool, status: 'cancelled', parts: [] }))
    return [said, { role: 'tool', parts }]
  })
}

/** The name of a client's tool on a wire that has no groups of tools. */
export function flatToolName({ namespace, name }: Pick<ClientTool, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}__${name}`
}

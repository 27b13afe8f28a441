import type { ClientTool, Message, Part } from '../model/index.ts'

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

/** A system prompt and the user's text as the one text of a protocol that has no place for a system prompt. */
export function withInstruction(systemPrompt: string, text: string): string {
  return `System instruction:\n${systemPrompt}\n\nUser message:\n${text}`
}

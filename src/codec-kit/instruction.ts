import type { Invocation } from '../model/index.ts'

/** A system prompt and the user's text as the one text of a protocol that has no place for a system prompt. */
export function withInstruction(systemPrompt: string, text: string): string {
  return `System instruction:\n${systemPrompt}\n\nUser message:\n${text}`
}

/** A command as its user would have typed it. */
export function commandText({ kind, path, args }: Invocation): string {
  const name = `${kind === 'slash' ? '/' : '@'}${path.join(' ')}`
  return args === '' ? name : `${name} ${args}`
}

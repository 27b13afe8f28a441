import type { Capabilities } from '../../contract/index.ts'
import { type Command, type Message, type TurnStart, textOf } from '../../model/index.ts'
import type { ReportLoss } from './carry.ts'

/** Names of the speakers in a transcript that is written as text. */
const SPEAKER: Readonly<Record<Message['role'], string>> = {
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
  system: 'System',
}

/**
 * The command with the conversation so far, for an agent that has lost it: as history where the agent's protocol has
 * it, else as text before the prompt, which is a loss of form.
 */
export function withHistory(
  capabilities: Capabilities,
  command: Command & TurnStart,
  history: readonly Message[],
  report: ReportLoss,
): Command & TurnStart {
  if (history.length === 0 || command.history) return command
  if (capabilities['start.history'] !== 'none') return { ...command, history }
  report({ kind: 'weakened', item: 'start.history', why: 'no-place', count: 1 })
  const lines = history.map(({ role, parts }) => `${SPEAKER[role]}: ${textOf(parts)}`)
  const text = `The conversation so far:\n\n${lines.join('\n\n')}\n\nIt goes on with this message:`
  return { ...command, input: [{ type: 'text', text }, ...command.input] }
}

import {
  commandText,
  dropped,
  messageLine,
  type Report,
  weakened,
  withInstruction,
} from '../../../src/codec-kit/index.ts'
import { type JsonText, quote, type TurnStart } from '../../../src/model/index.ts'

/** A prompt for the CLI. */
export interface Prompt {
  text: string
  /** The system prompt that precedes it in the conversation. */
  system: string | undefined
}

/** A command of the CLI: only as the first word is it one. */
const COMMAND = /^\s*\/([a-z][\w:-]*)(?=\s|$)/i
/** The commands that surely clear the conversation. */
const FORGETTING: ReadonlySet<string> = new Set(['clear', 'reset', 'new', 'compress', 'compress-fast', 'summarize'])

/**
 * The prompt of a turn's input; `report` gets what it cannot hold. A command without text is written as a user types
 * it. A system prompt that the conversation does not know (`known`) is put before the text, but not before a command,
 * which would not work then: the next prompt brings it.
 */
export function promptOf(start: TurnStart, known: string | undefined, report: Report): Prompt {
  const text = textOf(start, report)
  const { systemPrompt: wished = known } = start.options
  const [, command] = COMMAND.exec(text) ?? []
  if (command !== undefined) {
    if (wished !== known) report(dropped('option.systemPrompt', undefined, 'policy'))
    return { text, system: FORGETTING.has(command.toLowerCase()) ? undefined : known }
  }
  if (wished === undefined || wished === known || text.trim() === '') return { text, system: known }
  report(weakened('option.systemPrompt'))
  return { text: withInstruction(wished, text), system: wished }
}

function textOf(start: TurnStart, report: Report): string {
  const lines: string[] = []
  for (const part of start.input) {
    if (part.type === 'text') lines.push(part.text)
    else if (part.type === 'data') {
      report(weakened('part.data'))
      lines.push(part.json)
    } else if (part.type === 'reasoning') {
      report(dropped('part.reasoning'))
    }
  }
  const typed = lines.join('\n')
  return typed === '' && start.invocation ? commandText(start.invocation) : typed
}

/** The `user` line of a prompt; `extra` are unknown members of the client's own. */
export function userLine(text: string, session: string | undefined, extra: JsonText | undefined): string {
  return messageLine(
    {
      type: '"user"',
      session_id: quote(session ?? ''),
      message: `{"role":"user","content":${quote(text)}}`,
      parent_tool_use_id: 'null',
    },
    extra,
  )
}

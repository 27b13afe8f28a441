import { type Invocation, type JsonText, type Loss, quote, type TurnStart } from '../../../src/model/index.ts'
import { messageLine } from './wire.ts'

/**
 * The text of a prompt from a turn's input; `report` gets what it cannot hold. A command that has no text is written the
 * way a user types it; `system` is folded in when given.
 */
export function promptText(start: TurnStart, system: string | undefined, report: (loss: Loss) => void): string {
  const lines: string[] = []
  for (const part of start.input) {
    if (part.type === 'text') lines.push(part.text)
    else if (part.type === 'data') {
      report({ kind: 'weakened', item: 'part.data', why: 'no-place', count: 1 })
      lines.push(part.json)
    } else if (part.type === 'reasoning') {
      report({ kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 })
    }
  }
  const typed = lines.join('\n')
  const text = typed === '' && start.invocation ? invocationText(start.invocation) : typed
  if (system === undefined || text.trim() === '') return text
  report({ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 })
  return `System instruction:\n${system}\n\nUser message:\n${text}`
}

function invocationText({ kind, path, args }: Invocation): string {
  const name = `${kind === 'slash' ? '/' : '@'}${path.join(' ')}`
  return args === '' ? name : `${name} ${args}`
}

/** The `user` line of a prompt; `extra` are unknown members of the client's own. */
export function userLine(text: string, session: string | undefined, extra: JsonText | undefined): string {
  return messageLine(
    [
      ['type', '"user"'],
      ['session_id', quote(session ?? '')],
      ['message', `{"role":"user","content":${quote(text)}}`],
      ['parent_tool_use_id', 'null'],
    ],
    extra,
  )
}

import { type Ext, type Id, quote, type TurnView } from '../../../src/model/index.ts'
import { ownMember } from '../wire.ts'
import type { Turn } from './state.ts'

/** Lines that are written before the next one: the command's result, the message before, its thoughts. */

const NO_CONTROL = 'This wire has no control channel: what needs an approval follows the route of the gateway.'

/** Writes all that waits. */
export function writeBefore(turn: Turn, view: TurnView): void {
  writePromptResult(turn)
  turn.answer.before(view)
  writeThoughts(turn, view)
}

/** Writes that the command becomes a prompt, before anything of the answer and without a result of the agent's own. */
export function writePromptResult(turn: Turn): void {
  if (turn.commandDone) return
  const { control } = turn.lines.client.formats
  const content = quote(control ? '' : NO_CONTROL)
  writeResult(turn, `{"type":"submit_prompt","content":${content},"control_channel":${control}}`, turn.command)
}

/** Writes the result that an agent of this dialect gave, verbatim; false when the event brings none. */
export function writeVerbatimResult(turn: Turn, ext: Ext | undefined): boolean {
  const result = ownMember(ext, 'result')
  if (result === undefined) return false
  writeResult(turn, result, ownMember(ext, 'command') ?? turn.command, ext)
  return true
}

/** Writes a result that is a message, unless there was one. */
export function writeMessageResult(turn: Turn, level: 'info' | 'error', content: string): void {
  if (turn.commandDone) return
  writeResult(turn, `{"type":"message","level":"${level}","content":${quote(content)}}`, turn.command)
}

function writeResult(turn: Turn, result: string, command: string | undefined, ext?: Ext): void {
  turn.commandDone = true
  turn.lines.write('result/command', { command, result }, ext)
}

/** Writes the thoughts of the newest message. */
export function writeThoughts(turn: Turn, view: TurnView): void {
  const last = view.messages.at(-1)
  if (last) writeThought(turn, last.id, view)
}

/** Writes the thoughts of a message since they were last shown, as one. A heading in bold is the subject of a thought. */
export function writeThought(turn: Turn, message: Id, view: TurnView): void {
  const { lines, answer, thoughts, thoughtExt } = turn
  const known = view.message(message)
  const shown = thoughts.get(message) ?? 0
  if (!known || known.lane !== undefined || known.reasoning.length <= shown) return
  thoughts.set(message, known.reasoning.length)
  answer.before(view)
  const text = known.reasoning.slice(shown)
  const [, subject = '', description = text] = /^\*\*(.+?)\*\*\s*([\s\S]*)$/.exec(text) ?? []
  turn.thoughtExt = undefined
  lines.write('x-qwen-thought', { subject: quote(subject), description: quote(description) }, thoughtExt)
}

import * as v from 'valibot'
import { keysOf, wordTable } from '../../../src/codec-kit/index.ts'
import { elements, type JsonText, member, members, parseObject, rest } from '../../../src/model/index.ts'
import { Terminal, Thought, ToolDisplay } from '../schema.ts'
import { entriesExt, unknownExt } from '../wire.ts'
import { type Reader, reader } from './lines.ts'
import { SESSION_EVENT } from './session-events.ts'
import type { TurnDecoder } from './turn.ts'

/** The annotations of a completion. */
export interface Annotations {
  /** The annotation that makes the content output of a terminal, and no answer. */
  terminal: JsonText | undefined
  /** The end of the turn, taken once the line is read. */
  end: (() => void) | undefined
  /** Those that only describe the content. */
  kept: JsonText[]
}

const DISPLAY = keysOf(ToolDisplay)
const THOUGHT = keysOf(Thought)

/** Readers of facts about a turn besides its answer, which come as lines or as annotations. */
export const NOTES = wordTable<Reader>({
  'x-qwen-thought': reader('reasoning-delta', Thought, (turn, thought, json) => {
    turn.thought(thought.subject ?? '', thought.description ?? '', unknownExt(json, thought, THOUGHT))
    return 'read'
  }),
  'x-qwen-tool-display': reader('tool-progress', ToolDisplay, (turn, { tool_call_id: id, status }, json) => {
    const confirmation = member(json, 'confirmation')
    const ext = entriesExt(members(rest(json, DISPLAY) ?? '{}'), {
      confirmation: confirmation === 'null' ? undefined : confirmation,
    })
    return turn.display(id, status, member(json, 'result_display'), ext) ? 'read' : 'stray'
  }),
})

/** Reads annotations (raw arrays): those that are messages of their own in other places are taken as such. */
export function readAnnotations(turn: TurnDecoder, arrays: readonly (JsonText | undefined)[]): Annotations {
  const found: Annotations = { terminal: undefined, end: undefined, kept: [] }
  for (const raw of arrays.flatMap((json) => elements(json ?? ''))) {
    const value = parseObject(raw) ?? {}
    const { type, source } = value
    if (type === 'x-qwen-session-event') found.end = () => void SESSION_EVENT.read(turn, value, raw)
    else if (type === 'x-qwen-terminal' && source !== 'assistant') found.terminal = raw
    else if (NOTES.get(type)?.read(turn, value, raw) !== 'read') found.kept.push(raw)
  }
  return found
}

/** An `x-qwen-terminal` line with text of its own; one without text has no place. */
export const TERMINAL: Reader = {
  item: 'terminal-output',
  read(turn, value, json) {
    const { success, output } = v.safeParse(Terminal, value)
    if (success) turn.terminal(json, output.text)
    return success ? 'read' : 'stray'
  },
}

import * as v from 'valibot'
import { elements, type JsonText, member, members, parseObject, rest } from '../../../src/model/index.ts'
import { Terminal, Thought, ToolDisplay } from '../schema.ts'
import { entriesExt } from '../wire.ts'
import { readSessionEvent } from './session-events.ts'
import type { TurnDecoder } from './turn.ts'
import type { Outcome } from './wire.ts'

/** The annotations of a completion. */
export interface Annotations {
  /** The annotation that makes the content output of a terminal, and no answer. */
  terminal: JsonText | undefined
  /** The end of the turn, taken once the line is read. */
  end: (() => void) | undefined
  /** Those that only describe the content. */
  kept: JsonText[]
}

/** Reads annotations (raw arrays): those that are messages of their own in other places are taken as such. */
export function readAnnotations(turn: TurnDecoder, arrays: readonly (JsonText | undefined)[]): Annotations {
  const found: Annotations = { terminal: undefined, end: undefined, kept: [] }
  for (const raw of arrays.flatMap((json) => elements(json ?? ''))) {
    const value = parseObject(raw) ?? {}
    const type = value['type']
    if (type === 'x-qwen-session-event') found.end = () => void readSessionEvent(turn, value, raw)
    else if (type === 'x-qwen-terminal' && value['source'] !== 'assistant') found.terminal = raw
    else if (readNote(turn, value, raw) !== 'read') found.kept.push(raw)
  }
  return found
}

type Reader = (turn: TurnDecoder, value: object, json: JsonText) => Outcome

/** Readers of facts about a turn besides its answer, which come as lines or as annotations. */
const NOTES: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ['x-qwen-thought', readThought],
  ['x-qwen-tool-display', readToolDisplay],
])

function readNote(turn: TurnDecoder, value: Record<string, unknown>, json: JsonText): Outcome {
  return NOTES.get(value['type'])?.(turn, value, json) ?? 'stray'
}

/** An `x-qwen-thought`. */
export function readThought(turn: TurnDecoder, value: object): Outcome {
  const { success, output } = v.safeParse(Thought, value)
  if (!success) return 'misfit'
  turn.thought(output.subject ?? '', output.description ?? '')
  return 'read'
}

const DISPLAY: ReadonlySet<string> = new Set([
  'type',
  'tool_call_id',
  'session_id',
  'prompt_id',
  'status',
  'result_display',
  'pending',
  'timestamp',
  'confirmation',
])

/** An `x-qwen-tool-display`. */
export function readToolDisplay(turn: TurnDecoder, value: object, json: JsonText): Outcome {
  const { success, output } = v.safeParse(ToolDisplay, value)
  if (!success) return 'misfit'
  const confirmation = member(json, 'confirmation')
  const ext = entriesExt([
    ...members(rest(json, DISPLAY) ?? '{}'),
    ['confirmation', confirmation === 'null' ? undefined : confirmation],
  ])
  const known = turn.display(output.tool_call_id, output.status, member(json, 'result_display'), ext)
  return known ? 'read' : 'stray'
}

/** An `x-qwen-terminal` line with text of its own. */
export function readTerminal(turn: TurnDecoder, value: object, json: JsonText): Outcome {
  const { success, output } = v.safeParse(Terminal, value)
  if (!success) return 'stray'
  turn.terminal(json, output.text)
  return 'read'
}

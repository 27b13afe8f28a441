import { dropped } from '../../../src/codec-kit/index.ts'
import { type EventOf, type Id, type JsonText, type Part, quote, type TurnView } from '../../../src/model/index.ts'
import { textBlock, thinkingBlock, writeAssistant, writeEvent, writePiece } from './lines.ts'
import type { Run, Turn } from './state.ts'

/**
 * Output of the main lane: one `assistant` line for each run of reasoning or text and for each tool call; with partial
 * messages also the pieces.
 */

/** Writes a piece of text or thought. */
export function writeDelta(
  turn: Turn,
  event: EventOf<'text-delta' | 'reasoning-delta'>,
  view: TurnView,
  extra: JsonText | undefined,
): void {
  const { type, message, text } = event
  const category = type === 'text-delta' ? 'text' : 'thinking'
  const { run } = turn.answer
  if (run?.message !== message || run.category !== category) openRun(turn, category, message, text, view)
  if (!turn.partial) return
  const piece = `{"type":"content_block_delta","index":${turn.answer.index},"delta":${deltaOf(category, text)}}`
  if (extra === undefined) writePiece(turn, piece)
  else writeEvent(turn, piece, extra)
}

/** Completes a message; one that was not shown in pieces is written from its parts. */
export function endMessage(
  turn: Turn,
  event: EventOf<'message-end'>,
  view: TurnView,
  extra: JsonText | undefined,
): void {
  const message = view.message(event.message)
  const { run } = turn.answer
  const open = run?.category === 'text' && run.message === event.message
  if (event.revised && open) run.from = 0
  closeRun(turn, view, extra)
  // The earlier text is a line already, so the changed text gets another one.
  if (event.revised && !open && message?.text) writeWhole(turn, 'text', message.text, event.message)
  for (const part of event.parts ?? []) {
    // A text that was shown in pieces is complete; what else the message holds was not shown.
    if (part.type !== 'text' || message?.streamed !== true) writePart(turn, part, event.message, extra)
  }
}

/** Writes a tool call, whole: this wire never shows pieces of arguments. */
export function writeCall(turn: Turn, tool: Id, name: string, input: JsonText, view: TurnView, extra?: JsonText): void {
  closeRun(turn, view)
  const { answer } = turn
  const id = begin(turn, tool)
  const head = `"type":"tool_use","id":${quote(tool)},"name":${quote(name)}`
  const delta = `{"type":"input_json_delta","partial_json":${quote(input)}}`
  answer.index = answer.toolsInRow
  answer.toolsInRow += 1
  writeBlock(turn, `{${head},"input":{}}`, delta)
  writeSaid(turn, `{${head},"input":${input}}`, 'tool_use', id, extra)
}

/** Ends the answer of the model. */
export function endAnswer(turn: Turn, view: TurnView): void {
  closeRun(turn, view)
  const { answer } = turn
  if (answer.state === 'announced') writeEvent(turn, '{"type":"message_stop"}')
  answer.state = 'none'
  answer.usage = undefined
}

/** Takes back the open run. */
export function dropRun(turn: Turn): void {
  if (turn.answer.run && turn.partial) stopBlock(turn)
  turn.answer.run = undefined
}

function openRun(turn: Turn, category: Run['category'], message: Id, first: string, view: TurnView): void {
  closeRun(turn, view)
  const { answer } = turn
  const id = begin(turn, message)
  answer.index = 0
  answer.toolsInRow = 0
  if (category === 'thinking') answer.thought = message
  const { text, reasoning } = view.message(message)!
  answer.run = { category, message, from: (category === 'text' ? text : reasoning).length - first.length, id }
  if (turn.partial) startBlock(turn, category === 'text' ? textBlock('') : thinkingBlock('', ''))
}

function closeRun(turn: Turn, view: TurnView, extra?: JsonText): void {
  const { run } = turn.answer
  if (!run) return
  dropRun(turn)
  const { text, reasoning } = view.message(run.message)!
  const isText = run.category === 'text'
  const words = (isText ? text : reasoning).slice(run.from)
  writeSaid(turn, isText ? textBlock(words) : thinkingBlock(words, ''), null, run.id, extra)
}

function writePart(turn: Turn, part: Part, message: Id, extra: JsonText | undefined): void {
  if (part.type === 'text') {
    if (part.text !== '') writeWhole(turn, 'text', part.text, message, extra)
  } else if (part.type !== 'reasoning') turn.lose(dropped(`part.${part.type}`))
  else if (turn.answer.thought !== message) writeWhole(turn, 'thinking', part.text, message, extra, part.seal?.data)
}

/** Writes words that came at once: a client that shows pieces gets them in one. */
function writeWhole(
  turn: Turn,
  category: Run['category'],
  words: string,
  message: Id,
  extra?: JsonText,
  seal = '',
): void {
  const id = begin(turn, message)
  const isText = category === 'text'
  turn.answer.toolsInRow = 0
  turn.answer.index = 0
  writeBlock(turn, isText ? textBlock('') : thinkingBlock('', ''), deltaOf(category, words))
  writeSaid(turn, isText ? textBlock(words) : thinkingBlock(words, seal), null, id, extra)
}

/** Writes a block in one piece, for a client that wants pieces. */
function writeBlock(turn: Turn, start: JsonText, delta: JsonText): void {
  if (!turn.partial) return
  startBlock(turn, start)
  writeEvent(turn, `{"type":"content_block_delta","index":${turn.answer.index},"delta":${delta}}`)
  stopBlock(turn)
}

function startBlock(turn: Turn, block: JsonText): void {
  writeEvent(turn, `{"type":"content_block_start","index":${turn.answer.index},"content_block":${block}}`)
}

function stopBlock(turn: Turn): void {
  writeEvent(turn, `{"type":"content_block_stop","index":${turn.answer.index}}`)
}

/** The id of the next line; the first one of an answer announces it. */
function begin(turn: Turn, source: Id): string {
  const { answer, client } = turn
  if (answer.state !== 'none') return client.ids.next()
  answer.state = turn.partial ? 'announced' : 'open'
  answer.toolsInRow = 0
  answer.count += 1
  const id = client.ids.of(source)
  if (turn.partial) {
    const message = `{"id":${quote(id)},"role":"assistant","model":${quote(client.model)},"content":[]}`
    writeEvent(turn, `{"type":"message_start","message":${message}}`)
  }
  return id
}

function writeSaid(
  turn: Turn,
  block: JsonText,
  stop: 'tool_use' | null,
  id: string,
  extra: JsonText | undefined,
): void {
  writeAssistant(turn, block, stop, { id, lane: undefined, usage: turn.answer.usage, extra })
  turn.answer.usage = undefined
}

function deltaOf(category: Run['category'], words: string): JsonText {
  return category === 'text'
    ? `{"type":"text_delta","text":${quote(words)}}`
    : `{"type":"thinking_delta","thinking":${quote(words)}}`
}

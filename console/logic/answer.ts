import type { Ask } from '../../src/model/index.ts'
import { textOfEvents, textOfParts } from './event-text.ts'
import type { NumberedEvent } from './types.ts'

/** One thing of an answer, in the order in which they began. */
export type Said =
  | { kind: 'text' | 'reasoning'; id: string; text: string }
  | { kind: 'tool'; id: string; name: string; args: string; status?: string; text: string }
  | { kind: 'notice'; id: string; text: string }

/** The answer of a turn so far. */
export interface AnswerSoFar {
  said: Said[]
  /** Questions that are open. */
  asks: Ask[]
  /** The text of the answer. */
  text: string
  /** Its end, with its error. */
  end?: string
}

/** The answer of a turn from its events. */
export function answerOf(events: readonly NumberedEvent[]): AnswerSoFar {
  const said = new Map<string, Said>()
  const asks = new Map<string, Ask>()
  let end: string | undefined
  for (const event of events) {
    take(said, event)
    if (event.type === 'ask') asks.set(event.ask, event)
    else if (event.type === 'ask-settled') asks.delete(event.ask)
    else if (event.type === 'turn-end') end = textOfEvents([event])
  }
  const all = [...said.values()].filter(({ kind, text }) => kind === 'tool' || text !== '')
  const text = all.flatMap((one) => (one.kind === 'text' ? one.text : [])).join('\n\n')
  return { said: all, asks: end === undefined ? [...asks.values()] : [], text, ...(end !== undefined && { end }) }
}

function take(said: Map<string, Said>, event: NumberedEvent): void {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta': {
      const kind = event.type === 'text-delta' ? 'text' : 'reasoning'
      const id = `${kind} ${event.message}`
      said.set(id, { kind, id, text: (said.get(id)?.text ?? '') + event.text })
      break
    }
    case 'message-end': {
      const id = `text ${event.message}`
      const whole = (event.parts ?? []).filter(({ type }) => type !== 'reasoning' && type !== 'tool-call')
      if (whole.length > 0) said.set(id, { kind: 'text', id, text: textOfParts(whole) })
      break
    }
    case 'message-retract':
      if (!event.keepText) said.delete(`text ${event.message}`)
      break
    case 'notice':
      said.set(`notice ${event.seq}`, {
        kind: 'notice',
        id: String(event.seq),
        text: `${event.severity}: ${event.text}`,
      })
      break
    default:
      takeTool(said, event)
  }
}

function takeTool(said: Map<string, Said>, event: NumberedEvent): void {
  if (event.type !== 'tool-start' && event.type !== 'tool-call' && event.type !== 'tool-end') return
  const id = `tool ${event.tool}`
  const before = said.get(id)
  const tool = before?.kind === 'tool' ? before : { kind: 'tool' as const, id, name: event.tool, args: '', text: '' }
  if (event.type === 'tool-end') said.set(id, { ...tool, status: event.status, text: textOfParts(event.parts) })
  else if (event.type === 'tool-call') said.set(id, { ...tool, name: event.name, args: jsonText(event.args) })
  else said.set(id, { ...tool, name: event.title ?? event.name })
}

/** Arguments are JSON within the event's own, so they come as values. */
function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

import { isObject } from './judges.ts'
import type { JsonRecord, Player, PlayerContext, Reaction } from './suite.ts'

/** The text that stand-ins of servers of models answer with, in the pieces that their streams have. */
export const ANSWER = ['All', ' well.'] as const

/** The reactions of a whole answer. */
export function wholeAnswer(body: JsonRecord, status = 200): Reaction[] {
  return [{ pause: 100 }, { status }, { write: JSON.stringify(body) }]
}

/** The reactions of a streamed answer, with a moment in the middle of it; a text is an event of its own. */
export function streamedAnswer(events: readonly (JsonRecord | string)[], named: boolean): Reaction[] {
  const frames = events.map((event) => {
    if (typeof event === 'string') return `data: ${event}\n\n`
    return `${named ? `event: ${String(event['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`
  })
  const middle = frames.length >> 1
  return [
    { status: 200 },
    { contentType: 'text/event-stream' },
    { write: frames.slice(0, middle).join('') },
    { pause: 100 },
    { write: frames.slice(middle).join('') },
  ]
}

/** A player of a server: `respond` gets the path, the method and the JSON of each request; nothing when it is none. */
export function endpointPlayer(
  respond: (path: string, method: string, body: JsonRecord | undefined) => readonly Reaction[],
): (context: PlayerContext) => Player {
  return ({ request }) => ({
    line: ({ object }) => respond(request?.path.split('?')[0] ?? '', request?.method ?? 'POST', object),
  })
}

/** The names of the tools that a request offers, and how often they are to be called: none after a result. */
export function callsFor(body: JsonRecord, nameOf: (tool: JsonRecord) => unknown, hasResult: boolean): string[] {
  const { tools, tool_choice: choice } = body
  const kind = isObject(choice) ? choice['type'] : choice
  if (!Array.isArray(tools) || hasResult || kind === 'none') return []
  const name = tools
    .filter(isObject)
    .map(nameOf)
    .find((one) => typeof one === 'string')
  if (typeof name !== 'string') return []
  return JSON.stringify(body).includes('both') ? [name, name] : [name]
}

/** True when a limit of tokens is so low that an answer has to be cut. */
export function isLow(limit: unknown): boolean {
  return typeof limit === 'number' && limit <= 16
}

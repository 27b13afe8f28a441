import type { AskReply, Command, Id, Message, Part } from '../model/index.ts'
import { type ParkedCall, parkedCallOf, turnOf } from './call-ids.ts'

/** The commands of a request: what it ends first, and the one that it waits for the answer of. */
export interface RequestCommands {
  before: readonly Command[]
  command: Command
}

type Result = Part & { type: 'tool-reply' }

/**
 * The commands of a request that ends with results of the client's tools, or with input of the user. Results of calls
 * that a parked turn waits for go on with that turn. Any other request begins one (`start`); a turn whose calls it
 * leaves without a result is cancelled before.
 */
export function commandsOf(
  { input, history }: { input: readonly Part[]; history: readonly Message[] },
  exchange: Id,
  start: () => Command,
): RequestCommands {
  const results = input.filter((part) => part.type === 'tool-reply')
  const calls = results.map(({ tool }) => parkedCallOf(tool))
  const [first] = calls
  const others = input.filter((part) => part.type !== 'tool-reply')
  if (first && calls.every((call) => call?.continuation === first.continuation)) {
    return { before: [], command: replyCommand(exchange, calls as ParkedCall[], results, others) }
  }
  return { before: abandoned(history, exchange), command: start() }
}

function replyCommand(
  exchange: Id,
  calls: readonly ParkedCall[],
  results: readonly Result[],
  input: readonly Part[],
): Command {
  const [answer, ...also] = results.map((result, index) => ({ at: calls[index]!.at, reply: replyOf(result) }))
  return {
    exchange,
    type: 'ask-reply',
    target: { continuation: calls[0]!.continuation },
    ...answer!,
    ...(also.length > 0 && { also }),
    ...(input.length > 0 && { input }),
  }
}

function replyOf({ status, parts }: Result): AskReply {
  return { kind: 'tool', status, parts }
}

/** Cancels the turn that waits for results of the calls which the last answer ended with, and does not get them. */
function abandoned(history: readonly Message[], exchange: Id): Command[] {
  const last = history.at(-1)?.parts ?? []
  const call = last.map((part) => (part.type === 'tool-call' ? parkedCallOf(part.tool) : undefined)).find(Boolean)
  if (!call) return []
  return [{ exchange: `${exchange}-cancel`, type: 'turn-cancel', target: { turn: turnOf(call) } }]
}

import type { AskReply, Command, Id, Message, Part } from '../model/index.ts'
import { type ParkedCall, parkedCallOf, turnOf } from './call-ids.ts'

/** The commands of a request: the ones that end earlier turns, and the one whose answer it waits for. */
export interface RequestCommands {
  before: readonly Command[]
  command: Command
}

/** An answer to a question of a parked turn. */
export interface ParkedAnswer {
  /** The question; undefined when it is not one of the gateway's. */
  call: ParkedCall | undefined
  reply: AskReply
}

/**
 * The end of a request: `answers` are those besides the results of tools in its input, `open` the questions that its
 * conversation ends with besides calls of tools.
 */
export interface RequestEnd {
  input: readonly Part[]
  history: readonly Message[]
  answers?: readonly ParkedAnswer[]
  open?: readonly ParkedCall[]
}

/**
 * The commands of a request that ends with results of the client's tools, or with input of the user. Results of calls
 * that a parked turn waits for go on with that turn. Any other request begins one (`start`); a turn whose calls or
 * questions it leaves without an answer is cancelled before.
 */
export function commandsOf(
  { input, history, answers = [], open = [] }: RequestEnd,
  exchange: Id,
  start: () => Command,
): RequestCommands {
  const given = [...answers, ...input.flatMap((part) => (part.type === 'tool-reply' ? answerOf(part) : []))]
  const continuation = given[0]?.call?.continuation
  const others = input.filter((part) => part.type !== 'tool-reply')
  if (continuation !== undefined && given.every(({ call }) => call?.continuation === continuation)) {
    return { before: [], command: replyCommand(exchange, continuation, given, others) }
  }
  return { before: abandoned(history, open, exchange), command: start() }
}

function answerOf({ tool, status, parts, ext }: Part & { type: 'tool-reply' }): ParkedAnswer {
  return { call: parkedCallOf(tool), reply: { kind: 'tool', status, parts, ...(ext && { ext }) } }
}

function replyCommand(
  exchange: Id,
  continuation: string,
  answers: readonly ParkedAnswer[],
  input: readonly Part[],
): Command {
  const [answer, ...also] = answers.map(({ call, reply }) => ({ at: call!.at, reply }))
  return {
    exchange,
    type: 'ask-reply',
    target: { continuation },
    ...answer!,
    ...(also.length > 0 && { also }),
    ...(input.length > 0 && { input }),
  }
}

/** Cancels the turn that waits for answers to what the conversation ends with, if the request does not bring them. */
function abandoned(history: readonly Message[], open: readonly ParkedCall[], exchange: Id): Command[] {
  const last = history.at(-1)?.parts ?? []
  const calls = last.map((part) => (part.type === 'tool-call' ? parkedCallOf(part.tool) : undefined))
  const call = [...open, ...calls].find(Boolean)
  if (!call) return []
  return [{ exchange: `${exchange}-cancel`, type: 'turn-cancel', target: { turn: turnOf(call) } }]
}

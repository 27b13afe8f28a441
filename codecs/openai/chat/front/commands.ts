import type { FrontContext } from '../../../../src/contract/index.ts'
import type { AskReply, Command, Id, Part } from '../../../../src/model/index.ts'
import { type ParkedCall, parkedCallOf, turnOf } from '../../call-ids.ts'
import { toExt } from '../../wire.ts'
import type { ChatRequest } from './request.ts'

/** The commands of a request: what it ends first, and the one that it waits for the answer of. */
export interface Commands {
  before: readonly Command[]
  command: Command
}

type Result = Part & { type: 'tool-reply' }

/**
 * A request with results of calls that a parked turn waits for goes on with that turn. Any other request begins one; a
 * turn whose calls it leaves without a result is cancelled before.
 */
export function commandsOf(
  request: ChatRequest,
  headers: FrontContext['headers'],
  exchange: Id,
  newId: () => Id,
): Commands {
  const results = request.input.filter((part) => part.type === 'tool-reply')
  const calls = results.map(({ tool }) => parkedCallOf(tool))
  const [first] = calls
  const others = request.input.filter((part) => part.type !== 'tool-reply')
  if (first && calls.every((call) => call?.continuation === first.continuation)) {
    return { before: [], command: replyCommand(exchange, calls as ParkedCall[], results, others) }
  }
  return { before: abandoned(request, exchange), command: startCommand(request, headers, exchange, newId()) }
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
function abandoned({ history }: ChatRequest, exchange: Id): Command[] {
  const last = history.at(-1)?.parts ?? []
  const call = last.map((part) => (part.type === 'tool-call' ? parkedCallOf(part.tool) : undefined)).find(Boolean)
  if (!call) return []
  return [{ exchange: `${exchange}-cancel`, type: 'turn-cancel', target: { turn: turnOf(call) } }]
}

function startCommand(request: ChatRequest, headers: FrontContext['headers'], exchange: Id, turn: Id): Command {
  const { agent, input, history, options, tools } = request
  const id = headers['turnpike-session'] ?? request.session
  const key = headers['idempotency-key']
  const name = headers['x-request-id'] ?? headers['x-client-request-id']
  const ext = toExt(request.ext)
  return {
    exchange,
    type: 'turn-start',
    turn,
    task: 'prompt',
    input,
    options,
    ...(agent !== '' && { agent }),
    ...(name && { request: name }),
    ...(id && { session: { id } }),
    ...(history.length > 0 && { history }),
    ...(tools.length > 0 && { clientTools: tools }),
    ...(key && { once: { key, duplicate: 'join', replay: 'success' } }),
    ...(ext && { ext }),
  }
}

import { commandsOf, type RequestCommands } from '../../../../src/codec-kit/index.ts'
import type { FrontContext } from '../../../../src/contract/index.ts'
import type { Command, Id } from '../../../../src/model/index.ts'
import { toExt } from '../../wire.ts'
import type { ChatRequest } from './request.ts'

/** The commands of a request. */
export function chatCommands(
  request: ChatRequest,
  headers: FrontContext['headers'],
  exchange: Id,
  newId: () => Id,
): RequestCommands {
  return commandsOf(request, exchange, () => startCommand(request, headers, exchange, newId()))
}

function startCommand(request: ChatRequest, headers: FrontContext['headers'], exchange: Id, turn: Id): Command {
  const { agent, input, history, options, tools } = request
  const named = headers['turnpike-session']
  const id = named ?? request.session
  const key = headers['idempotency-key']
  const name = headers['x-request-id'] ?? headers['x-client-request-id']
  const ext = toExt(request.ext)
  // Clients of this API count how often they have repeated a request.
  const repeats = Number(headers['x-stainless-retry-count'] ?? 0) > 0
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
    // A client that names its session may leave the conversation to it.
    historyMode: named !== undefined && history.length === 0 ? 'delta' : 'complete',
    ...(tools.length > 0 && { clientTools: tools }),
    ...(key && { once: { key, scope: 'tenant', duplicate: 'join', replay: 'success' } }),
    ...(repeats && { retry: true }),
    ...(ext && { ext }),
  }
}

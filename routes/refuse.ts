import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { MISDIRECTED_HEADER } from '../src/cluster/index.ts'
import type { Begun } from '../src/contract/index.ts'
import { type ErrorCode, fault } from '../src/model/index.ts'
import type { Refusal } from './gate.ts'
import { headersOf } from './headers.ts'
import { type Caller, roleRefusal } from './keys.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { senderOf } from './peers.ts'

/** The HTTP statuses of refusals outside of fronts, which have their protocol's own. */
const STATUS = { unauthenticated: 401, forbidden: 403, overloaded: 429 } as const

/** The refusal of what says that a replica sends it, and does not prove it. */
const UNPROVEN: Refusal = {
  fault: fault('unauthenticated', 'This is no request of a replica: its proof is wrong, old, or was used before.'),
  headers: { [MISDIRECTED_HEADER]: 'unproven' },
}

/** Answers with the refusal of a request, as JSON. */
export function refused(c: Context, { fault, headers }: Refusal): Response {
  const status = (STATUS as Partial<Record<ErrorCode, 401 | 403 | 429>>)[fault.code] ?? 403
  return c.json({ error: { code: fault.code.replaceAll('-', '_'), message: fault.message } }, status, { ...headers })
}

/** The sender of a request: a client, whose key the gate knows, or another replica for one. */
export function admit(
  parts: HttpParts,
  incoming: IncomingMessage,
  headers: Readonly<Record<string, string>> = headersOf(incoming),
): { caller: Caller | Refusal; begun?: Begun } {
  const sender = parts.peers && senderOf(parts.peers, incoming)
  if (sender) return 'unproven' in sender ? { caller: UNPROVEN } : sender
  return { caller: parts.gate.admit(headers, incoming.socket.remoteAddress, incoming.method) }
}

/** Serves an endpoint outside of the protocols to clients that the gate admits. */
export function admitted(
  parts: HttpParts,
  serve: (c: Context<HttpEnv>, caller: Caller, begun: Begun | undefined) => Response | Promise<Response>,
) {
  return (c: Context<HttpEnv>): Response | Promise<Response> => {
    const { caller, begun } = admit(parts, c.env.incoming)
    return 'fault' in caller ? refused(c, caller) : serve(c, caller, begun)
  }
}

/** Serves an endpoint to operators: clients whose key has `role: admin`, and every client of a gateway without keys. */
export function forAdmins(
  parts: HttpParts,
  serve: (c: Context<HttpEnv>, caller: Caller) => Response | Promise<Response>,
) {
  return admitted(parts, (c, caller) => {
    const fault = roleRefusal(caller)
    return fault ? refused(c, { fault, headers: {} }) : serve(c, caller)
  })
}

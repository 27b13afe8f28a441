import type { Context } from 'hono'
import type { ErrorCode } from '../src/model/index.ts'
import type { Refusal } from './gate.ts'
import { headersOf } from './headers.ts'
import type { Caller } from './keys.ts'
import type { HttpEnv, HttpParts } from './parts.ts'

/** The statuses of refusals; a front has its protocol's own. */
const STATUS = { unauthenticated: 401, forbidden: 403, overloaded: 429 } as const

/** Answers with what a request is refused for, as JSON. */
export function refused(c: Context, { fault, headers }: Refusal): Response {
  const status = (STATUS as Partial<Record<ErrorCode, 401 | 403 | 429>>)[fault.code] ?? 403
  return c.json({ error: { code: fault.code.replaceAll('-', '_'), message: fault.message } }, status, { ...headers })
}

/** Serves an endpoint that is no protocol's to whom the gate lets in. */
export function admitted(parts: HttpParts, serve: (c: Context<HttpEnv>, caller: Caller) => Response) {
  return (c: Context<HttpEnv>): Response => {
    const { incoming } = c.env
    const caller = parts.gate.admit(headersOf(incoming), incoming.socket.remoteAddress)
    return 'fault' in caller ? refused(c, caller) : serve(c, caller)
  }
}

import type { Hono } from 'hono'
import { namedDialects, pairsOf } from '../src/matrix/index.ts'
import { type HttpEnv, type HttpParts, headersOf } from './fronts.ts'
import { hostAllowed } from './hosts.ts'
import { authenticate } from './keys.ts'

/** Mounts `GET /v1/matrix`: what each pair of a client's and an agent's protocol keeps, weakens and loses. */
export function mountMatrix(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.get('/v1/matrix', (c) => {
    const headers = headersOf(c.env.incoming)
    if (!hostAllowed(parts.bound, parts.hosts, headers)) {
      return c.json({ error: { code: 'forbidden', message: 'The Host or Origin header names another machine.' } }, 403)
    }
    const caller = authenticate(parts.keys, headers)
    if ('code' in caller) return c.json({ error: { code: 'unauthenticated', message: caller.message } }, 401)
    return c.json({ pairs: pairsOf(namedDialects(parts.codecs)) })
  })
}

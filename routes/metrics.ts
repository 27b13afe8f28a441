import type { Hono } from 'hono'
import { type HttpEnv, type HttpParts, headersOf } from './fronts.ts'
import { hostAllowed } from './hosts.ts'
import { authenticate } from './keys.ts'

/** What `GET /metrics` answers with. */
export interface MetricsText {
  type: string
  text(): string
}

/**
 * Mounts `GET /metrics`, where metrics are counted. Where keys are configured it needs one, and one that is not limited
 * to some agents: the numbers are those of all of them.
 */
export function mountMetrics(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { metrics } = parts
  if (!metrics) return
  app.get('/metrics', (c) => {
    const headers = headersOf(c.env.incoming)
    const refuse = (status: 401 | 403, code: string, message: string): Response =>
      c.json({ error: { code, message } }, status)
    if (!hostAllowed(parts.bound, parts.hosts, headers)) {
      return refuse(403, 'forbidden', 'The Host or Origin header names another machine; add it to server.hosts.')
    }
    const caller = authenticate(parts.keys, headers)
    if ('code' in caller) return refuse(401, 'unauthenticated', caller.message)
    if (caller.allowed) {
      return refuse(403, 'forbidden', 'This key is for some agents only, metrics are of all; use a key without agents.')
    }
    return c.body(metrics.text(), 200, { 'content-type': metrics.type })
  })
}

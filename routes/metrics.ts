import type { Hono } from 'hono'
import { fault } from '../src/model/index.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted, refused } from './refuse.ts'

/**
 * Mounts `GET /metrics` when metrics are counted. When keys are configured it needs one that is not limited to some
 * agents, because the metrics are those of all agents.
 */
export function mountMetrics(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { metrics } = parts
  if (!metrics) return
  app.get(
    '/metrics',
    admitted(parts, (c, { allowed }) => {
      if (allowed) return refused(c, LIMITED)
      return c.body(metrics.text(), 200, { 'content-type': metrics.type })
    }),
  )
}

const LIMITED = {
  fault: fault('forbidden', 'This key is limited to some agents, but metrics cover all; use a key without `agents`.'),
  headers: {},
}

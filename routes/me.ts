import type { Hono } from 'hono'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted } from './refuse.ts'

/** Mounts `GET /v1/me`: the role and the name of the caller's key, and whether clients of this gateway need one. */
export function mountMe(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.get(
    '/v1/me',
    admitted(parts, (c, { role, principal }) =>
      c.json({ role, ...(principal !== undefined && { key: principal }), keys: parts.gate.hasKeys }),
    ),
  )
}

import type { Hono } from 'hono'
import { namedDialects, pairsOf } from '../src/matrix/index.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted } from './refuse.ts'

/** Mounts `GET /v1/matrix`: the items that each pair of a client's and an agent's protocol keeps, weakens and loses. */
export function mountMatrix(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.get(
    '/v1/matrix',
    admitted(parts, (c) => c.json({ pairs: pairsOf(namedDialects(parts.codecs)) })),
  )
}

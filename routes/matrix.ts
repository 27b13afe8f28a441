import type { Hono } from 'hono'
import { asBack, asFront } from '../src/contract/index.ts'
import { lossesOf, namedDialects, type Pair, type PairLoss, pairsOf } from '../src/matrix/index.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted } from './refuse.ts'

/** The answer of `GET /v1/matrix`. */
interface MatrixReply {
  fronts: readonly string[]
  backs: readonly string[]
  pairs: readonly (Pair & { losses: readonly PairLoss[] })[]
}

/** Mounts `GET /v1/matrix`: the items that each pair of a client's and an agent's protocol keeps, weakens and loses. */
export function mountMatrix(app: Hono<HttpEnv>, parts: HttpParts): void {
  let reply: MatrixReply | undefined
  app.get(
    '/v1/matrix',
    admitted(parts, (c) => {
      reply ??= matrixOf(parts)
      return c.json(reply)
    }),
  )
}

function matrixOf({ codecs }: HttpParts): MatrixReply {
  const dialects = namedDialects(codecs)
  const byName = new Map(dialects.map(({ name, dialect }) => [name, dialect]))
  const pairs = pairsOf(dialects).map((pair) => ({
    ...pair,
    losses: lossesOf(pair, {
      front: asFront(byName.get(pair.client)).front.capabilities,
      back: asBack(byName.get(pair.agent)).back.capabilities,
    }),
  }))
  return {
    fronts: [...new Set(pairs.map(({ client }) => client))],
    backs: [...new Set(pairs.map(({ agent }) => agent))],
    pairs,
  }
}

import type { Hono } from 'hono'
import type { Observer } from '../src/engine/index.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { askedFor, INSIGHT_PATH, isFromPeer } from './peers.ts'
import { forAdmins } from './refuse.ts'

/** Mounts what operators and other replicas ask of a gateway: to take no more turns, which one it is, and to give up a session. */
export function mountCluster(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { engine, peers } = parts
  app.post(
    '/v1/admin/drain',
    forAdmins(parts, async (c) => {
      await engine.drain()
      return c.json({ status: engine.state })
    }),
  )
  app.post('/v1/cluster/replicas/:owner', (c) => {
    if (!peers || !isFromPeer(peers, c.env.incoming)) return c.body(null, 401)
    return c.body(null, engine.replication?.replicas.owner === c.req.param('owner') ? 204 : 421)
  })
  app.post(INSIGHT_PATH, (c) => {
    const observer = peers && askedFor(peers, c.env.incoming)
    return observer === undefined ? c.body(null, 401) : c.json(engine.insight.share(JSON.parse(observer) as Observer))
  })
  app.post('/v1/cluster/sessions/:id/hand-over', async (c) => {
    if (!peers || !isFromPeer(peers, c.env.incoming)) return c.notFound()
    const given = await engine.replication?.giveUp(c.req.param('id'))
    return given ? c.body(null, 204) : c.json({ error: { code: 'session_busy', message: 'A turn of it runs.' } }, 409)
  })
}

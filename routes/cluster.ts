import type { Hono } from 'hono'
import type { Engine } from '../src/engine/index.ts'
import type { HttpEnv } from './parts.ts'
import { isFromPeer, type Peers } from './peers.ts'

/** Mounts what replicas ask of each other: to give up a session. Only a replica may. */
export function mountCluster(app: Hono<HttpEnv>, { replication }: Engine, peers: Peers): void {
  app.post('/v1/cluster/sessions/:id/hand-over', async (c) => {
    if (!isFromPeer(peers, c.env.incoming)) return c.notFound()
    const given = await replication?.giveUp(c.req.param('id'))
    return given ? c.body(null, 204) : c.json({ error: { code: 'session_busy', message: 'A turn of it runs.' } }, 409)
  })
}

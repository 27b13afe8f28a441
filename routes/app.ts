import { Hono } from 'hono'
import type { Result, Router } from 'hono/router'
import { mountCluster } from './cluster.ts'
import { mountConsole } from './console.ts'
import { mountLogin } from './console-login.ts'
import { mountDocs } from './docs.ts'
import { mountFronts } from './fronts.ts'
import { mountInsight } from './insight.ts'
import { mountMatrix } from './matrix.ts'
import { mountMe } from './me.ts'
import { mountMethods } from './methods.ts'
import { mountMetrics } from './metrics.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { mountStdio } from './stdio.ts'
import { mountWire } from './wire.ts'

/** The HTTP side of the gateway: the fronts' endpoints, the catalog, and health. */
export function createApp(parts: HttpParts): Hono<HttpEnv> {
  // A trailing slash of a path is ignored.
  const app = new Hono<HttpEnv>({ strict: false })
  app.router = remembering(app.router)
  mountFronts(app, parts)
  mountStdio(app, parts)
  mountCluster(app, parts)
  mountHealth(app, parts)
  mountCatalog(app, parts)
  mountInsight(app, parts)
  mountWire(app, parts)
  mountMatrix(app, parts)
  mountMe(app, parts)
  mountMetrics(app, parts)
  mountConsole(app, parts)
  mountLogin(app, parts)
  mountDocs(app, parts)
  mountMethods(app)
  app.notFound((c) =>
    c.json({ error: { code: 'not_found', message: `There is no endpoint ${c.req.path}; GET / lists them.` } }, 404),
  )
  app.onError((_error, c) =>
    c.json({ error: { code: 'internal', message: 'The gateway failed to handle the request; see its log.' } }, 500),
  )
  return app
}

/** The most paths whose handlers are remembered: clients make up paths, and ids are parts of some. */
const REMEMBERED = 256

/** The router, which looks for the handlers of a path once: most requests are to a few paths. */
function remembering<T>(router: Router<T>): Router<T> {
  const found = new Map<string, Result<T>>()
  return {
    name: router.name,
    add: (method, path, handler) => router.add(method, path, handler),
    match(method, path) {
      const key = `${method} ${path}`
      const known = found.get(key)
      if (known) return known
      if (found.size >= REMEMBERED) found.clear()
      const result = router.match(method, path)
      found.set(key, result)
      return result
    },
  }
}

function mountHealth(app: Hono<HttpEnv>, { engine }: HttpParts): void {
  for (const path of ['/healthz', '/health']) app.get(path, (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => {
    const { state } = engine
    return c.json({ status: state }, state === 'ready' ? 200 : 503)
  })
}

function mountCatalog(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.get('/', (c) => {
    const endpoints = parts.codecs.flatMap((codec) => codec.endpoints.map(({ method, path }) => `${method} ${path}`))
    return c.json({
      name: 'turnpike',
      version: parts.version,
      endpoints: [...new Set(endpoints)],
      agents: '/v1/agents',
    })
  })
}

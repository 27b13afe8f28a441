import type { Hono } from 'hono'
import type { Observer } from '../src/engine/index.ts'
import type { Caller } from './keys.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted } from './refuse.ts'

/** Mounts the endpoints that tell how the gateway is doing, as far as a client may see it. */
export function mountInsight(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { insight } = parts.engine
  app.get(
    '/v1/agents',
    admitted(parts, (c, caller) => c.json({ agents: insight.agents(observerOf(caller)) })),
  )
  app.get(
    '/v1/overview',
    admitted(parts, async (c, caller) => c.json(await insight.overview(observerOf(caller)))),
  )
  app.get(
    '/v1/doors',
    admitted(parts, (c) => c.json({ doors: doorsOf(parts) })),
  )
}

/** A way in for clients: an endpoint, or a program on stdio. */
type Door = { protocol: string } & ({ over: 'http'; method: string; path: string } | { over: 'stdio'; command: string })

function doorsOf({ codecs, standIns = [] }: HttpParts): Door[] {
  const http = codecs.flatMap(({ name, endpoints }) =>
    endpoints.map(({ method, path, dialect }): Door => {
      const protocol = dialect === undefined ? name : `${name}@${dialect}`
      return { protocol, over: 'http', method, path }
    }),
  )
  const stdio = standIns.map((protocol): Door => ({ protocol, over: 'stdio', command: `turnpike as ${protocol}` }))
  return [...http, ...stdio]
}

/** A client as one that looks at the gateway. */
export function observerOf({ tenant, role, allowed }: Caller): Observer {
  return { tenant, admin: role === 'admin', ...(allowed && { allowed }) }
}

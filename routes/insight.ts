import type { Hono } from 'hono'
import type { InsightShare, Observer } from '../src/engine/index.ts'
import type { Caller } from './keys.ts'
import { type HttpEnv, type HttpParts, standInCommand } from './parts.ts'
import { INSIGHT_PATH } from './peers.ts'
import { admitted } from './refuse.ts'

/** Mounts the endpoints about the state of the gateway, as far as a client may see it. */
export function mountInsight(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { insight } = parts.engine
  app.get(
    '/v1/agents',
    admitted(parts, async (c, caller) => {
      const observer = observerOf(caller)
      const { shares, told } = await othersOf(parts, observer)
      return c.json({ agents: insight.agents(observer, shares), ...told })
    }),
  )
  app.get(
    '/v1/overview',
    admitted(parts, async (c, caller) => {
      const observer = observerOf(caller)
      const { shares, told } = await othersOf(parts, observer)
      return c.json({ ...(await insight.overview(observer, shares)), ...told })
    }),
  )
  app.get(
    '/v1/doors',
    admitted(parts, (c) => c.json({ doors: doorsOf(parts) })),
  )
}

/** The answers of the other replicas to an observer, and the number of all that answered, this one included; for admins which did not. */
async function othersOf({ engine, peers }: HttpParts, observer: Observer): Promise<Others> {
  const others = (peers && engine.replication?.replicas.others.filter(({ expired }) => !expired)) ?? []
  if (!peers || others.length === 0) return { shares: [], told: {} }
  const caller = JSON.stringify(observer)
  const answers = await Promise.all(others.map((other) => peers.forwarder.read(other, INSIGHT_PATH, caller)))
  const shares = answers.flatMap(({ status, text }) => (status === 200 ? (JSON.parse(text) as InsightShare) : []))
  const missing = others.filter((_, at) => answers[at]!.status !== 200).map(({ address }) => address)
  const named = observer.admin && missing.length > 0 ? { missing } : {}
  return { shares, told: { replicas: { of: 1 + others.length, answered: 1 + shares.length, ...named } } }
}

interface Others {
  shares: readonly InsightShare[]
  told: { replicas?: { of: number; answered: number; missing?: readonly string[] } }
}

/** A way in for clients: an endpoint, or a program on stdio. */
type Door = { protocol: string } & ({ over: 'http'; method: string; path: string } | { over: 'stdio'; command: string })

function doorsOf(parts: HttpParts): Door[] {
  const { codecs, standIns = [] } = parts
  const http = codecs.flatMap(({ name, endpoints }) =>
    endpoints.map(({ method, path, dialect }): Door => {
      const protocol = dialect === undefined ? name : `${name}@${dialect}`
      return { protocol, over: 'http', method, path }
    }),
  )
  const stdio = standIns.map(
    (protocol): Door => ({ protocol, over: 'stdio', command: standInCommand(parts, protocol) }),
  )
  return [...http, ...stdio]
}

/** A client as one that looks at the gateway. */
export function observerOf({ tenant, role, allowed }: Caller): Observer {
  return { tenant, admin: role === 'admin', ...(allowed && { allowed }) }
}

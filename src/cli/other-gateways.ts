import { hostname } from 'node:os'
import type { Config } from '../config/index.ts'

/** The name of the gateway that listens on this URL, which no two live ones have at the same time. */
export function gatewayName(url: string): string {
  return `${hostname()} ${url}`
}

/**
 * A line for each other gateway that has the file of the configured store: what that means. This one listens on `port`.
 * A file is what gateways rarely mean to share; a database is there for that, so nothing is said of one.
 */
export async function otherGateways({ store }: Config, port: number): Promise<string[]> {
  if (store.kind !== 'sqlite') return []
  const { fileOwners } = await import('../store/index.ts')
  return fileOwners(store.path, Date.now()).flatMap((owner) => {
    const [host, url] = owner.split(' ')
    if (!host || !url || (host === hostname() && URL.parse(url)?.port === String(port))) return []
    return [
      `the gateway ${url} (${host}) has the store ${store.path} as well: each session runs in one of them at a time, and a ` +
        'session that moves to the other one starts its agent again, so send each session to one of them; the limits of ' +
        'keys hold for both together, pool.max for each of them',
    ]
  })
}

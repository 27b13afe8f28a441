import { connect } from 'node:net'
import { hostname } from 'node:os'
import type { Config } from '../config/index.ts'
import { socketPath } from './socket-path.ts'

/** The name of the gateway that listens on this URL; no two live gateways have the same one. */
export function gatewayName(url: string): string {
  return `${hostname()} ${url}`
}

/**
 * A warning for each other gateway that uses the file of the configured store. This one listens on `port`. Gateways
 * rarely mean to share a file; a database is meant to be shared, so there is no warning about one.
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

/**
 * The same warnings for a command that is no gateway. A gateway that runs on this configuration file does not count as
 * another one: it may listen on another port than that of the file (`serve --port`).
 */
export async function gatewaysBesideThatOf(file: string, config: Config): Promise<string[]> {
  const others = await otherGateways(config, config.server.port)
  return others.length === 1 && (await answers(socketPath(file, process.env))) ? [] : others
}

/** True when a process accepts connections on the socket. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(true)
    })
    probe.on('error', () => resolve(false))
  })
}

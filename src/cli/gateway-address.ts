import { socketPath } from './socket-path.ts'
import type { GatewayAddress } from './thin.ts'

/**
 * Where a gateway may be running: at TURNPIKE_URL (with TURNPIKE_KEY), else on the socket of this configuration file.
 * Undefined when there is no such file: reading it will say so.
 */
export function gatewayAddress(file: string): GatewayAddress | undefined {
  const { TURNPIKE_URL: url, TURNPIKE_KEY: key } = process.env
  if (url) return url.startsWith('unix:') ? { socket: url.slice('unix:'.length) } : { url, ...(key && { key }) }
  try {
    return { socket: socketPath(file, process.env) }
  } catch {
    return undefined
  }
}

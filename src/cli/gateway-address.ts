import { socketPath } from './socket-path.ts'
import type { GatewayAddress } from './thin.ts'

/** It is not repeated: it may hold a password. */
const NO_URL = 'TURNPIKE_URL is no address of a gateway; write it as http://HOST:PORT, https://HOST or unix:PATH'

/**
 * Where a gateway may be running: at TURNPIKE_URL (with TURNPIKE_KEY), else on the socket of this configuration file.
 * Undefined when there is no such file: reading it will say so. A text says what is wrong with TURNPIKE_URL.
 */
export function gatewayAddress(file: string): GatewayAddress | string | undefined {
  const { TURNPIKE_URL: url, TURNPIKE_KEY: key } = process.env
  if (url?.startsWith('unix:')) return { socket: url.slice('unix:'.length) }
  if (url && !(/^https?:\/\//i.test(url) && URL.canParse(url))) return NO_URL
  if (url) return { url, ...(key && { key }) }
  try {
    return { socket: socketPath(file, process.env) }
  } catch {
    return undefined
  }
}

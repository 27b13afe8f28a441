import { isPrivate, socketPath } from './socket-path.ts'
import type { GatewayAddress } from './thin.ts'

/** The value is not quoted: it may hold a password. */
const NO_URL = 'TURNPIKE_URL is not a valid address; write it as http://HOST:PORT, https://HOST or unix:PATH'

/**
 * The address of a possible gateway: TURNPIKE_URL (with TURNPIKE_KEY), else the socket of this configuration file.
 * Undefined when the file does not exist, which reading it reports, and when the socket's folder is not this user's alone.
 * A string is an error message about TURNPIKE_URL.
 */
export function gatewayAddress(file: string): GatewayAddress | string | undefined {
  const { TURNPIKE_URL: url, TURNPIKE_KEY: key } = process.env
  if (url?.startsWith('unix:')) return { socket: url.slice('unix:'.length) }
  if (url && !(/^https?:\/\//i.test(url) && URL.canParse(url))) return NO_URL
  if (url) return { url, ...(key && { key }) }
  try {
    const socket = socketPath(file, process.env)
    return isPrivate(socket) ? { socket } : undefined
  } catch {
    return undefined
  }
}

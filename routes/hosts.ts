import { isLoopback } from '../src/model/index.ts'

/** The names that a gateway accepts besides this machine's own. */
export interface Names {
  /** The address that the gateway listens on. */
  bound: string
  /** Further names in the Host header, in lower case; a name with a port only matches that port. */
  hosts: readonly string[]
  /** The web pages that may use the gateway, as origins. */
  origins: readonly string[]
}

/**
 * Protects a gateway on loopback against web pages that reach it through their own host name (DNS rebinding): the Host
 * header must name this machine or one of the configured hosts, and an Origin these or a configured origin. Off
 * loopback the keys protect it: a page has none. True when the request may pass.
 */
export function hostAllowed({ bound, hosts, origins }: Names, headers: Readonly<Record<string, string>>): boolean {
  if (!isLoopback(bound)) return true
  const allowed = (host: string): boolean =>
    isLoopback(nameOf(host)) || hosts.includes(nameOf(host)) || hosts.includes(host.toLowerCase())
  const host = headers['host']
  if (host !== undefined && !allowed(host)) return false
  const origin = headers['origin']
  if (origin === undefined || origins.includes(origin)) return true
  return URL.canParse(origin) && allowed(new URL(origin).host)
}

/** The name of a `host[:port]`. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase()
}

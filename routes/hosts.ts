import { isLoopback } from '../src/model/index.ts'

/**
 * Guards a gateway on loopback against web pages that reach it through a name of their own (DNS rebinding): the Host
 * header must name this machine or one of the configured hosts, and so must an Origin. True when the request may pass.
 */
export function hostAllowed(
  bound: string,
  hosts: readonly string[],
  headers: Readonly<Record<string, string>>,
): boolean {
  if (!isLoopback(bound)) return true
  const allowed = (name: string): boolean => isLoopback(name) || hosts.includes(name)
  const host = headers['host']
  if (host !== undefined && !allowed(nameOf(host))) return false
  const origin = headers['origin']
  if (origin === undefined) return true
  return URL.canParse(origin) && allowed(nameOf(new URL(origin).host))
}

/** The name of a `host[:port]`. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase()
}

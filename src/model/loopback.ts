/** True when only this machine can reach the host. Names other than `localhost` count as reachable from elsewhere. */
export function isLoopback(host: string): boolean {
  // Nearly every request names one of these.
  if (host === '127.0.0.1' || host === 'localhost') return true
  const address = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:/, '')
  return address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address)
}

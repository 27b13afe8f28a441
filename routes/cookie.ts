type Headers = Readonly<Record<string, string>>

/** The name of the console's cookie. */
const NAME = 'turnpike'

/** The login in the cookie of a request, if the request comes from a page of this gateway. */
export function loginOf(headers: Headers, method: string): string | undefined {
  const value = cookieOf(headers)
  return value !== undefined && isOwnPage(headers, method) ? value : undefined
}

/** The value of the console's cookie. */
export function cookieOf(headers: Headers): string | undefined {
  const { cookie } = headers
  if (cookie === undefined) return undefined
  const pairs = cookie.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1)
}

/**
 * True when a request comes from a page of this gateway (against cross-site request forgery): browsers say where it
 * comes from, by `Sec-Fetch-Site` or else by `Origin`. Without both only a request that changes nothing may pass.
 */
export function isOwnPage(headers: Headers, method: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const origin = headers['origin']
  if (origin !== undefined) return URL.canParse(origin) && new URL(origin).host === headers['host']?.toLowerCase()
  return site === 'same-origin' || method === 'GET' || method === 'HEAD'
}

/** The `Set-Cookie` of a login; without an id, the one that removes it. Behind TLS it is only sent there. */
export function cookieHeader(headers: Headers, id: string | undefined): string {
  const isTls = headers['origin']?.startsWith('https:') ?? false
  const life = id === undefined ? '; Max-Age=0' : ''
  return `${NAME}=${id ?? ''}; Path=/; HttpOnly; SameSite=Strict${life}${isTls ? '; Secure' : ''}`
}

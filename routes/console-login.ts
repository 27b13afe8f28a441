import type { Context, Hono } from 'hono'
import { fault, parseObject } from '../src/model/index.ts'
import { cookieHeader, cookieOf, isOwnPage } from './cookie.ts'
import { headersOf } from './headers.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { refused } from './refuse.ts'

/** The longest body of a login, in bytes. */
const MOST_BYTES = 4096

const OTHER_PAGE = { fault: fault('forbidden', 'Only a page of this gateway may log in or out.'), headers: {} }

/**
 * Mounts the console's login: `POST /console/login` with `{"key"}` gives a cookie that stands for the key, and
 * `POST /console/logout` ends it.
 */
export function mountLogin(app: Hono<HttpEnv>, parts: HttpParts): void {
  if (!parts.console) return
  app.post('/console/login', (c) => logIn(c, parts))
  app.post('/console/logout', (c) => logOut(c, parts))
}

async function logIn(c: Context<HttpEnv>, { gate }: HttpParts): Promise<Response> {
  const headers = headersOf(c.env.incoming)
  if (!isOwnPage(headers, 'POST')) return refused(c, OTHER_PAGE)
  const key = await keyIn(c, headers)
  if (key === undefined) {
    const message = 'Send {"key":"…"} as Content-Type: application/json.'
    return c.json({ error: { code: 'invalid_request', message } }, 400)
  }
  const login = gate.login(headers, c.env.incoming.socket.remoteAddress, key)
  if (typeof login !== 'string') return refused(c, login)
  return c.body(null, 204, { 'set-cookie': cookieHeader(headers, login) })
}

/** The key of a login's body; undefined when the body is something else. */
async function keyIn(c: Context<HttpEnv>, headers: Readonly<Record<string, string>>): Promise<string | undefined> {
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '')
  if (!isJson || !(Number(headers['content-length']) <= MOST_BYTES)) return undefined
  const key = parseObject(await c.req.text())?.['key']
  return typeof key === 'string' ? key : undefined
}

function logOut(c: Context<HttpEnv>, { gate }: HttpParts): Response {
  const headers = headersOf(c.env.incoming)
  if (!isOwnPage(headers, 'POST')) return refused(c, OTHER_PAGE)
  gate.logOut(cookieOf(headers))
  return c.body(null, 204, { 'set-cookie': cookieHeader(headers, undefined) })
}

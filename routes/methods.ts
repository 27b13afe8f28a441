import type { Context, Hono } from 'hono'
import type { HttpEnv } from './parts.ts'

/**
 * Answers methods without a handler: OPTIONS with the methods of the path (RFC 9110, section 9.3.7), all others with
 * 405. To be mounted last. Routes that differ only in the names of their parameters are one path.
 */
export function mountMethods(app: Hono<HttpEnv>): void {
  const known = new Map<string, { path: string; methods: string[] }>()
  for (const { path, method } of app.routes) {
    const shape = path.replace(/:[^/]+/g, ':')
    const { methods } = known.get(shape) ?? { methods: [] }
    known.set(shape, { path, methods: [...methods, method] })
  }
  for (const { path, methods } of known.values()) app.all(path, (c) => otherMethod(c, [...new Set(methods)]))
}

function otherMethod(c: Context<HttpEnv>, methods: readonly string[]): Response {
  const head = methods.includes('GET') ? ['HEAD'] : []
  const headers = { Allow: [...methods, ...head, 'OPTIONS'].join(', ') }
  if (c.req.method === 'OPTIONS') return c.body(null, 204, headers)
  return c.json(
    {
      error: {
        code: 'method_not_allowed',
        message: `This path does not support the method; use ${methods.join(' or ')}.`,
      },
    },
    405,
    headers,
  )
}

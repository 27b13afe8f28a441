import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Context, Hono } from 'hono'
import { commandOf, type HttpEnv, type HttpParts } from './parts.ts'

/** The rules of the page for the browser: scripts, styles and data come from this gateway alone, and none are inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Files that are named by their content never change. */
const FOREVER = 'public, max-age=31536000, immutable'

/**
 * Mounts the console at `/console/`, unless it is turned off: a page for browsers with its script, style and settings.
 * Files are read when they are first asked for. They hold no data, so they need no key; what the page shows comes from
 * the native API, under its rules.
 */
export function mountConsole(app: Hono<HttpEnv>, parts: HttpParts): void {
  const { console: settings, version } = parts
  if (!settings) return
  const { folder, traces } = settings
  const read = reader(folder)
  app.get('/console', (c) => {
    // The page's own addresses are relative, so that it also works below the path of a proxy.
    if (!new URL(c.req.url).pathname.endsWith('/')) return c.redirect('console/')
    return fileAnswer(c, read('index.html'), '.html')
  })
  app.get('/console/settings', (c) =>
    c.json({ version, command: commandOf(parts), ...(traces !== undefined && { traces }) }),
  )
  app.get('/console/:file', (c) => {
    const file = c.req.param('file')
    return fileAnswer(c, file === 'index.html' ? undefined : read(file), extname(file))
  })
}

/** Reads files of a folder, each once. Undefined for other names and for files that are not there. */
function reader(folder: string): (name: string) => Buffer<ArrayBuffer> | undefined {
  const known = new Map<string, Buffer<ArrayBuffer>>()
  return (name) => {
    const before = known.get(name)
    if (before || !/^\w[\w.-]*$/.test(name)) return before
    try {
      const bytes = readFileSync(join(folder, name))
      known.set(name, bytes)
      return bytes
    } catch {
      return undefined
    }
  }
}

function fileAnswer(c: Context<HttpEnv>, bytes: Buffer<ArrayBuffer> | undefined, extension: string): Response {
  const type = TYPES[extension]
  if (!bytes || type === undefined) {
    const message = 'The console has no such file; if it has none at all, build it: npm run build.'
    return c.json({ error: { code: 'not_found', message } }, 404)
  }
  const isPage = extension === '.html'
  return c.body(bytes, 200, {
    'content-type': type,
    'cache-control': isPage ? 'no-cache' : FOREVER,
    ...(isPage && { 'content-security-policy': POLICY, 'cross-origin-opener-policy': 'same-origin' }),
  })
}

import type { Hono } from 'hono'
import type { Document } from './openapi-document.ts'
import type { HttpEnv, HttpParts } from './parts.ts'

/** The rules of the page for the browser: it has a style of this gateway, and nothing else. */
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Mounts the description of the API: `GET /openapi.json` for programs, `GET /docs` for people. It is made once. */
export function mountDocs(app: Hono<HttpEnv>, parts: HttpParts): void {
  let made: Promise<Document> | undefined
  const document = (): Promise<Document> => {
    made ??= documentOf(app, parts)
    return made
  }
  app.get('/openapi.json', async (c) => c.json(await document()))
  app.get('/docs', async (c) => {
    const { docsPage } = await import('./docs-page.ts')
    return c.html(docsPage(await document()), 200, { 'content-security-policy': POLICY })
  })
  app.get('/docs/style.css', async (c) => {
    const { STYLE } = await import('./docs-page.ts')
    return c.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' })
  })
}

async function documentOf(app: Hono<HttpEnv>, { operations, version }: HttpParts): Promise<Document> {
  const [{ openApi }, own, ofProtocols] = await Promise.all([
    import('./openapi-document.ts'),
    import('./own-operations.ts'),
    operations?.() ?? [],
  ])
  const routes = app.routes.filter(({ method }) => method !== 'ALL')
  return openApi(routes, [...ofProtocols, own.operations], version)
}

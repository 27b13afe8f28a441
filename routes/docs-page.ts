import type { DescribedOperation, Document } from './openapi-document.ts'

/** The style of the page. */
export const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.3rem;margin-top:2rem}h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
details{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0;padding:.2rem .8rem}
summary{cursor:pointer;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:.4rem;font-size:.85rem}
code{font-family:ui-monospace,monospace}
table{border-collapse:collapse;width:100%}td,th{border-top:1px solid var(--line);padding:.3rem;text-align:left;vertical-align:top}`

/** The description as a page: without scripts, and with nothing from elsewhere. */
export function docsPage({ info, tags, paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ operation, html: operationHtml(method, path, operation) })),
  )
  const groups = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name).map(({ html }) => html)
    return own.length === 0 ? '' : `<h3>${escaped(name)}</h3>\n${own.join('\n')}`
  })
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="${escaped(name)}"><summary><code>${escaped(name)}</code></summary>${code(schema)}</details>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(info.title)} API</title><link rel="stylesheet" href="/docs/style.css"></head><body><main>
<h1>${escaped(info.title)} API <small>${escaped(info.version)}</small></h1>
<p>${escaped(info.description)}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<h2>Endpoints</h2>
${groups.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}
</main></body></html>
`
}

function operationHtml(method: string, path: string, operation: DescribedOperation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const rows = (parameters as { name: string; in: string; description: string }[]).map(
    (one) =>
      `<tr><td><code>${escaped(one.name)}</code></td><td>${one.in}</td><td>${escaped(one.description)}</td></tr>`,
  )
  return `<details id="${escaped(operationId)}"><summary><code>${method.toUpperCase()} ${escaped(path)}</code> ${escaped(summary)}</summary>
${description === undefined ? '' : `<p>${escaped(description)}</p>`}
${rows.length === 0 ? '' : `<table><tr><th>Parameter</th><th>in</th><th></th></tr>${rows.join('')}</table>`}
${requestBody ? `<h4>Request</h4>${code(requestBody)}` : ''}
<h4>Answers</h4>${code(responses)}</details>`
}

function code(value: unknown): string {
  return `<pre><code>${escaped(JSON.stringify(value, undefined, 2))}</code></pre>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

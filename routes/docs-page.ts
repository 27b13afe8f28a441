import type { DescribedOperation, Document } from './openapi-document.ts'

/** The style of the page. */
export const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.3rem;margin-top:2rem}h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
details{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0;padding:.2rem .8rem}
summary{cursor:pointer;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:.4rem;font-size:.85rem}
code{font-family:ui-monospace,monospace}
table{border-collapse:collapse;width:100%}td>pre,td>p,p{margin:.3rem 0}td{overflow-wrap:anywhere}:target{scroll-margin-top:3rem}td,th{border-top:1px solid var(--line);padding:.3rem;text-align:left;vertical-align:top}`

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
      // The id is within: a browser opens what an address leads into.
      `<details><summary><code>${escaped(name)}</code></summary><div id="${escaped(name)}">${code(schema)}</div></details>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(info.title)} API</title><link rel="stylesheet" href="docs/style.css"></head><body><main>
<h1>${escaped(info.title)} API <small>${escaped(info.version)}</small></h1>
<p>${escaped(info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
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
    (one) => `<tr><td><code>${escaped(one.name)}</code></td><td>${one.in}</td><td>${prose(one.description)}</td></tr>`,
  )
  const answers = Object.entries(responses as Record<string, Described>).map(
    ([status, { description: about, content }]) =>
      `<tr><td><code>${escaped(status)}</code></td><td>${prose(about)}</td><td>${bodies(content)}</td></tr>`,
  )
  return `<details><summary><code>${method.toUpperCase()} ${escaped(path)}</code> ${prose(summary)}</summary><div id="${escaped(operationId)}">
${description === undefined ? '' : `<p>${prose(description)}</p>`}
${rows.length === 0 ? '' : `<table><tr><th>Parameter</th><th>in</th><th></th></tr>${rows.join('')}</table>`}
${requestBody ? request(requestBody as Described) : ''}
<table><tr><th>Status</th><th></th><th>Body</th></tr>${answers.join('')}</table></div></details>`
}

/** A request or an answer of an operation. */
interface Described {
  description: string
  content?: Record<string, { schema: object; example?: unknown }>
}

function request({ content = {} }: Described): string {
  const examples = Object.entries(content).flatMap(([type, { example }]) =>
    example === undefined ? [] : [code(type === 'application/x-ndjson' ? JSON.stringify(example) : example)],
  )
  const example = examples.length > 0 ? `<p>For example</p>${examples.join('')}` : ''
  return `<h4>Body</h4>${bodies(content)}${example}`
}

/** The media types of a body with their schemas: a link to one that has a name, else the schema itself. */
function bodies(content: Described['content'] = {}): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `<p><code>${escaped(type)}</code></p>${schemaHtml(schema)}`)
    .join('')
}

function schemaHtml(schema: object): string {
  const named = 'anyOf' in schema ? (schema.anyOf as object[]) : [schema]
  const links = named.flatMap((one) => ('$ref' in one ? [linkTo(String(one.$ref))] : []))
  return links.length === named.length ? `<p>${links.join(' or ')}</p>` : code(schema)
}

function linkTo(ref: string): string {
  const name = escaped(ref.split('/').at(-1)!)
  return `<a href="#${name}">${name}</a>`
}

/** JSON in which the names of schemas are links. */
function code(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  const linked = escaped(text).replaceAll(/#\/components\/schemas\/(\w+)/g, (ref) => linkTo(ref))
  return `<pre><code>${linked}</code></pre>`
}

/** A description, in which words between backticks are code. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

import type { JsonSchema, Operation, OperationAnswer, Operations } from '../src/contract/index.ts'

/** An OpenAPI document, as far as it is read here. */
export interface Document {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: readonly object[]
  security: readonly object[]
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: object }
}

/** An operation of a document. */
export interface DescribedOperation {
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  parameters?: readonly object[]
  requestBody?: object
  responses: Record<string, object>
}

/** A route that is served: its method, and its path with `:name` segments. */
export interface Served {
  method: string
  path: string
}

const ABOUT =
  'Any client in front, any agent behind. The native API has all of the gateway’s model of a turn; the other endpoints speak protocols of others, which their own documents describe.'

/**
 * The OpenAPI document (3.1) of the routes that are served. Of an endpoint that several protocols have, all are
 * described. A path with the agent’s name at its end is that of its endpoint with one more segment.
 */
export function openApi(routes: readonly Served[], described: readonly Operations[], version: string): Document {
  const paths: Document['paths'] = {}
  for (const route of routes) {
    const path = templated(route.path, routes)
    const operation = operationOf(route, described)
    if (!operation) continue
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = withPath(operation, path, route.path)
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Turnpike', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    // A gateway without keys needs none.
    security: [{ bearer: [] }, { key: [] }, {}],
    tags: described.map(({ tag, about }) => ({ name: tag, description: about })),
    paths,
    components: {
      schemas: Object.assign({}, ...described.map(({ schemas }) => schemas)) as Record<string, JsonSchema>,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  }
}

/** The description of a route: that of its endpoint, or of all that have it. */
export function operationOf({ method, path }: Served, described: readonly Operations[]): Tagged | undefined {
  const named = (of: string): Tagged[] =>
    described.flatMap(({ tag, operations }) => {
      const operation = operations[`${method} ${of}`]
      return operation ? [{ ...operation, tags: [tag] }] : []
    })
  const own = named(path)
  if (own.length > 0) return own.reduce(together)
  const [endpoint] = path.endsWith('/:agent') ? named(path.slice(0, -'/:agent'.length)) : []
  return (
    endpoint && { ...endpoint, id: `${endpoint.id}ByAgent`, summary: `${endpoint.summary} Its path names the agent.` }
  )
}

/** An operation with the protocols that have it. */
type Tagged = Operation & { tags: readonly string[] }

/** One operation for two protocols that share an endpoint. */
function together(one: Tagged, other: Tagged): Tagged {
  return {
    ...one,
    tags: [...one.tags, ...other.tags],
    summary: `${one.summary} ${other.summary}`,
    parameters: [...(one.parameters ?? []), ...(other.parameters ?? [])],
  }
}

/** A path in OpenAPI’s words. Paths that differ only in the names of their segments are one there: it is named `id`. */
function templated(path: string, routes: readonly Served[]): string {
  const shape = shapeOf(path)
  const names = new Set(routes.filter((route) => shapeOf(route.path) === shape).map((route) => route.path))
  // Generated clients have a variable `response` of their own.
  return path.replaceAll(/:([^/]+)/g, names.size > 1 ? '{id}' : '{$1}').replace('{response}', '{response_id}')
}

function shapeOf(path: string): string {
  return path.replaceAll(/:[^/]+/g, ':')
}

function withPath(
  { id, tags, summary, description, parameters = [], request, answers }: Tagged,
  path: string,
  route: string,
): DescribedOperation {
  const named = [...route.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  const segments = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name], at) => ({
    name,
    in: 'path',
    required: true,
    description: `The id or name of the ${named[at]}.`,
    schema: { type: 'string' },
  }))
  const all = [...segments, ...parameters]
  return {
    operationId: id,
    tags,
    summary,
    ...(description !== undefined && { description }),
    ...(all.length > 0 && { parameters: all }),
    ...(request && { requestBody: { required: true, content: request } }),
    responses: Object.fromEntries(Object.entries(answers).map(([status, one]) => [status, responseOf(one)])),
  }
}

function responseOf({ description, headers = {}, bodies }: OperationAnswer): object {
  const named = Object.entries(headers).map(([name, about]) => [
    name,
    { description: about, schema: { type: 'string' } },
  ])
  return {
    description,
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
    ...(bodies && { content: bodies }),
  }
}

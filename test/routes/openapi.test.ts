import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { EVENTS } from '../../codecs/native/event-schema.ts'
import { loadOperations } from '../../codecs/operations.ts'
import { docsPage, STYLE } from '../../routes/docs-page.ts'
import { type Document, openApi, operationOf, type Served } from '../../routes/openapi-document.ts'
import { operations as own } from '../../routes/own-operations.ts'
import type { AnyCodec, Operations } from '../../src/contract/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway
let document: Document
let codecs: AnyCodec[]
let described: Operations[]

beforeAll(async () => {
  codecs = Object.values(await loadCodecs())
  described = [...(await loadOperations()), own]
  gateway = await startGateway(`
default: helper
agents:${EXAMPLE_AGENTS}
  hollow: { protocol: zot, command: /nowhere/zot }
`)
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document
})
afterAll(() => gateway.close())

const endpointsOf = (codec: AnyCodec): string[] => codec.endpoints.map(({ method, path }) => `${method} ${path}`)

/** The endpoints that a gateway serves only where it is configured to. */
const SOMETIMES = ['GET /metrics']
const isOfConsole = (endpoint: string): boolean => endpoint.includes('/console')

describe('GET /openapi.json', () => {
  test('describes every endpoint of every protocol, and no other', () => {
    const served = new Set(codecs.flatMap(endpointsOf))
    const said = new Set(described.slice(0, -1).flatMap(({ operations }) => Object.keys(operations)))
    expect([...said].sort()).toEqual([...served].sort())
  })

  test('describes every route that is served, and no other', async () => {
    const { endpoints } = (await (await fetch(`${gateway.url}/`)).json()) as { endpoints: string[] }
    const expected = [...endpoints, ...Object.keys(own.operations)].filter(
      (endpoint) => !SOMETIMES.includes(endpoint) && !isOfConsole(endpoint),
    )
    const shape = (endpoint: string): string => endpoint.replaceAll(/:[^/]+|\{[^}]+\}/g, ':')
    const said = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const withAgent = said.filter((endpoint) => !expected.some((known) => shape(known) === shape(endpoint)))
    expect(withAgent.filter((endpoint) => !expected.includes(endpoint.replace(/\/\{[^}]+\}$/, '')))).toEqual([])
    expect(expected.filter((known) => !said.some((endpoint) => shape(known) === shape(endpoint)))).toEqual([])
  })

  test('is served by each of its paths', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const answer = await fetch(gateway.url + path.replaceAll(/\{[^}]+\}/g, 'x'), { method: 'OPTIONS' })
      const allowed = answer.headers.get('allow')?.split(', ') ?? []
      expect({ path, allowed }).toEqual({
        path,
        allowed: expect.arrayContaining(Object.keys(methods).map((one) => one.toUpperCase())),
      })
    }
  })

  test('is valid, with names that are used once', async () => {
    expect(document.openapi).toBe('3.1.1')
    const result = await new Validator().validate(structuredClone(document) as never)
    expect(result).toEqual({ valid: true })
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })

  test('has schemas that are valid, and all that are referred to', () => {
    const ajv = ajvOf(document)
    for (const name of Object.keys(document.components.schemas))
      expect(ajv.getSchema(`api#/components/schemas/${name}`)).toBeTypeOf('function')
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name!,
    )
    expect(refs.filter((name) => !(name in document.components.schemas))).toEqual([])
  })
})

function ajvOf(of: Document): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'api', ...of })
  return ajv
}

interface Content {
  content?: Record<string, { schema: object; example?: unknown }>
}

/** The body of an endpoint’s example, and its media type. */
function exampleOf(path: string): { type: string; body: string } {
  const { content = {} } = document.paths[path]!['post']!.requestBody as Content
  const [type, { example }] = Object.entries(content)[0]!
  return { type, body: JSON.stringify(example).replace('AGENT', 'helper') }
}

describe('the examples', () => {
  const posts = ['/v1/turns', '/v1/zene', '/v1/respond', '/v1/zot', '/v1/openharness', '/openharness', '/v1/agentproc']
  const more = [
    '/v1/qwen',
    '/v1/qwen-code',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
    '/v1/messages/count_tokens',
  ]

  test.each([...posts, ...more])('of %s runs, and its request and answer are as described', async (path) => {
    const { type, body } = exampleOf(path)
    const answer = await fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': type }, body })
    const text = await answer.text()
    expect({ status: answer.status, text }).toEqual({ status: 200, text })
    const operation = document.paths[path]!['post']!
    const said = (operation.responses['200'] as Content).content?.[answer.headers.get('content-type')!.split(';')[0]!]
    const asked = (operation.requestBody as Content).content![type]!
    expect(said).toBeDefined()
    const pointer = (...steps: string[]): string =>
      steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const ajv = ajvOf(document)
    const check = (where: string, value: unknown): void => {
      const validate = ajv.getSchema(`api#/${where}`)!
      expect([validate(value), validate.errors]).toEqual([true, null])
    }
    const base = pointer('paths', path, 'post')
    expect(asked.schema).toBeDefined()
    check(`${base}/${pointer('requestBody', 'content', type, 'schema')}`, JSON.parse(body.trim()))
    if (text.startsWith('{') && !text.trim().includes('\n'))
      check(
        `${base}/${pointer('responses', '200', 'content', 'application/json', 'schema')}`.replace(
          'application~1json',
          answer.headers.get('content-type')!.split(';')[0]!.replaceAll('/', '~1'),
        ),
        JSON.parse(text),
      )
  })
})

describe('answers', () => {
  async function get(path: string): Promise<unknown> {
    const answer = await fetch(gateway.url + path)
    expect(answer.status).toBe(200)
    return answer.json()
  }

  test('of the native API and of the gateway are as described', async () => {
    const begun = await fetch(`${gateway.url}/v1/turns/coder`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":[{"type":"text","text":"hello"}],"session":{"id":"described"}}',
    })
    const { turn } = (await begun.json()) as { turn: string }
    await fetch(`${gateway.url}/v1/turns/hollow`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"x"}',
    })
    const { sessions } = (await get('/v1/sessions')) as { sessions: { id: string }[] }
    const ajv = ajvOf(document)
    for (const [path, asked] of [
      ['/', '/'],
      ['/healthz', '/healthz'],
      ['/readyz', '/readyz'],
      ['/v1/me', '/v1/me'],
      ['/v1/agents', '/v1/agents'],
      ['/v1/overview', '/v1/overview'],
      ['/v1/doors', '/v1/doors'],
      ['/v1/matrix', '/v1/matrix'],
      ['/v1/turns', '/v1/turns'],
      ['/v1/turns/{id}', `/v1/turns/${turn}`],
      ['/v1/turns/{turn}/input', `/v1/turns/${turn}/input`],
      ['/v1/turns/{turn}/wire', `/v1/turns/${turn}/wire`],
      ['/v1/sessions', '/v1/sessions'],
      ['/v1/sessions/{session}', `/v1/sessions/${sessions[0]!.id}`],
    ] as const) {
      const where = `paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
      const validate = ajv.getSchema(`api#/${where}`)!
      const value = await get(asked)
      expect({ path, valid: validate(value), errors: validate.errors }).toEqual({ path, valid: true, errors: null })
    }
    const missing = await fetch(`${gateway.url}/v1/turns/none`)
    const fault = ajv.getSchema('api#/components/schemas/Failure')!
    expect([missing.status, fault(await missing.json())]).toEqual([404, true])
  })
})

describe('streams', () => {
  const CODER = '/v1/turns/coder'
  /** The JSON of each event or line of a streamed answer. */
  async function streamed(path: string, accept: string, init: RequestInit = {}): Promise<{ type: string }[]> {
    const headers = { accept, 'content-type': 'application/json' }
    const text = await (await fetch(gateway.url + path, { headers, ...init })).text()
    const lines = text
      .split('\n')
      .filter((line) => (accept === 'text/event-stream' ? line.startsWith('data: ') : line !== ''))
    return lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as { type: string })
  }
  const begin = { method: 'POST', body: '{"input":"hello"}' }

  /** The name of the schema of an event. */
  function schemaOf(type: string): string {
    const { mapping } = document.components.schemas['Event']!['discriminator'] as { mapping: Record<string, string> }
    return mapping[type]!.split('/').at(-1)!
  }

  test.each(['text/event-stream', 'application/x-ndjson'])(
    'of a turn as %s have events as described',
    async (accept) => {
      const ajv = ajvOf(document)
      const events = [
        ...(await streamed(CODER, accept, begin)),
        ...(await streamed('/v1/turns/hollow', accept, begin)),
        ...(await streamed('/v1/turns/helper', accept, begin)),
      ]
      expect(new Set(events.map(({ type }) => type))).toContain('text-delta')
      for (const event of events) {
        const validate = ajv.getSchema(`api#/components/schemas/${schemaOf(event.type)}`)!
        expect([event, validate(event), validate.errors]).toEqual([event, true, null])
      }
    },
  )

  test('of events have a schema for every type of the model, and no other', () => {
    const { mapping } = document.components.schemas['Event']!['discriminator'] as { mapping: Record<string, string> }
    expect(Object.keys(mapping).sort()).toEqual([...Object.keys(EVENTS), 'fault'].sort())
  })

  test('of a list have its changes as described', async () => {
    const stop = new AbortController()
    const response = await fetch(`${gateway.url}/v1/turns?follow=1`, { signal: stop.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const { value = '' } = await reader.read()
    stop.abort()
    const validate = ajvOf(document).getSchema('api#/components/schemas/TurnPage')!
    expect(value).toMatch(/^event: turns\n/)
    expect([validate(JSON.parse(/data: (.*)/.exec(value)![1]!)), validate.errors]).toEqual([true, null])
  })
})

describe('failures', () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    [path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }] as const

  test.each([
    [400, ...post('/v1/turns', '{')],
    [400, ...post('/v1/turns', '{"input":7}')],
    [404, ...post('/v1/turns', '{"input":"x","agent":"nobody"}')],
    [404, ...post('/v1/turns', '{"input":"x","after":"none"}')],
    [413, ...post('/v1/turns', JSON.stringify({ input: 'x'.repeat(11 * 1024 * 1024) }))],
    [415, ...post('/v1/turns', '{"input":"x"}', { 'content-type': 'text/plain' })],
    [503, ...post('/v1/turns', '{"input":"x","agent":"hollow"}')],
    [404, '/v1/turns/none', {}],
    [404, '/v1/turns/none', { method: 'DELETE' }],
    [404, '/v1/turns/none/events', {}],
    [404, '/v1/turns/none/input', {}],
    [404, '/v1/turns/none/wire', {}],
    [400, ...post('/v1/turns/none/cancel', '{}')],
    [400, ...post('/v1/turns/none/approvals/a', '{"option":"x"}')],
    [404, '/v1/sessions/none', {}],
    [400, '/v1/turns?limit=many', {}],
  ] as const)('are answered with %i as described: %s', async (status, path, init) => {
    const response = await fetch(gateway.url + path, init)
    expect(response.status).toBe(status)
    const shape = path.split('?')[0]!.replace(/none\/approvals\/a$/, '{turn}/approvals/{ask}')
    const described = Object.keys(document.paths).find(
      (known) => known === shape || new RegExp(`^${known.replaceAll(/\{[^}]+\}/g, 'none')}$`).test(shape),
    )!
    const method = ('method' in init ? init.method : 'GET').toLowerCase()
    const where = ['paths', described, method, 'responses', String(status), 'content', 'application/json', 'schema']
    const pointer = where.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const validate = ajvOf(document).getSchema(`api#/${pointer}`)
    const value = await response.json()
    expect([validate?.(value), validate?.errors, value]).toEqual([true, null, value])
  })
})

describe('/docs', () => {
  test('has every endpoint and schema, without scripts, inline styles, or anything from elsewhere', async () => {
    const answer = await fetch(`${gateway.url}/docs`)
    const page = await answer.text()
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(page).toBe(docsPage(document))
    for (const path of Object.keys(document.paths)) expect(page).toContain(path)
    for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`id="${name}"`)
    const groups = [...page.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, name]) => name)
    expect(groups).toEqual(document.tags.map(({ name }) => name))
    expect(page).not.toMatch(/<script|style=|https?:\/\/(?!json-schema)/)
    const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, name]) => name!)
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter((name) => !page.includes(`<div id="${name}">`))).toEqual([])
    const style = await fetch(`${gateway.url}/docs/style.css`)
    expect([style.headers.get('content-type'), await style.text()]).toEqual(['text/css; charset=utf-8', STYLE])
  })

  test('shows words between backticks as code', () => {
    expect(docsPage(document)).toContain('<td><code>respond-async</code> runs the turn in the background.</td>')
  })

  test('shows text of descriptions as text', () => {
    const hostile = '<img src=x onerror=alert(1)>&"'
    const operation = { id: hostile, summary: hostile, description: hostile, answers: {} }
    const page = docsPage(
      openApi(
        [{ method: 'GET', path: '/x' }],
        [{ tag: hostile, about: hostile, operations: { 'GET /x': operation }, schemas: { [hostile]: {} } }],
        hostile,
      ),
    )
    expect(page).not.toContain('<img')
  })
})

describe('a description', () => {
  const plain = { id: 'one', summary: 'One.', answers: { 200: { description: 'It.' } } }
  const of = (routes: Served[]) =>
    openApi(
      routes,
      [
        {
          tag: 'One',
          about: 'It is about it.',
          operations: { 'GET /a/:one': plain, 'POST /a': plain, 'GET /b': plain },
        },
      ],
      '1',
    )

  test('of paths that differ in the names of their segments alone has one path', () => {
    const { paths } = of([
      { method: 'GET', path: '/a/:one' },
      { method: 'POST', path: '/a/:agent' },
      { method: 'POST', path: '/a' },
      { method: 'GET', path: '/unknown' },
    ])
    expect(Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
      ['/a/{id}', ['get', 'post']],
      ['/a', ['post']],
    ])
    expect(paths['/a/{id}']!['post']).toMatchObject({
      operationId: 'oneByAgent',
      parameters: [{ name: 'id', in: 'path' }],
    })
  })

  test('of an endpoint of two protocols has both', () => {
    const two = [
      { tag: 'One', about: 'It is about it.', operations: { 'GET /b': plain } },
      { tag: 'Two', about: 'It is about it.', operations: { 'GET /b': { ...plain, id: 'two', summary: 'Two.' } } },
    ]
    expect(operationOf({ method: 'GET', path: '/b' }, two)).toMatchObject({
      id: 'one',
      tags: ['One', 'Two'],
      summary: 'One. Two.',
    })
  })
})

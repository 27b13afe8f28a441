/**
 * With `TURNPIKE_TEST_OPENAPI=1` every answer in JSON that a test fetches from a gateway is held against the gateway's own
 * description (`GET /openapi.json`): its status has to be described, and its body has to be as its schema says.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, expect } from 'vitest'
import type { Document } from '../../routes/openapi-document.ts'

const real = globalThis.fetch
const violations: unknown[] = []
let described: Promise<Described | undefined> | undefined

interface Described {
  document: Document
  ajv: Ajv2020
}

/** The description by a gateway; undefined from what is none, or wants a key. */
async function describedBy(origin: string): Promise<Described | undefined> {
  const answer = await real(`${origin}/openapi.json`).catch(() => undefined)
  if (!answer?.ok) return undefined
  const document = (await answer.json()) as Document
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'api', ...document })
  return { document, ajv }
}

function pathIn({ paths }: Document, path: string): string | undefined {
  if (paths[path]) return path
  return Object.keys(paths).find((known) =>
    new RegExp(`^${known.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  )
}

async function check(method: string, url: URL, answer: Response): Promise<void> {
  const type = answer.headers.get('content-type')?.split(';')[0]
  if (type !== 'application/json' || url.hostname !== '127.0.0.1') return
  described = (await described) ? described : describedBy(url.origin)
  const known = await described
  const path = known && pathIn(known.document, url.pathname)
  // Some tests mount an endpoint of their own there.
  const operation = path && path !== '/' && known.document.paths[path]?.[method]
  if (!operation) return
  const status = answer.status in operation.responses ? String(answer.status) : 'default'
  const steps = ['paths', path, method, 'responses', status, 'content', type, 'schema']
  const pointer = steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const validate = known.ajv.getSchema(`api#/${pointer}`)
  const text = await answer.clone().text()
  const place = `${method} ${url.pathname} ${answer.status}`
  if (!validate) violations.push({ place, why: 'not described', text: text.slice(0, 300) })
  else if (!validate(JSON.parse(text)))
    violations.push({ place, why: validate.errors?.slice(0, 3), text: text.slice(0, 500) })
}

if (process.env['TURNPIKE_TEST_OPENAPI'] === '1') {
  globalThis.fetch = async (input, init) => {
    const answer = await real(input, init)
    if (typeof input === 'string' || input instanceof URL) {
      const method = (init?.method ?? 'GET').toLowerCase()
      await check(method === 'head' ? 'get' : method, new URL(input), answer).catch(() => {})
    }
    return answer
  }
  afterEach(() => expect(violations.splice(0)).toEqual([]))
}

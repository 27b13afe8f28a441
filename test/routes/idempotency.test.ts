/** Idempotency keys over HTTP: another request under a key is refused by the client's own error. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Hooks, silentHooks } from '../../src/contract/index.ts'
import { AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = `${import.meta.dirname}/../kit/agents`

interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

let gateway: TestGateway
/** How requests share a turn, in the order they came to it. */
const shared: string[] = []
const request: Hooks['request'] = (about) => ({ ...silentHooks.request(about), shares: (how) => shared.push(how) })

beforeAll(async () => {
  gateway = await startGateway(
    `default: helper
agents:
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  other: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  waits: { protocol: native, command: ${process.execPath}, args: [${KIT}/native.mjs] }
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
`,
    { hooks: { ...silentHooks, request } },
  )
})
afterAll(() => gateway.close())

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const lines = text.trimEnd().split('\n')
  const last = lines.at(-1)!.replace(/^data: /, '')
  return { status: response.status, headers: response.headers, body: JSON.parse(last) as Record<string, unknown> }
}

const CONFLICT = {
  code: 'idempotency-conflict',
  message:
    'Another request has this id or idempotency key: it differs in more than the attempt. Send this one under a new one.',
  retryable: false,
}

test('a Chat request that names no session is repeated under its key alone', async () => {
  const body = { model: 'helper', messages: [{ role: 'user', content: 'once' }] }
  const path = '/v1/chat/completions'
  const first = await post(path, body, { 'idempotency-key': 'chat' })
  const again = await post(path, body, { 'idempotency-key': 'chat' })
  expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true'])
  const other = await post(path, { ...body, temperature: 1 }, { 'idempotency-key': 'chat' })
  expect([other.status, other.body]).toMatchObject([422, { error: { code: 'idempotency_conflict' } }])
})

describe('another request under the key of one that has been answered is refused', () => {
  const BASE = { input: 'x', session: { id: 's' } }
  test.each<[string, object, string?]>([
    ['another prompt', { ...BASE, input: 'y' }],
    ['another system prompt', { ...BASE, options: { systemPrompt: 'be rude' } }],
    ['another model', { ...BASE, options: { model: 'b' } }],
    ['another temperature', { ...BASE, options: { temperature: 0.5 } }],
    ['a history', { ...BASE, history: [{ role: 'user', parts: [{ type: 'text', text: 'before' }] }] }],
    ['client tools', { ...BASE, clientTools: [{ name: 'ls', schema: {} }] }],
    ['surroundings', { ...BASE, environment: { privacy: 'public', json: { cwd: '/' } } }],
    ['a member that only the agent knows', { ...BASE, later: true }],
    ['another agent by its field', { ...BASE, agent: 'other' }],
    ['another agent by its path', BASE, '/other'],
  ])('native: with %s', async (what, changed, agent = '') => {
    const headers = { 'idempotency-key': what }
    const first = await post('/v1/turns', BASE, headers)
    expect(first.body['outcome']).toBe('completed')
    const other = await post(`/v1/turns${agent}`, changed, headers)
    expect([other.status, other.body]).toEqual([422, { type: 'fault', fault: CONFLICT }])
    const streamed = await post(`/v1/turns${agent}`, changed, { ...headers, accept: 'text/event-stream' })
    expect([streamed.status, streamed.body['fault']]).toEqual([422, CONFLICT])
    expect((await post('/v1/turns', BASE, headers)).body['turn']).toBe(first.body['turn'])
  })

  test.each([
    ['bridge-compat', {}],
    ['lines', { stream: true }],
  ])('zene: %s', async (name, more) => {
    const run = { session_id: `z-${name}`, idempotency_key: 'k', ...more }
    const first = await post('/v1/zene', { ...run, request_id: 'r1', prompt: 'x' })
    expect(first.status).toBe(200)
    const { status, body } = await post('/v1/zene', { ...run, request_id: 'r2', prompt: 'y' })
    expect([status, body['request_id']]).toEqual([422, 'r2'])
    expect(body['error_code'] ?? (body['error'] as { code: string }).code).toBe('INVALID_REQUEST')
  })
})

describe('an answer that is given again', () => {
  test('says so, and has the times of the first one: native', async () => {
    const headers = { 'idempotency-key': 'again' }
    const first = await post('/v1/turns', { input: 'x' }, headers)
    const second = await post('/v1/turns', { input: 'x' }, headers)
    expect([first, second].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(second.body).toEqual({ ...first.body, replayed: true })
    const streamed = await post('/v1/turns', { input: 'x' }, { ...headers, accept: 'application/x-ndjson' })
    expect(streamed.headers.get('idempotent-replayed')).toBe('true')
    const accepted = await post('/v1/turns', { input: 'x' }, { ...headers, prefer: 'respond-async' })
    expect(accepted.headers.get('idempotent-replayed')).toBe('true')
    expect(accepted.body).toMatchObject({ id: first.body['turn'], replayed: true })
  })

  test('is no answer to a request that joins the running one, which has its times all the same', async () => {
    const ask = (): Promise<Answer> => post('/v1/turns/waits', { input: 'wait' }, { 'idempotency-key': 'joined' })
    const running = () => gateway.engine.turns.filter(({ agent }) => agent.name === 'waits')
    const first = ask()
    await until(() => running().some(({ view }) => view.seq > 1))
    const [turn] = running()
    await until(() => turn!.scope.now() > turn!.view.startedAt + 20)
    const second = ask()
    await until(() => shared.includes('joined'))
    turn!.cancel()
    const answers = await Promise.all([first, second])
    expect(answers[0]!.body).toMatchObject({ outcome: 'cancelled', startedAt: turn!.view.startedAt })
    expect(answers[1]!.body).toEqual(answers[0]!.body)
    expect(answers[1]!.headers.get('idempotent-replayed')).toBeNull()
  })

  test('is not what a follower of the turn sees', async () => {
    const { body } = await post('/v1/turns', { input: 'x' }, { 'idempotency-key': 'followed' })
    const followed = await fetch(`${gateway.url}/v1/turns/${body['turn']}/events`)
    await followed.text()
    expect(followed.headers.get('idempotent-replayed')).toBeNull()
  })

  test('says so, and has the times of the first one: OpenHarness', async () => {
    const shell = {
      protocol_version: '1.0.0',
      request_id: 'o1',
      request: { context: { session_id: 'o', user_intent: '3' } },
    }
    const [first, second] = [await post('/v1/openharness/failing', shell), await post('/v1/openharness/failing', shell)]
    expect([first, second].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    const response = first.body['response'] as { extensions: Record<string, object> }
    const own = { ...response.extensions['urn:turnpike:turn'], replayed: true }
    expect(second.body).toEqual({
      ...first.body,
      response: { ...response, extensions: { 'urn:turnpike:turn': own } },
    })
  })

  test('says so: zene', async () => {
    const run = { session_id: 'z', idempotency_key: 'k', prompt: '3' }
    const first = await post('/v1/zene/failing', { ...run, request_id: 'r1', ts_ms: 1 })
    const second = await post('/v1/zene/failing', { ...run, request_id: 'r2', ts_ms: 2 })
    expect([first, second].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(second.body).toMatchObject({ ...first.body, request_id: 'r2' })
  })
})

/** What an endpoint says before a turn begins has the type of what it says of one. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
})
afterAll(() => gateway.close())

const JSON_LINES = 'application/x-ndjson; charset=utf-8'
const JSON_BODY = 'application/json; charset=utf-8'
const RUN = '{"request_id":"r","session_id":"s","prompt":"hi"}'
const INITIALIZE = '{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}\n'
const USER = '{"type":"user","message":{"role":"user","content":"hi"}}\n'

test.each([
  ['/v1/zene', RUN, {}, 'application/json'],
  ['/v1/zene', '{', {}, JSON_BODY],
  ['/v1/zene', RUN, { 'content-encoding': 'gzip' }, JSON_BODY],
  ['/v1/zene', RUN, { 'content-type': 'text/xml' }, JSON_BODY],
  ['/v1/zene', RUN, { accept: 'application/x-ndjson' }, JSON_LINES],
  ['/v1/zene', '{', { accept: 'application/x-ndjson' }, JSON_LINES],
  ['/v1/agentproc', '{"AGENT_MESSAGE":"hi"}', {}, 'text/plain; charset=utf-8'],
  ['/v1/agentproc', '{', {}, 'text/plain; charset=utf-8'],
  ['/v1/agentproc', '{"type":"turn","message":"hi"}', {}, JSON_LINES],
  ['/v1/agentproc', '{"type":"turn"}', {}, JSON_LINES],
  ['/v1/qwen-code', USER, {}, JSON_LINES],
  ['/v1/qwen-code', INITIALIZE + USER, {}, JSON_LINES],
  ['/v1/qwen-code', '{', {}, JSON_LINES],
  ['/v1/openharness', '{', {}, JSON_BODY],
  ['/v1/respond', '{', {}, JSON_BODY],
] as const)('%s %j %j: %s', async (path, body, more, type) => {
  const headers = { 'content-type': 'application/json', ...more }
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body })
  expect(answer.headers.get('content-type')).toBe(type)
  const text = await answer.text()
  if (type.startsWith('application/json')) expect(JSON.parse(text)).toBeInstanceOf(Object)
  else expect(text.endsWith('\n')).toBe(true)
})

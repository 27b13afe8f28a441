import { expect, test } from 'vitest'
import { errorTable } from '../../src/codec-kit/index.ts'
import { ERROR_CODES } from '../../src/model/index.ts'

test('has every error under its own code, or under the one that a protocol gives it', () => {
  const own = errorTable()
  expect(Object.keys(own)).toEqual([...ERROR_CODES])
  expect(own['agent-not-found']).toEqual({ code: 'agent-not-found', http: 404 })
  const shouted = errorTable((code) => code.toUpperCase())
  expect(shouted['session-busy']).toEqual({ code: 'SESSION-BUSY', http: 409 })
  const other = errorTable(undefined, { 'agent-crashed': 400 })
  expect([other['agent-crashed'].http, other['agent-unavailable'].http]).toEqual([400, 503])
})

test('answers failures of the gateway, the agent and the provider with statuses of their own', () => {
  const all = Object.values(errorTable()).map(({ http }) => http)
  expect(all.every((status) => status >= 400 && status < 600)).toBe(true)
  expect(new Set(all)).toEqual(new Set([400, 401, 403, 404, 409, 413, 422, 429, 499, 500, 502, 503, 504]))
})

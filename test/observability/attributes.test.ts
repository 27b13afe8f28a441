import { describe, expect, test } from 'vitest'
import {
  ATTR,
  EVENT,
  EVENT_ATTR,
  FINISH_REASON,
  methodAttributes,
  methodName,
  SPAN,
  USAGE_ATTR,
} from '../../observability/attributes.ts'
import { INSTRUMENTS } from '../../observability/instruments.ts'

describe('a method', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])(
    '%s is named',
    (method) => {
      expect(methodAttributes(method)).toEqual({ 'http.request.method': method })
      expect(methodName(method)).toBe(method)
    },
  )

  // A client may write what it likes: no span has its name.
  test.each(['', 'get', 'BREW', 'POST ', 'constructor'])('%j is another one', (method) => {
    expect(methodAttributes(method)).toEqual({
      'http.request.method': '_OTHER',
      'http.request.method_original': method,
    })
    expect(methodName(method)).toBe('HTTP')
  })
})

describe('names', () => {
  const names = [...Object.values(ATTR), ...Object.values(USAGE_ATTR)]

  test('of attributes are each there once, in small letters', () => {
    expect(new Set(names).size).toBe(names.length)
    for (const name of [...names, ...Object.values(EVENT_ATTR)]) expect(name).toMatch(/^[a-z][a-z_]*(\.[a-z_]+)+$/)
  })

  test('that are the project’s own begin with its name', () => {
    const ofOthers = /^(gen_ai|http|url|server|process|error|network)\./
    for (const name of names) expect(ofOthers.test(name) || name.startsWith('turnpike.')).toBe(true)
    for (const name of Object.values(EVENT)) expect(name).toMatch(/^turnpike\./)
    expect(Object.values(SPAN)).toEqual(['decode', 'encode', 'route', 'queue'])
  })

  test('of labels of metrics are those of spans, where spans have them', () => {
    for (const { labels } of Object.values(INSTRUMENTS)) {
      expect(new Set(labels).size).toBe(labels.length)
      for (const label of labels) expect(label).toMatch(/^[a-z][a-z_]*(\.[a-z_]+)+$/)
    }
  })
})

test('every stop has the finish reason of the conventions, where they have one', () => {
  expect(FINISH_REASON).toEqual({
    end: 'stop',
    'stop-sequence': 'stop',
    'max-tokens': 'length',
    'max-turns': 'max_turns',
    'tool-use': 'tool_call',
    refusal: 'refusal',
    'context-window': 'length',
    'max-budget': 'length',
    'content-filter': 'content_filter',
    aborted: 'aborted',
    error: 'error',
  })
})

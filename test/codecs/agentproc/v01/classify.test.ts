import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromWireSession, toWireSession } from '../../../../codecs/agentproc/session.ts'
import { classify, isSessionId } from '../../../../codecs/agentproc/v01/schema.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'

const CASES = join(PUBLISHED, 'agentproc-0.1/cases.json')

describe('lines of stdout', () => {
  test.each([
    ['AGENT_SESSION:id-1', 'session', 'id-1'],
    ['AGENT_SESSION:\t id-2 ', 'session', 'id-2'],
    ['AGENT_SESSION:', 'session', ''],
    ['AGENT_SESSION:two words', 'session', 'two words'],
    ['AGENT_PARTIAL:"a\\nb"', 'partial', 'a\nb'],
    ['AGENT_PARTIAL: "padded" ', 'partial', 'padded'],
    ['AGENT_PARTIAL:', 'partial', ''],
    ['AGENT_PARTIAL:""', 'partial', ''],
    ['AGENT_PARTIAL: plain words ', 'partial', 'plain words'],
    ['AGENT_PARTIAL:1.50', 'partial', '1.50'],
    ['AGENT_PARTIAL:{"a": 1}', 'partial', '{"a": 1}'],
    ['AGENT_PARTIAL:"open', 'partial', '"open'],
    ['AGENT_ERROR:"why"', 'error', 'why'],
    ['AGENT_ERROR:null', 'error', 'null'],
    ['AGENT_ERROR:  ', 'error', ''],
    [' AGENT_ERROR:"indented"', 'body', ' AGENT_ERROR:"indented"'],
    ['\tAGENT_PARTIAL:"x"', 'body', '\tAGENT_PARTIAL:"x"'],
    ['\ufeffAGENT_SESSION:x', 'body', '\ufeffAGENT_SESSION:x'],
    ['Agent_Session:x', 'body', 'Agent_Session:x'],
    ['AGENT_PARTIAL', 'body', 'AGENT_PARTIAL'],
    ['', 'body', ''],
  ])('%j is %s %j', (line, kind, value) => {
    expect(classify(line)).toEqual({ kind, value })
  })

  test("a profile's session prefix replaces the usual one", () => {
    expect(classify('SID: a', 'SID:')).toEqual({ kind: 'session', value: 'a' })
    expect(classify('AGENT_SESSION:a', 'SID:')).toEqual({ kind: 'body', value: 'AGENT_SESSION:a' })
  })

  test('the published cases', () => {
    const { cases } = JSON.parse(readFileSync(CASES, 'utf8')) as { cases: { line: string; expect: unknown }[] }
    expect(cases.length).toBeGreaterThan(30)
    expect(cases.map(({ line }) => classify(line))).toEqual(cases.map((one) => one.expect))
  })

  test('a JSON string is always read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(classify(`AGENT_PARTIAL:${JSON.stringify(text)}`)).toEqual({ kind: 'partial', value: text })
      }),
    )
  })
})

describe('session ids', () => {
  test.each([
    ['A.~=_-z', true],
    ['..', true],
    ['', false],
    ['a b', false],
    ['a:b', false],
    ['a/b', false],
    ['a\\b', false],
    ['a+b', false],
    ['ü', false],
    ['"q"', false],
  ])('%j valid: %s', (id, valid) => {
    expect(isSessionId(id)).toBe(valid)
  })

  test('ours are mapped into the alphabet and back', () => {
    expect(toWireSession('plain-1')).toBe('plain-1')
    expect(toWireSession('a/b=ü')).toBe('a=002fb=003d=00fc')
    expect(fromWireSession('a=002fb=003d=00fc')).toBe('a/b=ü')
    expect(fromWireSession('abc==')).toBe('abc==')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (id) => {
        expect(isSessionId(toWireSession(id))).toBe(true)
        expect(fromWireSession(toWireSession(id))).toBe(id)
      }),
    )
  })
})

import { describe, expect, test } from 'vitest'
import { BAD_ANSWERS } from '../../src/conformance/bad-answers.ts'
import { demandOn, misbehaving } from '../../src/conformance/bad-player.ts'
import { BAD_REQUESTS } from '../../src/conformance/bad-requests.ts'
import { hostileScenario } from '../../src/conformance/hostile-agent.ts'
import { hostileAgentRules, hostileClientRules } from '../../src/conformance/index.ts'
import { BEHAVIOURS, type Behaviour, type Reaction, type Suite } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'
import { allSuites } from '../kit/suites.ts'

const suites = await allSuites()

/** A request that each player answers at once, or all that it has to hear before it answers. */
const ASKED: Readonly<Record<string, object | readonly object[]>> = {
  'native@lines': { type: 'turn-start', turn: 't', input: 'hi' },
  'zene@host': { request_id: 'r', session_id: 's', prompt: 'hi' },
  'zene@stream': { request_id: 'r', session_id: 's', prompt: 'hi' },
  'zot@rpc': { id: '1', type: 'prompt', message: 'hi' },
  'openharness@v1': { request_id: 'r', request: {} },
  'agentproc@0.4': { type: 'turn', message: 'hi' },
  'qwen@rfc': { messages: [] },
  'qwen-code@code': { type: 'user' },
  'openai@chat': { messages: [{ role: 'user', content: 'hi' }] },
  'openai@responses': { input: 'hi' },
  'acp@v1': [
    { jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: 'session-conformance', prompt: [] } },
    { jsonrpc: '2.0', id: 'conformance-permission', result: { outcome: { outcome: 'cancelled' } } },
    { jsonrpc: '2.0', id: 'conformance-unknown', error: { code: -32601, message: 'Method not found' } },
  ],
  'anthropic@messages': { max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] },
}
const ARGV: Readonly<Record<string, readonly string[]>> = { 'zene@stream': ['host', '--single-request', 'false'] }

/** What a stand-in does at its start and with a request. */
function played(name: string, suite: Suite): readonly Reaction[] {
  const transport = suite.http ? 'http' : 'stdio'
  const request = { method: 'POST', path: '/', headers: {} }
  const player = suite.play({ transport, argv: ARGV[name] ?? [], env: { AGENT_STREAMING: '1' }, request })
  const asked = [ASKED[name] ?? []].flat()
  const heard = asked.flatMap((one) => player.line(seenLine(JSON.stringify(one), true, 0)))
  return [...(player.open?.() ?? []), ...heard]
}

test('every behaviour has a row, and every row a name', () => {
  const rows = new Set([...Object.keys(BAD_ANSWERS), ...Object.keys(BAD_REQUESTS)])
  expect([...rows].sort()).toEqual([...BEHAVIOURS].sort())
})

describe.each(suites)('%s', (name, suite) => {
  const transport = suite.http ? 'http' : 'stdio'
  const tried = hostileClientRules(suite).map((rule) => rule.name)
  const own = tried.filter((one) => (BAD_ANSWERS[one]!.only ?? transport) === transport && one !== 'answers-well')

  test.each(own)('does something else than a good answer: %s', (behaviour) => {
    expect(played(name, misbehaving(suite, behaviour))).not.toEqual(played(name, misbehaving(suite, 'answers-well')))
  })

  test('says all of a good answer', () => {
    const text = (reactions: readonly Reaction[]): string =>
      reactions.map((one) => ('write' in one ? one.write : '')).join('')
    expect(text(played(name, misbehaving(suite, 'answers-well')))).toBe(text(played(name, suite)))
    expect(demandOn('ids-are-0', suite.hostile)).toBeUndefined()
  })

  test('asks for a turn under every behaviour, and knows its end', () => {
    const { turns } = suite.hostile
    const rules = hostileAgentRules(suite)
    expect(rules[0]!.name).toBe('answers-well')
    const seen = rules.map((rule) => hostileScenario(rule.name as Behaviour, suite))
    const good = JSON.stringify(seen[0]!.steps)
    expect(seen.slice(1).filter(({ steps }) => JSON.stringify(steps) === good && !turns.env)).toEqual([])
    const ends = [{ type: 'done' }, { type: 'turn-end', turn: 't' }, { request_id: 'r' }, { type: 'result' }]
    const more = [{ type: 'error' }, { response: {} }, { event: 'Finished', type: 'x-qwen-session-event' }]
    const models = [
      ...[{ choices: [] }, { output: [] }, { type: 'message' }, { error: {} }, { type: 'error', error: {} }],
      { jsonrpc: '2.0', id: 't', result: {} },
    ]
    const refused = [
      { response: { error: { code: 'invalid_request' } } },
      { type: 'response', command: 'prompt', success: false },
    ]
    const known = [...ends, ...more, ...models, ...refused].map((said) => turns.endOf(said))
    expect(known.filter((id) => id !== undefined).length > 0).toBe(turns.request !== undefined)
    expect(turns.endOf({ type: 'nothing' })).toBeUndefined()
  })
})

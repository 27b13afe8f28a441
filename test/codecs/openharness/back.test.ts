import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import type { Call } from '../../../src/contract/index.ts'
import { type ErrorCode, fault, type TurnEvent, type TurnStart } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'
import { validRequest } from './kit.ts'

function start(more: Partial<TurnStart> & { ext?: object; session?: object } = {}, options: object = {}): BackDrive {
  const drive = driveBack(codec, { options })
  drive.start('hi', more as Partial<TurnStart>)
  return drive
}

function callOf(drive: BackDrive, index = -1): Extract<Call, { kind: 'http' }> {
  return drive.calls.at(index) as Extract<Call, { kind: 'http' }>
}

function requestOf(drive: BackDrive, index = -1): Record<string, unknown> & { request: { context: object } } {
  return validRequest(callOf(drive, index).body) as Record<string, unknown> & { request: { context: object } }
}

/** Answers the open call with this status and body. */
function answer(drive: BackDrive, text: string | object, status = 200): BackDrive {
  drive.link.decodeHead?.({ status, headers: {} })
  drive.feed(typeof text === 'string' ? text : JSON.stringify(text))
  drive.link.decodeEnd({ why: 'closed' })
  return drive
}

function envelope(directives: unknown, response: object = {}, top: object = {}): object {
  return {
    protocol_version: '1.0.0',
    ...top,
    response: { status: 'success', action_directives: directives, ...response },
  }
}

const say = (text: string, more: object = {}): object => ({ action_type: 'render_message', payload: { text }, ...more })
const ends = (drive: BackDrive): TurnEvent[] => drive.events.filter(({ type }) => type === 'turn-end') as TurnEvent[]
const endOf = (drive: BackDrive): TurnEvent & { type: 'turn-end' } => {
  const found = ends(drive)
  expect(found).toHaveLength(1)
  return found[0] as TurnEvent & { type: 'turn-end' }
}

describe('requests', () => {
  test('one call, with the turn as its id', () => {
    const drive = start()
    expect(drive.calls).toEqual([
      {
        call: 'req_t1',
        kind: 'http',
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'x-request-id': 'req_t1' },
        body: expect.any(String),
        answer: 'body',
      },
    ])
    expect(requestOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'req_t1',
      request: { context: { session_id: 's1', user_intent: 'hi', shell: { shell_kind: 'turnpike' } } },
    })
  })

  test('what the turn has goes out', () => {
    const drive = start(
      {
        session: { id: 's1', conversation: 'c1', bound: 'theirs', continuation: 'tok' },
        options: { locale: 'zh-CN', systemPrompt: 'Be kind.' },
        askedCapabilities: ['com.example.x', 'openharness.streaming'],
        environment: { privacy: 'secret', json: '{"privacy_tier":"odd","n":1.50}' },
        input: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b\u2028c' },
          { type: 'image', url: 'https://h/i', mime: 'image/png' },
          { type: 'file', ref: 'r', url: 'data:x,y' },
          { type: 'file', base64: 'AAAA' },
        ],
      },
      { streaming: true, tenant: 't9', shell_kind: 'kiosk' },
    )
    expect(callOf(drive).headers?.['accept']).toBe('text/event-stream, application/json')
    expect(callOf(drive).body).toContain('"environment_state":{"privacy_tier":"secret","n":1.50}')
    expect(requestOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'req_t1',
      capabilities: { 'com.example.x': true, 'openharness.streaming': true },
      request: {
        auth: { tenant_id: 't9' },
        context: {
          session_id: 'theirs',
          conversation_id: 'c1',
          user_intent: 'System instruction:\nBe kind.\n\nUser message:\na\nb\u2028c',
          continuation: { continuation_token: 'tok' },
          environment_state: { privacy_tier: 'secret', n: 1.5 },
          attachments: [{ uri: 'https://h/i', mime_type: 'image/png' }, { ref_id: 'r' }],
          shell: { shell_kind: 'kiosk', locale: 'zh-CN' },
        },
      },
    })
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.file', why: 'policy', count: 1 },
    ])
  })

  test("a shell's own fields come back out", () => {
    const json = JSON.stringify({
      correlation_id: 'k1',
      capabilities: { x: { v: 2 } },
      request: {
        extensions: { e: 1 },
        context: {
          task_hint: { sop_id: 's' },
          continuation: { run_id: 'r' },
          attachments: [{ asset_id: 'a' }],
          shell: { shell_kind: 'tv', timezone: 'UTC' },
          extensions: { f: 1 },
          later: 1,
        },
        more: 1,
      },
      future: 1,
    })
    const drive = start(
      {
        ext: { protocol: 'openharness', json },
        askedCapabilities: ['x'],
        input: [{ type: 'file', ref: 'a' }],
        session: undefined,
      },
      { shell_kind: 'kiosk' },
    )
    expect(callOf(drive).headers).toMatchObject({ 'x-correlation-id': 'k1' })
    expect(requestOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'req_t1',
      correlation_id: 'k1',
      capabilities: { x: { v: 2 } },
      request: {
        context: {
          task_hint: { sop_id: 's' },
          continuation: { run_id: 'r' },
          attachments: [{ asset_id: 'a' }],
          shell: { shell_kind: 'tv', timezone: 'UTC' },
          extensions: { f: 1 },
          later: 1,
        },
        extensions: { e: 1 },
        more: 1,
      },
      future: 1,
    })
    expect(drive.losses).toEqual([])
  })

  test('ext of another protocol is a loss', () => {
    expect(start({ ext: { protocol: 'zot', json: '{"a":1}' } }).losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test.each([{ streaming: 'yes' }, { tenant: '' }, { shell_kind: 3 }])('options %j are refused', (options) => {
    expect(() => driveBack(codec, { options })).toThrow('bad options')
  })
})

describe('whole answers', () => {
  test('text and directives, in order', () => {
    const drive = start()
    answer(drive, envelope([say('one'), { action_type: 'render_ui', payload: { n: 1 } }, { action_type: 'noop' }]))
    expect(drive.events).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'message-end', turn: 't1', message: 'b1', parts: [{ type: 'text', text: 'one' }] },
      { type: 'directive', turn: 't1', action: 'render_ui', json: '{"action_type":"render_ui","payload":{"n":1}}' },
      { type: 'directive', turn: 't1', action: 'noop', json: '{"action_type":"noop"}' },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test('a message with references, and one without text', () => {
    const drive = start()
    const odd = { action_type: 'render_message', payload: { markdown: 'x' } }
    const attached = { action_type: 'render_message', payload: { text: 't', attachments: [{ uri: 'u' }, {}] } }
    answer(drive, envelope([attached, odd]))
    expect(drive.events.slice(2, 4)).toEqual([
      {
        type: 'message-end',
        turn: 't1',
        message: 'b1',
        parts: [
          { type: 'text', text: 't' },
          { type: 'file', url: 'u' },
        ],
      },
      { type: 'directive', turn: 't1', action: 'render_message', json: JSON.stringify(odd) },
    ])
  })

  test.each<[string, unknown[], boolean]>([
    ['one plain message', [say('a', { priority: 'normal', risk_tier: 'safe' })], false],
    ['a message behind a directive', [{ action_type: 'noop' }, say('a')], true],
    [
      'a message with references',
      [{ action_type: 'render_message', payload: { text: 'a', attachments: [{ uri: 'u' }] } }],
      false,
    ],
    [
      'a message with an odd reference',
      [{ action_type: 'render_message', payload: { text: 'a', attachments: [{}] } }],
      true,
    ],
    ['two messages', [say('a'), say('b')], true],
    ['a loud message', [say('a', { priority: 'high' })], true],
    ['a risky message', [say('a', { risk_tier: 'caution' })], true],
    ['a message with more', [say('a', { deadline_ms: 1 })], true],
    ['a message with more payload', [{ action_type: 'render_message', payload: { text: 'a', format: 'md' } }], true],
  ])('%s keeps its list for the same protocol: %#', (_what, directives, kept) => {
    const drive = answer(start(), envelope(directives))
    expect(endOf(drive).ext).toEqual(
      kept
        ? { protocol: 'openharness', json: JSON.stringify({ response: { action_directives: directives } }) }
        : undefined,
    )
  })

  test('what the model has no place for rides in ext', () => {
    const top = {
      request_id: 42,
      supported_protocol_versions: ['1.0.0'],
      supported_capabilities: { a: { v: 1 } },
      capability_denials: [{ capability: 'b' }],
      future: [],
    }
    const response = { engine_latency_ms: 0.5, error: null, more: 1, extensions: { x: 1, 'urn:turnpike:turn': 5 } }
    const drive = answer(start(), envelope([say('a')], response, top))
    expect(JSON.parse(endOf(drive).ext!.json)).toEqual({
      supported_capabilities: { a: { v: 1 } },
      capability_denials: [{ capability: 'b' }],
      response: { extensions: { x: 1 }, more: 1 },
      future: [],
    })
    const bare = answer(start(), envelope(null, {}, { supported_capabilities: {}, capability_denials: [] }))
    expect(endOf(bare).ext).toBeUndefined()
  })

  test.each([undefined, null, []])('no directives (%j) are a success without text', (directives) => {
    const drive = answer(start(), envelope(directives))
    expect(drive.events.slice(1)).toEqual([
      {
        type: 'notice',
        turn: 't1',
        severity: 'info',
        code: 'empty-answer',
        text: 'The engine answered without text.',
      },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test('another gateway tells its usage, notices, losses and session', () => {
    const turn = {
      session: 'theirs',
      stop: 'max-tokens',
      usage: { input_tokens: 2, output_tokens: 'x', total_tokens: -1, estimated: true },
      notices: [{ severity: 'info', code: 'c', text: 't' }, 5],
      loss: [{ kind: 'dropped', item: 'plan', why: 'no-place', count: 2 }, { kind: 'odd' }],
    }
    const drive = answer(start(), envelope([say('a')], { extensions: { 'urn:turnpike:turn': turn } }))
    expect(drive.events.slice(3)).toEqual([
      { type: 'session-bound', turn: null, agentSession: 'theirs' },
      { type: 'notice', turn: 't1', severity: 'info', code: 'c', text: 't' },
      { type: 'usage', turn: 't1', scope: 'turn', usage: { input: 2 }, estimated: true },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'max-tokens' },
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'plan', why: 'no-place', count: 2 },
      { kind: 'dropped', item: 'usage.output', field: 'output_tokens', why: 'precision', count: 1 },
      { kind: 'dropped', item: 'usage.total', field: 'total_tokens', why: 'precision', count: 1 },
    ])
  })

  test.each([{ usage: { input_tokens: 0, total_tokens: 0 } }, { usage: 'much' }, { session: 's1' }])(
    'nothing is made of %j',
    (turn) => {
      const drive = answer(start(), envelope([say('a')], { extensions: { 'urn:turnpike:turn': turn } }))
      expect(drive.events.map(({ type }) => type)).toEqual(['turn-started', 'message-start', 'message-end', 'turn-end'])
    },
  )

  test('a second turn of the link starts afresh', () => {
    const drive = answer(start(), envelope([say('a')]))
    drive.start('again', { turn: 't2' })
    answer(drive, envelope([say('b')]))
    expect(ends(drive).map(({ turn }) => turn)).toEqual(['t1', 't2'])
    expect(requestOf(drive)['request_id']).toBe('req_t2')
  })
})

describe('errors', () => {
  const error = (code?: string, more: object = {}): object => ({
    protocol_version: '1.0.0',
    response: { status: 'error', ...(code !== undefined && { error: { code, ...more } }) },
  })

  test.each(Object.entries(codec.errors))('%s by its code', (canonical, { code, http }) => {
    const drive = answer(start(), error(code, { message: 'Safe.' }), http)
    // What is wrong with a key is wrong with the gateway's: no client can bring another one.
    const ours = canonical === 'unauthenticated' || canonical === 'forbidden'
    const shared: Record<string, ErrorCode> = {
      'session-not-found': 'agent-not-found',
      'idempotency-conflict': 'invalid-request',
    }
    const expected = ours ? 'provider-auth' : (shared[canonical] ?? canonical)
    const ext = { protocol: 'openharness', json: JSON.stringify({ code }) }
    const why = fault(expected as ErrorCode, 'Safe.', ours ? { ext } : undefined)
    const cancelled = canonical === 'cancelled'
    expect(endOf(drive)).toEqual({
      type: 'turn-end',
      turn: 't1',
      outcome: cancelled ? 'cancelled' : 'failed',
      stop: cancelled ? 'aborted' : 'error',
      fault: why,
    })
  })

  test.each<[number, ErrorCode]>([
    [200, 'agent-crashed'],
    [400, 'invalid-request'],
    [401, 'provider-auth'],
    [404, 'agent-unavailable'],
    [409, 'session-busy'],
    [429, 'overloaded'],
    [500, 'agent-crashed'],
    [503, 'agent-unavailable'],
    [504, 'timeout'],
  ])('a code of its own under HTTP %i is %s', (status, code) => {
    const drive = answer(
      start(),
      error('sop_locked', { message: 'M', retryable: true, details: { n: 1 }, x: 2 }),
      status,
    )
    expect(endOf(drive).fault).toEqual({
      code,
      message: 'M',
      retryable: true,
      ext: { protocol: 'openharness', json: '{"code":"sop_locked","details":{"n":1},"x":2}' },
    })
  })

  test("nothing of a bridge's own fault but its code goes on", () => {
    const secret = 'OpenClaw HTTP 500: {"secret":"tok-123"}'
    const drive = answer(start(), error('bridge_error', { message: secret, details: { secret } }), 500)
    expect(endOf(drive).fault).toEqual({
      code: 'provider-down',
      message: 'The engine reported a fault of its own (bridge_error); its log says more.',
      retryable: true,
      ext: { protocol: 'openharness', json: '{"code":"bridge_error"}' },
    })
    expect(JSON.stringify(drive.events)).not.toContain('tok-123')
  })

  test('an error without words', () => {
    const message = 'The engine answered with the error status (HTTP 503) and no message; its log says more.'
    expect(endOf(answer(start(), error(), 503)).fault).toEqual(fault('agent-unavailable', message))
    const list = { protocol_version: '1.0.0', response: { status: 'error', error: [1] } }
    expect(endOf(answer(start(), list, 503)).fault).toEqual(fault('agent-unavailable', message))
    expect(endOf(answer(start(), error('engine_timeout'), 504)).fault?.message).toContain('error engine_timeout')
    expect(endOf(answer(start(), error(''), 500)).fault?.message).toContain('error status')
  })

  test('what was said before the error is kept, and it asks nothing', () => {
    const approval = { action_type: 'request_approval', payload: { approval_id: 'a', options: ['y'] } }
    const drive = answer(start(), {
      protocol_version: '1.0.0',
      response: { status: 'error', action_directives: [say('half'), approval], error: { code: 'internal' } },
    })
    expect(drive.events.map(({ type }) => type)).toEqual([
      'turn-started',
      'message-start',
      'message-end',
      'directive',
      'turn-end',
    ])
  })
})

describe('answers that are none', () => {
  test.each<[string, string | object, number, string]>([
    ['nothing', '', 200, 'is empty'],
    ['HTML', '<!DOCTYPE HTML><p>secret', 501, 'is not a JSON object, or is cut short'],
    ['a cut one', '{"protocol_version":"1.0.0","response":{"sta', 200, 'is not a JSON object, or is cut short'],
    ['a list', '[1,2]', 200, 'is not a JSON object, or is cut short'],
    ['a plain error', { error: 'bad request' }, 400, 'has no response'],
    ['no version', { response: { status: 'success' } }, 200, 'has no protocol_version of the line 1.x'],
    ['version 2', { protocol_version: '2.0.0', response: { status: 'success' } }, 200, 'has no protocol_version'],
    ['response null', { protocol_version: '1.0.0', response: null }, 200, 'is wrong in response'],
    ['no status', { protocol_version: '1.0.0', response: {} }, 200, 'is wrong in response.status'],
    ['an odd status', { protocol_version: '1.0.0', response: { status: 'ok' } }, 200, 'is wrong in response.status'],
    ['directives as text', envelope('hi'), 200, 'is wrong in response.action_directives'],
    ['a directive without type', envelope([say('a'), {}]), 200, 'is wrong in response.action_directives.1.action_type'],
    ['a directive that is a list', envelope([[]]), 200, 'is wrong in response.action_directives.0'],
    ['success under 500', envelope([say('a')]), 500, 'says success under a failing status'],
  ])('%s is a protocol violation', (_what, text, status, problem) => {
    const drive = answer(start(), text, status)
    expect(drive.events).toHaveLength(1)
    const { outcome, fault: why } = endOf(drive)
    expect(outcome).toBe('failed')
    expect(why).toMatchObject({ code: 'protocol-violation', retryable: false })
    expect(why?.message).toContain(`(HTTP ${status}) ${problem}`)
    expect(why?.message).not.toContain('secret')
  })

  test.each<[number, ErrorCode]>([
    [400, 'protocol-violation'],
    [401, 'provider-auth'],
    [403, 'provider-auth'],
    [404, 'agent-unavailable'],
    [405, 'agent-unavailable'],
    [408, 'timeout'],
    [409, 'protocol-violation'],
    [413, 'payload-too-large'],
    [415, 'protocol-violation'],
    [422, 'protocol-violation'],
    [425, 'protocol-violation'],
    [429, 'overloaded'],
    [499, 'protocol-violation'],
    [500, 'agent-crashed'],
    [502, 'agent-unavailable'],
    [503, 'agent-unavailable'],
    [504, 'timeout'],
    [507, 'protocol-violation'],
  ])('under HTTP %i without an envelope: %s', (status, code) => {
    for (const text of ['', '<p>no', '{"error":"no"}']) {
      const { outcome, fault: why } = endOf(answer(start(), text, status))
      expect([outcome, why?.code, why?.message.includes(`(HTTP ${status})`)]).toEqual(['failed', code, true])
    }
  })

  test.each([408, 425, 429, 502, 503, 504])('HTTP %i may pass', (status) => {
    expect(endOf(answer(start(), '<html>', status)).fault?.retryable).toBe(true)
  })

  test.each([
    ['timeout', 'timeout'],
    ['failed', 'agent-unavailable'],
  ] as const)('a call that ended by %s', (why, code) => {
    const drive = start()
    drive.link.decodeEnd({ why })
    expect(endOf(drive).fault?.code).toBe(code)
    drive.link.decodeEnd({ why })
    drive.feed('{}')
    expect(ends(drive)).toHaveLength(1)
  })

  test('a complete body at a time limit is the answer, half of one is not', () => {
    const body = JSON.stringify(envelope([say('a')]))
    const outcomes = [body, body.slice(0, -1), ''].map((inHand) => {
      const drive = start()
      drive.feed(inHand)
      drive.link.decodeEnd({ why: 'timeout', fault: fault('timeout', 'Late.') })
      return [endOf(drive).outcome, endOf(drive).fault?.message]
    })
    expect(outcomes).toEqual([
      ['completed', undefined],
      ['failed', 'Late.'],
      ['failed', 'Late.'],
    ])
  })

  test('a complete body on a broken connection is no answer', () => {
    const drive = start()
    drive.feed(JSON.stringify(envelope([say('a')])))
    drive.link.decodeEnd({ why: 'failed', fault: fault('agent-crashed', 'Reset.') })
    expect(endOf(drive).fault?.message).toBe('Reset.')
  })
})

describe('cancel', () => {
  test('ends the turn at once, whatever comes then', () => {
    const drive = start()
    drive.link.encode({ exchange: 'x2', type: 'turn-cancel', target: { turn: 't1' } })
    expect(drive.events).toEqual([
      {
        type: 'turn-end',
        turn: 't1',
        outcome: 'cancelled',
        stop: 'aborted',
        fault: fault('cancelled', 'The turn was cancelled.'),
      },
    ])
    answer(drive, envelope([say('late')]))
    drive.link.encode({ exchange: 'x3', type: 'turn-cancel', target: { turn: 't1' } })
    expect(drive.events).toHaveLength(1)
  })

  test('a call that the gateway stopped is a cancelled turn', () => {
    const drive = start()
    drive.link.decodeEnd({ why: 'cancelled' })
    expect(endOf(drive).outcome).toBe('cancelled')
  })

  test('without a turn nothing happens', () => {
    const drive = driveBack(codec)
    drive.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    drive.link.encode({ exchange: 'x', type: 'session-clear' })
    drive.link.encode({ exchange: 'x', type: 'ask-reply', target: 'running', reply: { kind: 'input', values: '{}' } })
    drive.link.decodeHead?.({ status: 200, headers: {} })
    drive.feed('{}')
    drive.link.decodeEnd({ why: 'closed' })
    expect(drive.events).toEqual([])
  })
})

describe('approvals', () => {
  const approval = (id: string, more: object = {}): object => ({
    action_type: 'request_approval',
    requires_user_approval: true,
    payload: {
      approval_id: id,
      message: 'Sure?',
      options: ['approve_always', { id: 'later', label: 'Later' }, { id: 'x', kind: 'allow', scope: 'session' }],
      continuation: { run_id: 'r1', continuation_token: `tok-${id}` },
      ...more,
    },
  })
  const reply = (drive: BackDrive, ask: string | undefined, option: string, more: object = {}): void =>
    drive.link.encode({
      exchange: 'x9',
      type: 'ask-reply',
      target: 'running',
      ...(ask !== undefined && { ask }),
      reply: { kind: 'approval', option, ...more },
    })

  test('an answer that asks waits, and the reply is the next request', () => {
    const ext = {
      protocol: 'openharness',
      json: '{"request":{"context":{"task_hint":{"sop_id":"s"},"extensions":{"f":1}}}}',
    }
    const drive = start({ ext })
    const top = { supported_capabilities: { a: true } }
    answer(drive, envelope([say('Before.'), approval('a1', { tool: 'bash', args: { n: 1 } })], {}, top))
    expect(drive.events).toEqual([
      {
        type: 'turn-started',
        turn: 't1',
        ext: { protocol: 'openharness', json: '{"supported_capabilities":{"a":true}}' },
      },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'message-end', turn: 't1', message: 'b1', parts: [{ type: 'text', text: 'Before.' }] },
      {
        type: 'ask',
        turn: 't1',
        ask: 'a1',
        question: {
          kind: 'approval',
          name: 'bash',
          args: '{"n":1}',
          description: 'Sure?',
          options: [
            { id: 'approve_always', kind: 'allow', scope: 'always' },
            { id: 'later', kind: 'deny', scope: 'once', label: 'Later' },
            { id: 'x', kind: 'allow', scope: 'session' },
          ],
          editable: true,
        },
      },
    ])
    reply(drive, undefined, 'x')
    reply(drive, 'unknown', 'x')
    expect(drive.calls).toHaveLength(1)
    reply(drive, 'a1', 'x', { edited: '{"n":1.50}', message: 'ok', stopTurn: true })
    expect(callOf(drive).call).toBe('req_t1_2')
    expect(callOf(drive).body).toContain('"args":{"n":1.50}')
    expect(requestOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'req_t1_2',
      request: {
        context: {
          session_id: 's1',
          user_intent: 'x',
          continuation: { run_id: 'r1', continuation_token: 'tok-a1' },
          shell: { shell_kind: 'turnpike' },
          extensions: {
            'urn:turnpike:approval': {
              approval_id: 'a1',
              option: 'x',
              args: { n: 1.5 },
              message: 'ok',
              stop_turn: true,
            },
            f: 1,
          },
        },
      },
    })
    answer(drive, envelope([say('Done.')]))
    expect(drive.events.slice(4)).toEqual([
      { type: 'message-start', turn: 't1', message: 'b2', role: 'assistant' },
      { type: 'message-end', turn: 't1', message: 'b2', parts: [{ type: 'text', text: 'Done.' }] },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('what is streamed goes on in the next call where it stopped to ask', () => {
    const drive = start({}, { streaming: true })
    const event = (name: string, data: object): void => drive.feed({ event: name, data: JSON.stringify(data) })
    event('message_start', { message: 'm', role: 'assistant' })
    event('text_delta', { message: 'm', text: 'I would ' })
    event('tool_call', { tool: 'c', name: 'rm', args: {}, executor: 'agent' })
    event('response', envelope([say('I would '), approval('a1')]))
    reply(drive, 'a1', 'x')
    event('tool_end', { tool: 'c', status: 'ok' })
    event('text_delta', { message: 'm', text: 'and did.' })
    event('message_end', { message: 'm' })
    event('response', envelope([say('and did.')]))
    expect(drive.events.filter(({ type }) => type !== 'ask')).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'I would ' },
      { type: 'tool-call', turn: 't1', tool: 'b2', name: 'rm', args: '{}', executor: 'agent' },
      { type: 'tool-end', turn: 't1', tool: 'b2', status: 'ok', parts: [] },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'and did.' },
      { type: 'message-end', turn: 't1', message: 'b1' },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('an answer to an earlier question that the shell began with is not sent with the answer to this one', () => {
    const earlier = '{"urn:turnpike:approval":{"approval_id":"a0","option":"approve_always"},"f":1}'
    const drive = start({
      ext: { protocol: 'openharness', json: `{"request":{"context":{"extensions":${earlier}}}}` },
    })
    expect(callOf(drive).body).toContain(earlier)
    answer(drive, envelope([approval('a1')]))
    reply(drive, 'a1', 'later')
    expect(callOf(drive).body).toContain(
      '"extensions":{"urn:turnpike:approval":{"approval_id":"a1","option":"later"},"f":1}',
    )
  })

  test('defaults of a question', () => {
    const payload = { approval_id: 'a', options: ['deny_session'], continuation: { continuation_token: 't' } }
    const drive = answer(start(), envelope([{ action_type: 'request_approval', payload }]))
    expect(drive.events).toEqual([
      { type: 'turn-started', turn: 't1' },
      {
        type: 'ask',
        turn: 't1',
        ask: 'a',
        question: {
          kind: 'approval',
          name: 'request_approval',
          args: '{}',
          options: [{ id: 'deny_session', kind: 'deny', scope: 'session' }],
        },
      },
    ])
  })

  test.each([
    [['yes', 'no'], 'no'],
    [['yes'], 'deny'],
  ])('consent to other arguments than were shown is a refusal: %j', (options, option) => {
    const payload = { approval_id: 'a', options, continuation: { continuation_token: 't' } }
    const drive = answer(start(), envelope([{ action_type: 'request_approval', payload }]))
    reply(drive, 'a', 'yes', { edited: '{"n":1}' })
    expect(requestOf(drive)).toMatchObject({ request: { context: { user_intent: option } } })
    expect(callOf(drive).body).not.toContain('"args"')
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'ask-reply', field: 'edited', why: 'no-place', count: 1 }])
  })

  test.each([
    ['no continuation', { approval_id: 'a', options: ['y'] }],
    ['no token', { approval_id: 'a', options: ['y'], continuation: { run_id: 'r' } }],
    ['no options', { approval_id: 'a', options: [], continuation: { continuation_token: 't' } }],
    ['no id', { options: ['y'], continuation: { continuation_token: 't' } }],
  ])('a question with %s is a directive', (_what, payload) => {
    const drive = answer(start(), envelope([{ action_type: 'request_approval', payload }]))
    expect(drive.events.map(({ type }) => type)).toEqual(['turn-started', 'directive', 'notice', 'turn-end'])
  })

  test('several questions are answered one request after the other', () => {
    const drive = answer(start(), envelope([approval('a'), approval('a'), approval('b')]))
    expect(drive.events.slice(1).map((event) => event.type === 'ask' && event.ask)).toEqual(['a', 'b1', 'b'])
    reply(drive, 'b', 'x')
    reply(drive, 'a', 'x')
    expect(drive.calls).toHaveLength(2)
    answer(drive, envelope([]))
    expect(drive.calls).toHaveLength(3)
    answer(drive, envelope([say('so far')]))
    expect(ends(drive)).toEqual([])
    reply(drive, 'b1', 'x')
    answer(drive, envelope([{ action_type: 'noop' }, say('a')]))
    expect(endOf(drive).ext).toBeUndefined()
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'directive', why: 'too-narrow', count: 1, field: 'action_directives' },
    ])
  })

  test('a cancel while it waits ends the turn', () => {
    const drive = answer(start(), envelope([approval('a')]))
    drive.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    expect(endOf(drive).outcome).toBe('cancelled')
    reply(drive, 'a', 'x')
    expect(drive.calls).toHaveLength(1)
  })

  /** A link whose owner reacts while it is told of the ask. */
  function reacting(react: (drive: BackDrive) => void): BackDrive {
    const drive = start()
    const push = drive.events.push.bind(drive.events)
    drive.events.push = (...events) => {
      const length = push(...events)
      if (events.some((event) => event.type === 'ask')) react(drive)
      return length
    }
    return answer(drive, envelope([approval('a'), say('after')]))
  }

  test('a reply given at once goes out behind what the answer still says', () => {
    const drive = reacting((link) => reply(link, 'a', 'x'))
    expect(drive.events.map(({ type }) => type)).toEqual(['turn-started', 'ask', 'message-start', 'message-end'])
    expect(drive.calls).toHaveLength(2)
    answer(drive, envelope([say('Done.')]))
    expect(endOf(drive).outcome).toBe('completed')
  })

  test('a cancel given at once is the last word', () => {
    const drive = reacting((link) => link.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' }))
    expect(drive.events.map(({ type }) => type)).toEqual(['turn-started', 'ask', 'turn-end'])
  })
})

describe('the streaming profile', () => {
  const frame = (event: string, data: unknown): { event: string; data: string } => ({
    event,
    data: JSON.stringify(data),
  })
  const closing = (...directives: unknown[]): { event: string; data: string } => frame('response', envelope(directives))

  test('events go before the closing envelope, which is not shown again', () => {
    const drive = start({}, { streaming: true })
    drive.feed(
      frame('message_start', { message: 'm', role: 'assistant' }),
      frame('text_delta', { message: 'm', text: 'Hi', lane: 'l' }),
      frame('directive', { action_type: 'noop' }),
      closing(say('Hi'), { action_type: 'noop' }),
      frame('text_delta', { message: 'm', text: 'late' }),
    )
    drive.link.decodeEnd({ why: 'closed' })
    expect(drive.events.map(({ type }) => type)).toEqual([
      'turn-started',
      'message-start',
      'text-delta',
      'directive',
      'turn-end',
    ])
    expect(drive.events[2]).toEqual({ type: 'text-delta', turn: 't1', message: 'b1', text: 'Hi', lane: 'l' })
  })

  test('a piece without the id of its message belongs to the one that has none', () => {
    const drive = start({}, { streaming: true })
    drive.feed(frame('message_start', { role: 'assistant' }), frame('text_delta', { message: null, text: 'Hi' }))
    drive.feed(frame('text_delta', { text: ' there' }), closing(say('Hi there')))
    const texts = drive.events.flatMap((event) => (event.type === 'text-delta' ? [[event.message, event.text]] : []))
    expect(texts).toEqual([
      ['b1', 'Hi'],
      ['b1', ' there'],
    ])
  })

  test('the id of a message may be a number, and nothing else', () => {
    const drive = start({}, { streaming: true })
    drive.feed(
      frame('message_start', { message: '5', role: 'assistant' }),
      frame('text_delta', { message: 5, text: 'a' }),
    )
    drive.feed(frame('text_delta', { message: { id: 5 }, text: 'b' }), closing(say('a')))
    const texts = drive.events.flatMap((event) => (event.type === 'text-delta' ? [[event.message, event.text]] : []))
    expect(texts).toEqual([['b1', 'a']])
    expect(drive.losses).toMatchObject([{ kind: 'unparsed', why: 'unknown' }])
  })

  test('the closing envelope ends the turn, however the call ends later', () => {
    const drive = start()
    drive.feed(closing(say('Hi')))
    expect(endOf(drive).outcome).toBe('completed')
    drive.link.decodeEnd({ why: 'failed', fault: fault('agent-crashed', 'Reset.') })
    expect(ends(drive)).toHaveLength(1)
  })

  test('an earlier call that lingers says nothing of the next one', () => {
    const drive = start({}, { streaming: true })
    const call = 'req_t1'
    const approval = {
      approval_id: 'ap-1',
      message: 'Sure?',
      options: ['allow', 'deny'],
      continuation: { run_id: 'r1', continuation_token: 'tok' },
    }
    drive.feed({ ...closing({ action_type: 'request_approval', payload: approval }), call })
    drive.link.encode({
      exchange: 'x',
      type: 'ask-reply',
      ask: 'ap-1',
      target: 'running',
      reply: { kind: 'approval', option: 'allow' },
    })
    expect(drive.calls).toHaveLength(2)
    drive.feed({ ...closing(say('late')), call }, { data: 'late', call })
    drive.link.decodeHead?.({ status: 500, headers: {}, call })
    drive.link.decodeEnd({ why: 'failed', fault: fault('agent-crashed', 'Reset.'), call })
    expect(ends(drive)).toHaveLength(0)
    drive.feed({ data: JSON.stringify(envelope([say('Hi')])), call: 'req_t1_2' })
    drive.link.decodeEnd({ why: 'closed', call: 'req_t1_2' })
    expect(endOf(drive).outcome).toBe('completed')
    expect(drive.events.filter(({ type }) => type === 'message-start')).toHaveLength(1)
  })

  test('what was not streamed is shown from the closing envelope', () => {
    const drive = start()
    drive.feed(frame('usage', { scope: 'turn' }), closing(say('Hi'), { action_type: 'noop' }))
    drive.link.decodeEnd({ why: 'timeout' })
    expect(drive.events.map(({ type }) => type)).toEqual([
      'turn-started',
      'message-start',
      'message-end',
      'directive',
      'turn-end',
    ])
    expect(endOf(drive).outcome).toBe('completed')
  })

  test('an event without a name is a body', () => {
    const drive = start()
    drive.feed({ data: JSON.stringify(envelope([say('a')])), call: 'req_t1' })
    drive.link.decodeEnd({ why: 'closed', call: 'req_t1' })
    expect(endOf(drive).outcome).toBe('completed')
  })

  test('a stream without its last event is cut short', () => {
    const drive = start()
    drive.feed(
      frame('message_start', { message: 'm', role: 'assistant' }),
      frame('text_delta', { message: 'm', text: 'H' }),
    )
    drive.link.decodeEnd({ why: 'closed' })
    expect(endOf(drive).fault?.message).toContain('is a stream that was cut short')
  })

  test('odd parts of tools and messages', () => {
    const drive = start()
    drive.feed(
      frame('tool_call', { tool: 'x', name: 'n', executor: 'agent' }),
      frame('tool_end', {
        tool: 'x',
        status: 'ok',
        parts: [{ type: 'data' }, { type: 'file' }, { type: 'file', ref_id: 'r' }],
      }),
      frame('tool_start', { tool: 'y', message: 'unknown', name: 'n', executor: 'agent' }),
      frame('tool_progress', { tool: 'y' }),
      frame('message_start', { message: 'm', role: 'assistant' }),
      frame('message_end', { message: 'm', attachments: [{}, { uri: 'u' }] }),
    )
    expect(drive.events.slice(1)).toEqual([
      { type: 'tool-call', turn: 't1', tool: 'b1', name: 'n', args: '{}', executor: 'agent' },
      {
        type: 'tool-end',
        turn: 't1',
        tool: 'b1',
        status: 'ok',
        parts: [
          { type: 'data', json: 'null' },
          { type: 'file', ref: 'r' },
        ],
      },
      { type: 'tool-start', turn: 't1', tool: 'b2', name: 'n', executor: 'agent' },
      { type: 'tool-progress', turn: 't1', tool: 'b2', parts: [] },
      { type: 'message-start', turn: 't1', message: 'b3', role: 'assistant' },
      { type: 'message-end', turn: 't1', message: 'b3', parts: [{ type: 'file', url: 'u' }] },
    ])
  })

  test('what cannot be read is counted', () => {
    const drive = start()
    drive.feed(
      { event: 'text_delta', data: 'no json' },
      frame('text_delta', { message: 'unknown', text: 'x' }),
      frame('reasoning_delta', { message: 1 }),
      frame('message_end', { message: 'unknown' }),
      frame('message_retract', { message: 'unknown', keep_text: true }),
      frame('tool_args_delta', { tool: 'unknown', text: '' }),
      frame('tool_progress', { tool: 'unknown', parts: [] }),
      frame('tool_end', { tool: 'unknown', status: 'ok', parts: [] }),
      frame('tool_start', { tool: 5 }),
      frame('notice', [1]),
      frame('constructor', { a: 1.5 }),
      { event: 'later', data: 'no json' },
    )
    expect(drive.losses.map(({ kind, item, field }) => [kind, item, field])).toEqual([
      ['unparsed', 'text-delta', 'text_delta'],
      ['unparsed', 'text-delta', 'text_delta'],
      ['unparsed', 'reasoning-delta', 'reasoning_delta'],
      ['unparsed', 'message-end', 'message_end'],
      ['unparsed', 'message-retract', 'message_retract'],
      ['unparsed', 'tool-args-delta', 'tool_args_delta'],
      ['unparsed', 'tool-progress', 'tool_progress'],
      ['unparsed', 'tool-end', 'tool_end'],
      ['unparsed', 'tool-start', 'tool_start'],
      ['unparsed', 'notice', 'notice'],
    ])
    expect(drive.events.slice(1)).toEqual([
      { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"constructor","data":{"a":1.5}}' },
      { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"later","data":"no json"}' },
    ])
  })
})

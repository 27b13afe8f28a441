import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import { type ErrorCode, fault, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'
import { answerOf, ask, body, HTTP } from './kit.ts'

const accepted: TurnEvent = { type: 'turn-accepted', turn: 't1', how: 'new', session: 's1' }
const ended: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' }

function message(text: string, more: object = {}): TurnEvent[] {
  return [
    { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant', ...more },
    { type: 'message-end', turn: 't1', message: 'm1', parts: [{ type: 'text', text }] },
  ]
}

test('an ext of its own that is no object is none', () => {
  const drive = ask(body({ user_intent: 'Hello' }))
  drive.play([accepted, { ...ended, ext: { protocol: 'openharness', json: '7' } }])
  expect(answerOf(drive)).toMatchObject({ response: { status: 'success' } })
  expect(drive.losses.filter(({ item }) => item === 'ext')).toEqual([])
})

describe('requests', () => {
  test('the minimal request becomes a turn', () => {
    const drive = ask(body({ user_intent: 'Hello' }))
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        turn: 'f2',
        type: 'turn-start',
        task: 'prompt',
        session: {},
        input: [{ type: 'text', text: 'Hello' }],
        options: {},
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'whole',
      framing: 'body',
      headers: {},
      onDisconnect: 'cancel',
      asks: 'next-request',
    })
  })

  test('one wire is one envelope: a second one is not read', () => {
    const drive = ask(body({ user_intent: 'Hello' }))
    drive.link.decode(body({ user_intent: 'And again' }))
    expect(drive.commands).toHaveLength(1)
  })

  test('every field of a full request arrives', () => {
    const context = {
      session_id: 's',
      conversation_id: 'c',
      user_intent: 'Go on.',
      task_hint: { plugin_id: 'helper', sop_id: 'sop', n: 1.0 },
      continuation: { run_id: 'r', continuation_token: 'theirs' },
      shell: { shell_kind: 'tv', shell_version: '2', locale: 'de-DE', timezone: 'Europe/Berlin' },
      attachments: [
        { ref_id: 'a', mime_type: 'image/png', filename: 'a.png', size_bytes: 3 },
        { uri: 'https://h/b', mime_type: 'audio/ogg' },
        { asset_id: 'as' },
        { filename: 'nowhere' },
      ],
      environment_state: { privacy_tier: 'public', os: 'Linux' },
      extensions: { 'com.example': { foo: 1 } },
      later: true,
    }
    const drive = ask(
      JSON.stringify({
        protocol_version: '1.4.0-rc.1',
        request_id: 'q1',
        correlation_id: 'k1',
        capabilities: { 'com.example.x': { v: 2 }, 'openharness.ui.approval': true, off: false, none: null, '': true },
        request: {
          auth: { tenant_id: 't', credential_ref: 'c', session_id: 'other', token: 'secret' },
          context,
          extensions: { 'com.example.r': 1 },
          more: [1],
        },
        future: { a: 1 },
      }),
    )
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        turn: 'f2',
        type: 'turn-start',
        task: 'prompt',
        request: 'q1',
        once: {
          key: 'q1',
          duplicate: 'join',
          replay: 'undelivered',
          holds: 'running',
          incidental: ['correlation_id'],
        },
        agent: 'helper',
        session: { id: 's', conversation: 'c', continuation: 'theirs' },
        input: [
          { type: 'text', text: 'Go on.' },
          { type: 'image', ref: 'a', mime: 'image/png', name: 'a.png', bytes: 3 },
          { type: 'audio', url: 'https://h/b', mime: 'audio/ogg' },
          { type: 'file', ref: 'as' },
        ],
        askedCapabilities: ['com.example.x', 'openharness.ui.approval'],
        environment: { privacy: 'public', json: '{"privacy_tier":"public","os":"Linux"}' },
        options: { locale: 'de-DE' },
        ext: {
          protocol: 'openharness',
          json: JSON.stringify({
            correlation_id: 'k1',
            capabilities: {
              'com.example.x': { v: 2 },
              'openharness.ui.approval': true,
              off: false,
              none: null,
              '': true,
            },
            request: {
              extensions: { 'com.example.r': 1 },
              context: {
                task_hint: context.task_hint,
                continuation: context.continuation,
                attachments: context.attachments,
                shell: { shell_kind: 'tv', shell_version: '2', timezone: 'Europe/Berlin' },
                extensions: context.extensions,
                later: true,
              },
              more: [1],
            },
            future: { a: 1 },
          }),
        },
      },
    ])
    expect(drive.answers.get('f1')?.headers).toEqual({ 'x-request-id': 'q1', 'x-correlation-id': 'k1' })
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', field: 'auth', why: 'policy', count: 1 }])
    expect(JSON.stringify(drive.commands)).not.toContain('secret')
  })

  test('null for capabilities, context and attachments reads as absent', () => {
    const drive = ask(body({ user_intent: 'x', attachments: null }, { capabilities: null }))
    expect(drive.commands).toHaveLength(1)
    const none = ask('{"protocol_version":"1.0.0","request":{"context":null}}')
    expect(none.faults[0]?.fault.message).toContain('send a user_intent')
  })

  test.each([
    ['no intent', {}],
    ['a blank intent', { user_intent: ' ' }],
  ])('surroundings are a request, with %s', (_name, intent) => {
    const surroundings = { privacy_tier: 'public', screen: 'opened' }
    const drive = ask(body({ ...intent, environment_state: surroundings }, { request_id: 'q' }))
    expect(drive.faults).toEqual([])
    expect(drive.commands).toMatchObject([
      {
        type: 'turn-start',
        environment: { privacy: 'public', json: '{"privacy_tier":"public","screen":"opened"}' },
      },
    ])
  })

  test('a structured intent travels as its own text', () => {
    const drive = ask('{"protocol_version":"1.0.0","request":{"context":{"user_intent":{"goal":1.50}}}}')
    expect(drive.commands[0]).toMatchObject({ input: [{ type: 'text', text: '{"goal":1.50}' }] })
  })

  test.each([
    ['attachments', { attachments: [{ ref_id: 'a' }] }, [{ type: 'file', ref: 'a' }]],
    ['a task hint', { task_hint: { sop_id: 's' } }, []],
    ['a continuation', { continuation: { run_id: 'r' } }, []],
  ])('%s alone is a request', (_what, context, input) => {
    expect(ask(body(context)).commands[0]).toMatchObject({ type: 'turn-start', input })
  })

  test('the session of auth is used when the context names none, and blank ids are none', () => {
    const text = JSON.stringify({
      protocol_version: '1.0.0',
      request: {
        auth: { session_id: 'from-auth' },
        context: {
          session_id: '',
          conversation_id: '',
          user_intent: 'x',
          shell: { locale: '' },
          task_hint: { plugin_id: '' },
        },
      },
    })
    expect(ask(text).commands[0]).toMatchObject({ session: { id: 'from-auth' }, options: {} })
    expect(ask(text).commands[0]).not.toHaveProperty('agent')
  })

  test.each([
    ['public', 'public'],
    ['restricted', 'restricted'],
    ['secret', 'secret'],
    ['top', 'secret'],
    [7, 'secret'],
    [undefined, 'restricted'],
  ])('privacy tier %s counts as %s', (privacy_tier, privacy) => {
    const drive = ask(body({ user_intent: 'x', environment_state: { privacy_tier, os: 'L' } }))
    expect(drive.commands[0]).toMatchObject({ environment: { privacy } })
  })

  test('ids come from the headers when the body has none, and go back in both', () => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const drive = ask(body({ user_intent: 'x' }), {
      'x-request-id': 'q-h',
      'x-correlation-id': 'k-h',
      traceparent: trace,
    })
    expect(drive.commands[0]).toMatchObject({ request: 'q-h', once: { key: 'q-h' } })
    expect(drive.commands[0]).not.toHaveProperty('ext')
    expect(drive.answers.get('f1')?.headers).toEqual({ 'x-request-id': 'q-h', 'x-correlation-id': 'k-h' })
    drive.play(plainTurn('y'))
    expect(answerOf(drive)).toMatchObject({ request_id: 'q-h', correlation_id: 'k-h' })

    const traced = ask(body({ user_intent: 'x' }), { traceparent: trace })
    traced.play(plainTurn('y'))
    expect(answerOf(traced)['correlation_id']).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
    const odd = ask(body({ user_intent: 'x' }, { request_id: 'ü', correlation_id: 'a b' }))
    expect(odd.answers.get('f1')?.headers).toEqual({})
  })
})

describe('refusals', () => {
  const ok = { user_intent: 'x' }
  const blob = 'A'.repeat(300)
  test.each<[string, string, string | undefined]>([
    ['an empty body', '', undefined],
    ['no JSON', '{"protocol_version": ', undefined],
    ['an array', '[1,2]', undefined],
    ['no version', '{"request":{"context":{"user_intent":"x"}}}', 'protocol_version'],
    ['a version of two numbers', '{"protocol_version":"1.0","request":{}}', 'protocol_version'],
    ['a version that is a number', '{"protocol_version":1,"request":{}}', 'protocol_version'],
    ['no request', '{"protocol_version":"1.0.0"}', 'request'],
    ['request null', '{"protocol_version":"1.0.0","request":null}', 'request'],
    ['request a string', '{"protocol_version":"1.0.0","request":"hi"}', 'request'],
    ['request an array', '{"protocol_version":"1.0.0","request":[]}', 'request'],
    ['an empty request', '{"protocol_version":"1.0.0","request":{}}', 'context.user_intent'],
    ['request_id a number', body(ok, { request_id: 42 }), 'request_id'],
    ['request_id null', body(ok, { request_id: null }), 'request_id'],
    ['request_id empty', body(ok, { request_id: '' }), 'request_id'],
    ['correlation_id null', body(ok, { correlation_id: null }), 'correlation_id'],
    ['correlation_id empty', body(ok, { correlation_id: '' }), 'correlation_id'],
    ['capabilities an array', body(ok, { capabilities: [] }), 'capabilities'],
    ['session_id a number', body({ ...ok, session_id: 1 }), 'context.session_id'],
    ['a blank intent', body({ user_intent: ' \n' }), 'context.user_intent'],
    ['only how private it is', body({ environment_state: { privacy_tier: 'public' } }), 'context.user_intent'],
    ['only a plugin', body({ task_hint: { plugin_id: 'p' } }), 'context.user_intent'],
    ['an intent that is a list', body({ user_intent: ['x'] }), 'context.user_intent'],
    ['attachments an object', body({ ...ok, attachments: {} }), 'context.attachments'],
    ['an attachment that is text', body({ ...ok, attachments: ['x'] }), 'context.attachments.0'],
    ['a negative size', body({ ...ok, attachments: [{ size_bytes: -1 }] }), 'context.attachments.0.size_bytes'],
    ['half a byte', body({ ...ok, attachments: [{ size_bytes: 0.5 }] }), 'context.attachments.0.size_bytes'],
    ['a size in words', body({ ...ok, attachments: [{ size_bytes: '1' }] }), 'context.attachments.0.size_bytes'],
    ['an empty shell kind', body({ ...ok, shell: { shell_kind: '' } }), 'context.shell.shell_kind'],
    ['environment a list', body({ ...ok, environment_state: [] }), 'context.environment_state'],
    ['a data URI', body({ ...ok, attachments: [{ uri: ' DATA:image/png;base64,AA' }] }), 'context.attachments.0.uri'],
    ['base64 by name', body({ ...ok, attachments: [{ ref_id: 'r', base64: 'AAAA' }] }), 'context.attachments.0.base64'],
    ['a data URI by name', body({ ...ok, attachments: [{ data: 'data:x,y' }] }), 'context.attachments.0.data'],
    ['a blob anywhere', body({ ...ok, attachments: [{ a: { b: ['x', blob] } }] }), 'context.attachments.0.a.b.1'],
    ['a blob as reference', body({ ...ok, attachments: [{ ref_id: blob.repeat(4) }] }), 'context.attachments.0.ref_id'],
  ])('%s is 400 invalid_request', (_what, text, field) => {
    const drive = ask(text)
    expect(drive.commands).toEqual([])
    expect(drive.faults).toHaveLength(1)
    expect(drive.faults[0]?.fault.code).toBe('invalid-request')
    const envelope = answerOf(drive)
    expect(envelope.response['status']).toBe('error')
    expect(envelope.response['error']).toMatchObject({ code: 'invalid_request', retryable: false })
    expect((envelope.response['error'] as { details?: object }).details).toEqual(field && { field })
    expect(envelope).not.toHaveProperty('response.action_directives')
  })

  test('long opaque references and nulls inside attachments are let through', () => {
    const drive = ask(body({ ...ok, attachments: [{ ref_id: blob, note: null, data: '', n: 1 }] }))
    expect(drive.faults).toEqual([])
  })

  test('wrong ids are not echoed, right ones are', () => {
    const wrong = answerOf(ask(body(ok, { request_id: 42, correlation_id: 'k' }), { 'x-request-id': 'header' }))
    expect(wrong).not.toHaveProperty('request_id')
    expect(wrong['correlation_id']).toBe('k')
  })

  test('another major version is told which one is spoken', () => {
    const drive = ask('{"protocol_version":"2.0.0","request_id":"q","request":"any shape"}')
    expect(drive.faults[0]?.fault.code).toBe('unsupported-version')
    expect(answerOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'q',
      supported_protocol_versions: ['1.0.0'],
      response: {
        status: 'error',
        error: {
          code: 'protocol_version_unsupported',
          message: 'This gateway speaks OpenHarness 1.x, not "2.0.0"; send protocol_version 1.0.0.',
          retryable: false,
        },
      },
    })
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ])('content type %s is refused', (type, http) => {
    const drive = ask(body(ok), { 'content-type': type })
    expect(drive.faults).toMatchObject([{ fault: { code: 'invalid-request' }, http }])
    expect(answerOf(drive).response['error']).toMatchObject({ code: 'invalid_request' })
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.openharness+json'])(
    'content type %s is taken',
    (type) => {
      expect(ask(body(ok), { 'content-type': type }).commands).toHaveLength(1)
    },
  )

  test('no content type is taken', () => {
    const drive = driveFront(codec, HTTP)
    drive.feed(body(ok))
    drive.link.decodeEnd?.('eof')
    expect(drive.commands).toHaveLength(1)
    expect(drive.faults).toEqual([])
  })
})

describe('whole answers', () => {
  test('text, usage, session, agent and turn', () => {
    const drive = ask(body({ user_intent: 'x' }, { request_id: 'q', correlation_id: 'k' }))
    drive.play(plainTurn('Hi there'))
    expect(drive.sent).toHaveLength(1)
    expect(answerOf(drive)).toEqual({
      protocol_version: '1.0.0',
      request_id: 'q',
      correlation_id: 'k',
      supported_protocol_versions: ['1.0.0'],
      response: {
        status: 'success',
        engine_latency_ms: 250,
        action_directives: [
          { action_type: 'render_message', priority: 'normal', risk_tier: 'safe', payload: { text: 'Hi there' } },
        ],
        extensions: {
          'urn:turnpike:turn': {
            turn: 't1',
            session: 's1',
            agent: 'agent',
            stop: 'end',
            usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
          },
        },
      },
    })
    expect(drive.exitCode).toBeUndefined()
  })

  test('an empty answer is a success without directives', () => {
    const drive = ask(body({ user_intent: 'x' }))
    drive.play([accepted, ended])
    expect(answerOf(drive).response).toMatchObject({ status: 'success', action_directives: [] })
  })

  test('directives pass untouched, with what the schema forbids taken out', () => {
    const drive = ask(body({ user_intent: 'x' }))
    const odd =
      '{ "action_type":"com.example.pay", "priority":"urgent","deadline_ms":-1,"n":1.50,\n "payload":{"__proto__":{"x":1}} }'
    drive.play([
      accepted,
      { type: 'directive', turn: 't1', action: 'render_ui', json: '{"action_type":"render_ui","payload":{"n":10.00}}' },
      { type: 'directive', turn: 't1', action: 'com.example.pay', json: odd },
      { type: 'directive', turn: 't1', action: 'noop', json: '{"action_type":""}' },
      { type: 'directive', turn: 't1', action: 'other', json: 'not json' },
      { type: 'directive', turn: 't1', action: '', json: '{}' },
      ended,
    ])
    expect(drive.sent[0]).toContain(
      '"action_directives":[{"action_type":"render_ui","payload":{"n":10.00}},' +
        '{"action_type":"com.example.pay","n":1.50,"payload":{"__proto__":{"x":1}}},' +
        '{"action_type":"noop"},{"action_type":"other"}]',
    )
    expect(answerOf(drive).response['extensions']).toMatchObject({
      'urn:turnpike:turn': {
        loss: [
          { kind: 'weakened', item: 'directive', field: 'priority', why: 'unknown', count: 1 },
          { kind: 'weakened', item: 'directive', field: 'deadline_ms', why: 'unknown', count: 1 },
          { kind: 'weakened', item: 'directive', field: 'action_type', why: 'unknown', count: 1 },
          { kind: 'dropped', item: 'directive', why: 'unknown', count: 1 },
        ],
      },
    })
  })

  test('references of the answer travel with its text, bytes do not', () => {
    const drive = ask(body({ user_intent: 'x' }))
    drive.play([
      accepted,
      { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
      {
        type: 'message-end',
        turn: 't1',
        message: 'm1',
        parts: [
          { type: 'reasoning', text: 'r' },
          { type: 'image', url: 'https://h/i.png', mime: 'image/png', name: 'i.png', bytes: 9 },
          { type: 'file', ref: 'f', url: 'data:x,y', bytes: -1 },
          { type: 'image', base64: 'AAAA' },
          { type: 'audio', url: 'data:audio/ogg,x' },
          { type: 'data', json: '1' },
          // The call is reported as one already; nothing else tells of the reply.
          { type: 'tool-call', tool: 'x', name: 'n', args: '{}' },
          { type: 'tool-reply', tool: 'y', status: 'ok', parts: [] },
        ],
      },
      { type: 'message-start', turn: 't1', message: 'm2', role: 'user' },
      { type: 'message-start', turn: 't1', message: 'm3', role: 'assistant', lane: 'sub' },
      { type: 'message-end', turn: 't1', message: 'm3', lane: 'sub', parts: [{ type: 'file', ref: 'no' }] },
      { type: 'tool-call', turn: 't1', tool: 'x', name: 'n', args: '{}', executor: 'agent' },
      ended,
    ])
    expect(answerOf(drive).response).toMatchObject({
      action_directives: [
        {
          action_type: 'render_message',
          payload: {
            text: '',
            attachments: [
              { uri: 'https://h/i.png', mime_type: 'image/png', filename: 'i.png', size_bytes: 9 },
              { ref_id: 'f' },
            ],
          },
        },
      ],
    })
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'reasoning-delta', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'message-end', field: 'lane', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'tool-call', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.audio', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.data', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.tool-reply', why: 'no-place', count: 1 },
    ])
  })

  test('an engine behind the gateway is passed on whole', () => {
    const drive = ask(body({ user_intent: 'x' }, { capabilities: { rich: true, dark: true, gone: true } }))
    const own = {
      supported_capabilities: { rich: { v: 1 }, extra: true, 'openharness.streaming': true },
      capability_denials: [
        { capability: 'dark', code: 'disabled_by_policy', message: 'No.', until: 3 },
        { capability: 'odd', code: null },
        { capability: '' },
        5,
      ],
      future: 1,
      request: {},
      request_id: 'theirs',
      response: {
        extra: [1],
        status: 'error',
        action_directives: [
          { action_type: 'render_ui' },
          7,
          { action_type: 'render_message', payload: { text: 'a', format: 'md' } },
        ],
        extensions: { 'com.example': 1, 'urn:turnpike:turn': 'theirs' },
      },
    }
    drive.play([accepted, { ...ended, ext: { protocol: 'openharness', json: JSON.stringify(own) } } as TurnEvent])
    const envelope = answerOf(drive)
    expect(envelope).toMatchObject({
      future: 1,
      supported_capabilities: { rich: { v: 1 }, extra: true },
      capability_denials: [
        { capability: 'dark', code: 'disabled_by_policy', message: 'No.', until: 3 },
        { capability: 'odd' },
        { capability: 'gone', code: 'not_supported' },
      ],
      response: {
        status: 'success',
        extra: [1],
        action_directives: [
          { action_type: 'render_ui' },
          { action_type: 'render_message', payload: { text: 'a', format: 'md' } },
        ],
        extensions: { 'com.example': 1, 'urn:turnpike:turn': { turn: 't1' } },
      },
    })
    expect(envelope).not.toHaveProperty('request_id')
    expect(envelope['supported_capabilities']).not.toHaveProperty('openharness.streaming')
  })

  test('ext of another protocol is a loss', () => {
    const drive = ask(body({ user_intent: 'x' }))
    const ext = { protocol: 'zot', json: '{"a":1}' }
    drive.play([
      { ...accepted, ext: { protocol: 'openharness', json: 'no json' } } as TurnEvent,
      { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('timeout', 'Late.', { ext }), ext },
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test('summary, continuation and notices are in the extension', () => {
    const drive = ask(body({ user_intent: 'x' }))
    drive.play([
      accepted,
      { type: 'notice', turn: 't1', severity: 'info', code: 'empty-answer', text: 'a\u2028b' },
      { type: 'usage', turn: 't1', scope: 'turn', usage: { total: 5, costUsd: 0.5 }, estimated: true },
      { ...ended, stop: 'max-tokens', summary: 'done', continuation: 'c1' } as TurnEvent,
    ])
    expect(answerOf(drive).response['extensions']).toEqual({
      'urn:turnpike:turn': {
        turn: 't1',
        session: 's1',
        agent: 'agent',
        stop: 'max-tokens',
        summary: 'done',
        continuation: { continuation_token: 'c1' },
        usage: { total_tokens: 5, cost_usd: 0.5, estimated: true },
        notices: [{ severity: 'info', code: 'empty-answer', text: 'a\u2028b' }],
      },
    })
  })
})

describe('failures', () => {
  test.each(Object.entries(codec.errors))('%s', (code, wire) => {
    const drive = ask(body({ user_intent: 'x' }, { request_id: 'q' }))
    drive.play([
      accepted,
      ...message('half'),
      { type: 'turn-end', turn: 't1', outcome: 'failed', stop: 'error', fault: fault(code as ErrorCode, 'Why.') },
    ])
    const { request_id, response } = answerOf(drive)
    expect(request_id).toBe('q')
    expect(response['error']).toEqual({
      code: wire.code,
      message: 'Why.',
      retryable: fault(code as ErrorCode, '').retryable,
    })
    expect(response['action_directives']).toMatchObject([{ payload: { text: 'half' } }])
    expect(wire.http).toBeGreaterThanOrEqual(400)
  })

  test.each([
    ['cancelled', 'cancelled'],
    ['failed', 'engine_failed'],
  ] as const)('outcome %s without a fault is an error too', (outcome, code) => {
    const drive = ask(body({ user_intent: 'x' }))
    drive.play([accepted, { type: 'turn-end', turn: 't1', outcome }])
    expect(answerOf(drive).response).toMatchObject({ status: 'error', error: { code } })
  })

  test("the engine's own code, details and unknown fields come back", () => {
    const drive = ask(body({ user_intent: 'x' }))
    const ext = { protocol: 'openharness', json: '{"code":"sop_locked","details":{"n":1.0},"message":"no","extra":2}' }
    drive.play([
      accepted,
      { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('session-busy', 'Locked.', { ext }) },
    ])
    expect(drive.sent[0]).toContain(
      '"error":{"code":"sop_locked","message":"Locked.","retryable":true,"details":{"n":1.0},"extra":2}',
    )
  })

  test.each(['{"code":""}', '{"code":7,"details":"text"}'])(
    'an ext of an error that is wrong is left out: %s',
    (json) => {
      const drive = ask(body({ user_intent: 'x' }))
      const ext = { protocol: 'openharness', json }
      drive.play([
        accepted,
        { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('internal', 'M', { ext }) },
      ])
      expect(answerOf(drive).response['error']).toEqual({ code: 'internal', message: 'M', retryable: false })
    },
  )

  test('a failure that no turn owns is an envelope with what was lost', () => {
    const drive = ask(
      JSON.stringify({
        protocol_version: '1.0.0',
        request_id: 'q',
        capabilities: { 'openharness.streaming': true, x: true },
        request: { auth: { token: 't' }, context: { user_intent: 'x' } },
      }),
    )
    drive.link.encodeFault(fault('lossy-refused', 'Too lossy.'), 'f1', 'continues')
    expect(answerOf(drive)).toMatchObject({
      request_id: 'q',
      supported_capabilities: { 'openharness.streaming': true },
      capability_denials: [{ capability: 'x', code: 'not_supported' }],
      response: {
        status: 'error',
        error: { code: 'translation_lossy' },
        extensions: { 'urn:turnpike:turn': { loss: [{ item: 'ext', field: 'auth' }] } },
      },
    })
  })

  test('a body that cannot be read to its end is answered once', () => {
    const drive = driveFront(codec, { ...HTTP, headers: { 'x-request-id': 'q' } })
    drive.link.encodeFault(fault('payload-too-large', 'Too large.'), undefined, 'ends')
    drive.link.decodeEnd?.('eof')
    expect(drive.sent).toHaveLength(1)
    expect(answerOf(drive)).toMatchObject({ request_id: 'q', response: { error: { code: 'payload_too_large' } } })
  })
})

describe('capabilities', () => {
  test('every asked one is answered', () => {
    const asked = {
      'openharness.streaming': true,
      'openharness.ui.approval': 'yes',
      'openharness.attachments.upload': {},
      'openharness.ui.rich_cards': true,
      'openharness.actions.parallel': true,
      off: false,
    }
    const drive = ask(body({ user_intent: 'x' }, { capabilities: asked }))
    const denials = [
      { capability: 'openharness.ui.approval', code: 'disabled_by_policy' },
      { capability: '', code: 'x' },
    ]
    drive.play([{ ...accepted, denials } as TurnEvent, ended])
    const envelope = answerOf(drive)
    expect(envelope['supported_capabilities']).toEqual({
      'openharness.streaming': true,
      'openharness.attachments.upload': true,
    })
    expect(envelope['capability_denials']).toEqual([
      { capability: 'openharness.ui.rich_cards', code: 'not_supported' },
      { capability: 'openharness.actions.parallel', code: 'not_supported' },
      { capability: 'openharness.ui.approval', code: 'disabled_by_policy' },
    ])
  })

  test('on stdio nothing streams, and nothing can be asked', () => {
    const asked = ['openharness.streaming', 'openharness.ui.approval', 'openharness.attachments.upload']
    const drive = driveFront(codec)
    drive.feed(body({ user_intent: 'x' }, { capabilities: Object.fromEntries(asked.map((name) => [name, true])) }))
    expect(drive.answers.get('f1')).toMatchObject({ form: 'whole', asks: 'never' })
    drive.play(plainTurn('y'))
    expect(answerOf(drive)['supported_capabilities']).toEqual({ 'openharness.attachments.upload': true })
    expect(answerOf(drive)['capability_denials']).toEqual([
      { capability: 'openharness.streaming', code: 'not_supported' },
      { capability: 'openharness.ui.approval', code: 'not_supported' },
    ])
  })
})

describe('approvals', () => {
  const parked: TurnEvent = {
    type: 'turn-parked',
    turn: 't1',
    continuation: 'k.9',
    deadline: 61_250,
    asks: [
      {
        ask: 'a1',
        question: {
          kind: 'approval',
          name: 'bash',
          args: '{"n":1.0}',
          options: [
            { id: 'yes', kind: 'allow', scope: 'once', label: 'Do it' },
            { id: 'no', kind: 'deny', scope: 'once' },
          ],
        },
      },
      { ask: 'a2', question: { kind: 'input', message: 'Name?' } },
      {
        ask: 'a3',
        question: { kind: 'approval', name: 'n', args: 'no json', description: 'Sure?', options: [] },
      },
    ],
  }

  test('a parked turn is a success that asks', () => {
    const drive = ask(body({ user_intent: 'x' }))
    drive.play([
      accepted,
      ...message('Before.'),
      { type: 'tool-call', turn: 't1', tool: 'x', name: 'n', args: '{}', executor: 'agent' },
      parked,
    ])
    expect(answerOf(drive).response).toEqual({
      status: 'success',
      engine_latency_ms: 250,
      action_directives: [
        { action_type: 'render_message', priority: 'normal', risk_tier: 'safe', payload: { text: 'Before.' } },
        {
          action_type: 'request_approval',
          priority: 'high',
          risk_tier: 'caution',
          requires_user_approval: true,
          deadline_ms: 60_000,
          payload: {
            approval_id: 'a1',
            message: 'bash needs your approval.',
            tool: 'bash',
            args: { n: 1 },
            options: [
              { id: 'yes', kind: 'allow', scope: 'once', label: 'Do it' },
              { id: 'no', kind: 'deny', scope: 'once' },
            ],
            continuation: { run_id: 't1', continuation_token: 'turnpike.k.9' },
          },
        },
        {
          action_type: 'request_approval',
          priority: 'high',
          risk_tier: 'caution',
          requires_user_approval: true,
          deadline_ms: 60_000,
          payload: {
            approval_id: 'a3',
            message: 'Sure?',
            tool: 'n',
            args: 'no json',
            options: [],
            continuation: { run_id: 't1', continuation_token: 'turnpike.k.9' },
          },
        },
      ],
      extensions: {
        'urn:turnpike:turn': {
          turn: 't1',
          session: 's1',
          agent: 'agent',
          loss: [{ kind: 'dropped', item: 'tool-call', why: 'no-place', count: 1 }],
        },
      },
    })
  })

  test('the next request with the extension answers it', () => {
    const drive = ask(
      body(
        {
          session_id: 's',
          user_intent: 'whatever',
          continuation: { run_id: 't1', continuation_token: 'turnpike.k.9' },
          extensions: {
            'urn:turnpike:approval': {
              approval_id: 'a1',
              option: 'yes',
              message: 'fine',
              args: { n: 1 },
              stop_turn: true,
            },
            'com.example': 1,
          },
        },
        { request_id: 'q2' },
      ),
    )
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        session: { id: 's' },
        type: 'ask-reply',
        target: { continuation: 'k.9' },
        ask: 'a1',
        reply: { kind: 'approval', option: 'yes', edited: '{"n":1}', message: 'fine', stopTurn: true },
        ext: { protocol: 'openharness', json: '{"request":{"context":{"extensions":{"com.example":1}}}}' },
      },
    ])
    expect(drive.answers.get('f1')).toMatchObject({ form: 'whole', asks: 'next-request' })
    drive.play(plainTurn('Done.'))
    expect(answerOf(drive)).toMatchObject({ request_id: 'q2', response: { status: 'success' } })
  })

  test.each([
    ['the intent decides', { user_intent: ' yes\n' }, 'yes'],
    ['a wrong extension does not', { user_intent: 'no', extensions: { 'urn:turnpike:approval': { option: 1 } } }, 'no'],
    ['nothing is no option', {}, ''],
  ])('without the extension %s', (_what, context, option) => {
    const drive = ask(body({ ...context, continuation: { continuation_token: 'turnpike.k' } }))
    expect(drive.commands).toMatchObject([
      { type: 'ask-reply', target: { continuation: 'k' }, reply: { kind: 'approval', option } },
    ])
    expect(drive.commands[0]).not.toHaveProperty('ask')
  })

  test('its files are further input, and its surroundings are a loss', () => {
    const attachments = [{ kind: 'image', ref_id: 'i1' }]
    const more = { attachments, environment_state: { privacy_tier: 'public', x: 1 } }
    const drive = ask(body({ user_intent: 'yes', ...more, continuation: { continuation_token: 'turnpike.k' } }))
    expect(drive.commands).toMatchObject([{ type: 'ask-reply', input: [{ type: 'file', ref: 'i1' }] }])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'start.environment', why: 'policy', count: 1 }])
  })

  test.each([
    ['left out', { option: 'yes' }],
    ['null', { option: 'yes', approval_id: null, args: null, message: null, stop_turn: null }],
  ])('an option alone is an answer: the rest may be %s', (_what, approval) => {
    const extensions = { 'urn:turnpike:approval': approval }
    const drive = ask(body({ extensions, continuation: { continuation_token: 'turnpike.k' } }))
    expect(drive.commands[0]).toHaveProperty('reply', { kind: 'approval', option: 'yes' })
    expect(drive.commands[0]).not.toHaveProperty('ask')
  })
})

describe('stdio', () => {
  test('success leaves the exit code to the end of the input', () => {
    const drive = driveFront(codec)
    drive.feed(body({ user_intent: 'x' }))
    drive.link.decodeEnd?.('eof')
    drive.play(plainTurn('y'))
    drive.link.keepAlive?.()
    expect(drive.exitCode).toBeUndefined()
    expect(answerOf(drive).response['status']).toBe('success')
    expect(drive.sent).toHaveLength(1)
  })

  test.each([
    ['eof', 'invalid_request'],
    ['idle', 'engine_timeout'],
    ['signal', 'cancelled'],
  ] as const)('no request before %s is an error envelope and exit code 1', (why, code) => {
    const drive = driveFront(codec)
    drive.link.decodeEnd?.(why)
    expect(answerOf(drive).response['error']).toMatchObject({ code })
    expect(drive.exitCode).toBe(1)
  })

  test('status error is exit code 1', () => {
    const drive = driveFront(codec)
    drive.feed(body({ user_intent: 'x' }))
    drive.play([accepted, { type: 'turn-end', turn: 't1', outcome: 'cancelled' }])
    expect(drive.exitCode).toBe(1)
    const refused = driveFront(codec)
    refused.feed({ data: 'nope' }, 'ignored')
    expect(refused.exitCode).toBe(1)
    expect(refused.sent).toHaveLength(1)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import type { Frame } from '../../../src/contract/index.ts'
import { ERROR_CODES, type Ext, fault, type TurnEnd, type TurnEvent, type TurnStart } from '../../../src/model/index.ts'
import { driveBack, driveFront } from '../../kit/drive.ts'
import { answerOf, ask, HTTP, validRequest, validResponse } from './kit.ts'

const word = fc.string({ maxLength: 8, unit: 'binary' })
const name = fc.stringMatching(/^[a-z.]{1,12}$/)
const json = fc.json({ maxDepth: 3 })
const jsonObject = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value))
// Through text and back: JSON has no negative zero.
const jsonValue = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

const STREAM = { 'openharness.streaming': true }

/** An envelope-like value: the known members, right or wrong. */
const nearRequest = fc.record(
  {
    protocol_version: fc.oneof(fc.constantFrom('1.0.0', '1.2.3', '2.0.0', 1), word),
    request_id: fc.oneof(word, jsonValue),
    correlation_id: fc.oneof(word, jsonValue),
    capabilities: fc.oneof(fc.dictionary(word, jsonValue), jsonValue),
    request: fc.oneof(
      fc.record(
        {
          auth: jsonValue,
          context: fc.record(
            {
              user_intent: fc.oneof(word, jsonValue),
              session_id: fc.oneof(word, jsonValue),
              attachments: fc.oneof(fc.array(fc.dictionary(word, jsonValue), { maxLength: 2 }), jsonValue),
              environment_state: fc.oneof(fc.dictionary(word, jsonValue), jsonValue),
              continuation: fc.oneof(fc.record({ continuation_token: fc.constantFrom('turnpike.k', 'x') }), jsonValue),
              extensions: fc.oneof(fc.record({ 'urn:turnpike:approval': jsonValue }), jsonValue),
              shell: jsonValue,
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      jsonValue,
    ),
  },
  { requiredKeys: [] },
)

describe('the front', () => {
  test('any body is one command or one valid error envelope', () => {
    const bodies = fc.oneof(
      fc.string(),
      json,
      nearRequest.map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(bodies, (text) => {
        const drive = ask(text, { accept: 'text/event-stream' })
        drive.link.decodeEnd?.('eof')
        expect(drive.commands.length + drive.faults.length).toBe(1)
        expect(drive.sent.length).toBe(drive.faults.length)
        if (drive.sent.length === 1) expect(answerOf(drive).response['status']).toBe('error')
        for (const command of drive.commands) if (command.ext) JSON.parse(command.ext.json)
      }),
      { numRuns: 500 },
    )
  })

  const ownJson = fc
    .record(
      {
        supported_capabilities: fc.oneof(fc.dictionary(word, jsonValue), jsonValue),
        capability_denials: fc.oneof(
          fc.array(fc.record({ capability: jsonValue, code: jsonValue, message: jsonValue })),
          jsonValue,
        ),
        code: jsonValue,
        details: jsonValue,
        retryable: jsonValue,
        response: fc.record(
          {
            status: jsonValue,
            engine_latency_ms: jsonValue,
            error: jsonValue,
            action_directives: fc.oneof(fc.array(jsonValue), jsonValue),
            extensions: jsonValue,
          },
          { requiredKeys: [] },
        ),
        request: jsonValue,
        request_id: jsonValue,
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value))
  const ext: fc.Arbitrary<Ext> = fc.record({
    protocol: fc.constantFrom('openharness', 'openharness', 'zot'),
    json: fc.oneof(ownJson, jsonObject),
  })
  const messageIds = fc.constantFrom('m1', 'm2')
  const directiveLike = fc.dictionary(
    fc.oneof(
      word,
      fc.constantFrom('action_type', 'priority', 'execution', 'risk_tier', 'deadline_ms', 'payload', 'extensions'),
    ),
    jsonValue,
  )
  const event: fc.Arbitrary<TurnEvent> = fc.oneof(
    messageIds.map((message): TurnEvent => ({ type: 'message-start', turn: 't1', message, role: 'assistant' })),
    fc
      .tuple(messageIds, fc.string())
      .map(([message, text]): TurnEvent => ({ type: 'text-delta', turn: 't1', message, text })),
    fc
      .tuple(messageIds, fc.string())
      .map(([message, text]): TurnEvent => ({ type: 'reasoning-delta', turn: 't1', message, text })),
    fc.tuple(messageIds, word).map(
      ([message, text]): TurnEvent => ({
        type: 'message-end',
        turn: 't1',
        message,
        parts: [
          { type: 'text', text },
          { type: 'file', ref: text },
          { type: 'image', base64: text },
        ],
      }),
    ),
    fc
      .tuple(word, directiveLike)
      .map(([action, value]): TurnEvent => ({ type: 'directive', turn: 't1', action, json: JSON.stringify(value) })),
    fc
      .tuple(word, word)
      .map(([code, text]): TurnEvent => ({ type: 'notice', turn: 't1', severity: 'info', code, text })),
    fc
      .record({ input: fc.double(), total: fc.nat() })
      .map((usage): TurnEvent => ({ type: 'usage', turn: 't1', scope: 'turn', usage })),
    fc
      .tuple(word, word)
      .map(([tool, args]): TurnEvent => ({ type: 'tool-call', turn: 't1', tool, name: tool, args, executor: 'agent' })),
    fc.string().map((frame): TurnEvent => ({ type: 'foreign', turn: 't1', protocol: 'openharness', frame })),
  )
  const last: fc.Arbitrary<TurnEvent> = fc.oneof(
    fc
      .record({ ext, code: fc.constantFrom(...ERROR_CODES), message: fc.string(), failed: fc.boolean() })
      .map((made): TurnEnd => {
        if (!made.failed) return { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end', ext: made.ext }
        const why = fault(made.code, made.message, { ext: made.ext })
        return { type: 'turn-end', turn: 't1', outcome: 'failed', fault: why, ext: made.ext }
      }),
    fc.record({ id: word, args: word, deadline: fc.integer() }).map(
      ({ id, args, deadline }): TurnEvent => ({
        type: 'turn-parked',
        turn: 't1',
        continuation: id,
        deadline,
        asks: [
          {
            ask: id,
            question: { kind: 'approval', name: id, args, options: [{ id, kind: 'deny', scope: 'once', label: id }] },
          },
        ],
      }),
    ),
  )

  test('whatever a turn holds, its envelope is valid and the last frame', () => {
    const asked = fc.dictionary(word, fc.boolean())
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 8 }),
        last,
        asked,
        fc.boolean(),
        (events, end, capabilities, streams) => {
          const drive = driveFront(codec, { ...HTTP, headers: streams ? { accept: 'text/event-stream' } : {} })
          drive.feed(
            JSON.stringify({
              protocol_version: '1.0.0',
              capabilities: { ...capabilities, ...STREAM },
              request: { context: { user_intent: 'x' } },
            }),
          )
          drive.play([...events, end])
          const envelopes = drive.sent.filter((frame) => typeof frame === 'string' || frame.event === 'response')
          expect(envelopes).toEqual([drive.sent.at(-1)])
          const envelope = answerOf(drive)
          expect(envelope.response['status']).toBe(
            end.type === 'turn-end' && end.outcome === 'failed' ? 'error' : 'success',
          )
          const answered = new Set([
            ...Object.keys(envelope['supported_capabilities'] as object),
            ...(envelope['capability_denials'] as { capability: string }[]).map(({ capability }) => capability),
          ])
          for (const [key, value] of Object.entries(capabilities))
            if (value && key !== '') expect(answered).toContain(key)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('the back', () => {
  const nearResponse = fc.record(
    {
      protocol_version: fc.constantFrom('1.0.0', '1.0.0', '2.0.0', 1),
      response: fc.oneof(
        fc.record(
          {
            status: fc.constantFrom('success', 'success', 'error', 'odd'),
            action_directives: fc.oneof(
              fc.array(
                fc.record({
                  action_type: fc.constantFrom('render_message', 'request_approval', 'noop', 'x.y'),
                  payload: fc.oneof(
                    fc.record({ text: word }),
                    fc.constant({ approval_id: 'a', options: ['yes'], continuation: { continuation_token: 't' } }),
                    jsonValue,
                  ),
                }),
                { maxLength: 3 },
              ),
              jsonValue,
            ),
            error: jsonValue,
            extensions: fc.oneof(fc.record({ 'urn:turnpike:turn': jsonValue }), jsonValue),
          },
          { requiredKeys: [] },
        ),
        jsonValue,
      ),
      supported_capabilities: jsonValue,
      capability_denials: jsonValue,
    },
    { requiredKeys: ['protocol_version', 'response'] },
  )
  const text = fc.oneof(
    fc.string(),
    json,
    nearResponse.map((value) => JSON.stringify(value)),
  )
  const eventName = fc.constantFrom(
    'turn',
    'message_start',
    'text_delta',
    'reasoning_delta',
    'message_end',
    'message_retract',
    'tool_start',
    'tool_args_delta',
    'tool_call',
    'tool_progress',
    'tool_end',
    'directive',
    'usage',
    'notice',
    'response',
    'later',
    '__proto__',
  )
  const frame: fc.Arbitrary<Frame> = fc.oneof(text, fc.record({ event: eventName, data: fc.oneof(text, jsonObject) }))
  const ending = fc.constantFrom('closed', 'closed', 'timeout', 'cancelled', 'failed')

  test('anything at all ends the turn once, or leaves a question open', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 4 }), ending, fc.nat(599), (frames, why, status) => {
        const drive = driveBack(codec)
        drive.start('hi')
        drive.link.decodeHead?.({ status, headers: {} })
        drive.feed(...frames)
        drive.link.decodeEnd({ why })
        const ends = drive.events.filter(({ type }) => type === 'turn-end')
        const asks = drive.events.filter(({ type }) => type === 'ask')
        expect(ends.length === 1 || (ends.length === 0 && asks.length > 0)).toBe(true)
        if (ends.length === 1) expect(drive.events.at(-1)?.type).toBe('turn-end')
        for (const event of drive.events) if (event.ext) JSON.parse(event.ext.json)
        drive.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
        expect(drive.events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('OpenHarness on both sides', () => {
  const extras = fc.dictionary(name, jsonValue, { maxKeys: 2 }).map((value) => {
    const { __proto__: _proto, ...safe } = value as Record<string, unknown>
    return Object.fromEntries(Object.entries(safe).map(([key, item]) => [`x.${key}`, item]))
  })
  const attachment = fc.oneof(
    fc.record(
      { ref_id: name, mime_type: fc.constantFrom('image/png', 'text/plain'), size_bytes: fc.nat() },
      { requiredKeys: ['ref_id'] },
    ),
    fc.record({ asset_id: name, filename: name }),
    fc.record({ uri: fc.webUrl(), note: name }),
  )

  test('a request arrives whole', () => {
    const context = fc.record(
      {
        session_id: name,
        conversation_id: name,
        user_intent: fc.string().filter((text) => text.trim() !== ''),
        task_hint: fc.record({ sop_id: name, plugin_id: name, more: jsonValue }),
        continuation: fc.record({ run_id: name, continuation_token: name }),
        environment_state: fc.record({
          privacy_tier: fc.constantFrom('public', 'restricted', 'secret'),
          os: name,
          x: jsonValue,
        }),
        attachments: fc.array(attachment, { minLength: 1, maxLength: 3 }),
        shell: fc.record({ shell_kind: name, locale: name, timezone: name }),
        extensions: fc.dictionary(name, jsonValue, { minKeys: 1 }),
      },
      { requiredKeys: ['session_id', 'user_intent', 'shell'] },
    )
    fc.assert(
      fc.property(context, extras, extras, (known, inContext, onTop) => {
        const sent = {
          protocol_version: '1.0.0',
          request_id: 'q',
          correlation_id: 'k',
          capabilities: { 'com.example.a': true, 'com.example.b': { v: 1 } },
          request: { context: { ...known, ...inContext } },
          ...onTop,
        }
        const front = ask(JSON.stringify(sent))
        expect(front.faults).toEqual([])
        const back = driveBack(codec)
        back.link.encode(front.commands[0]!)
        const call = back.calls[0] as { body: string }
        const got = validRequest(call.body)
        expect(got).toEqual({ ...sent, request_id: `req_${(front.commands[0] as TurnStart).turn}` })
        expect([...front.losses, ...back.losses]).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  const directive = fc.oneof(
    name.map((text) => ({ action_type: 'render_message', priority: 'normal', risk_tier: 'safe', payload: { text } })),
    fc.record(
      {
        action_type: fc.constantFrom('render_ui', 'simulate_action', 'noop', 'com.example.x', 'render_message'),
        priority: fc.constantFrom('low', 'normal', 'high', 'critical'),
        execution: fc.constantFrom('sequential', 'parallel'),
        risk_tier: fc.constantFrom('safe', 'caution', 'dangerous'),
        requires_user_approval: fc.boolean(),
        deadline_ms: fc.nat(),
        payload: fc.dictionary(name, jsonValue),
        extensions: fc.dictionary(name, jsonValue),
        more: jsonValue,
      },
      { requiredKeys: ['action_type'] },
    ),
  )

  test('an answer arrives whole', () => {
    const error = fc.record({
      code: name,
      message: fc.string(),
      retryable: fc.boolean(),
      details: fc.dictionary(name, jsonValue),
    })
    fc.assert(
      fc.property(
        fc.array(directive, { minLength: 1, maxLength: 4 }),
        extras,
        extras,
        fc.option(error),
        (list, inside, onTop, failed) => {
          const sent = {
            protocol_version: '1.0.0',
            supported_protocol_versions: ['1.0.0'],
            response: {
              status: failed ? 'error' : 'success',
              action_directives: list,
              ...(failed && { error: failed }),
              ...inside,
            },
            ...onTop,
          }
          const back = driveBack(codec)
          back.start('hi')
          back.link.decodeHead?.({ status: failed ? 500 : 200, headers: {} })
          back.feed(JSON.stringify(sent))
          back.link.decodeEnd({ why: 'closed' })
          const front = driveFront(codec)
          front.feed('{"protocol_version":"1.0.0","request":{"context":{"user_intent":"x"}}}')
          front.play(back.events.filter((event): event is TurnEvent => event.turn !== null))
          const got = validResponse(front.sent[0] as string) as { response: Record<string, unknown> }
          const { extensions, engine_latency_ms, ...response } = got.response
          expect({ ...got, response }).toEqual(sent)
          expect(extensions).toMatchObject({ 'urn:turnpike:turn': { turn: 't1' } })
          expect(engine_latency_ms).toBe(250)
          expect([...front.losses, ...back.losses]).toEqual([])
        },
      ),
      { numRuns: 300 },
    )
  })
})

import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { driveBack, type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { answerOf, ask, body, validResponse } from './kit.ts'

const request = body({ user_intent: 'x' }, { capabilities: { 'openharness.streaming': true } })
const accepted: TurnEvent = { type: 'turn-accepted', turn: 't1', how: 'new', session: 's1' }
const ended: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' }

function stream(events: readonly TurnEvent[]): FrontDrive {
  const drive = ask(request, { accept: 'text/event-stream' })
  drive.play(events)
  return drive
}

/** Names and data of the events before the closing one. */
function shown(drive: FrontDrive): [string, unknown][] {
  return drive.sent.slice(0, -1).map((frame) => {
    const { event, data } = frame as { event: string; data: string }
    return [event, JSON.parse(data)]
  })
}

/** Every kind of event that the profile carries, as an agent would emit it. */
const everything: TurnEvent[] = [
  { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant', phase: 'commentary' },
  { type: 'reasoning-delta', turn: 't1', message: 'b1', text: 'hm' },
  { type: 'text-delta', turn: 't1', message: 'b1', text: 'a\u2028b' },
  { type: 'message-retract', turn: 't1', message: 'b1', keepText: false },
  { type: 'message-end', turn: 't1', message: 'b1' },
  { type: 'message-start', turn: 't1', message: 'b2', role: 'assistant', lane: 'sub' },
  { type: 'text-delta', turn: 't1', message: 'b2', text: 'nested', lane: 'sub' },
  { type: 'message-end', turn: 't1', message: 'b2', parts: [{ type: 'file', ref: 'f' }], lane: 'sub' },
  { type: 'message-start', turn: 't1', message: 'b3', role: 'assistant' },
  { type: 'text-delta', turn: 't1', message: 'b3', text: 'see' },
  {
    type: 'message-end',
    turn: 't1',
    message: 'b3',
    parts: [
      { type: 'text', text: 'see' },
      { type: 'image', ref: 'i', mime: 'image/png' },
    ],
  },
  { type: 'tool-start', turn: 't1', tool: 'b4', message: 'b1', name: 'read', kind: 'k', title: 'T', executor: 'agent' },
  { type: 'tool-args-delta', turn: 't1', tool: 'b4', text: '{"n":' },
  { type: 'tool-call', turn: 't1', tool: 'b4', name: 'read', args: '{"n":1.50}', executor: 'agent' },
  { type: 'tool-progress', turn: 't1', tool: 'b4', parts: [{ type: 'text', text: '..' }] },
  {
    type: 'tool-end',
    turn: 't1',
    tool: 'b4',
    status: 'ok',
    parts: [
      { type: 'text', text: 'out' },
      { type: 'image', url: 'https://h/i' },
      { type: 'data', json: '[1.0]', mime: 'application/json' },
      { type: 'data', json: '2' },
      { type: 'diff', path: 'p', before: null, after: 'new' },
    ],
  },
  { type: 'tool-start', turn: 't1', tool: 'b5', name: 'run', executor: 'client', lane: 'sub' },
  { type: 'tool-end', turn: 't1', tool: 'b5', status: 'denied', parts: [], lane: 'sub' },
  { type: 'directive', turn: 't1', action: 'render_ui', json: '{"action_type":"render_ui","payload":{"n":1.0}}' },
  { type: 'notice', turn: 't1', severity: 'warning', code: 'retrying', text: 'again' },
  { type: 'usage', turn: 't1', scope: 'call', usage: { input: 1 }, lane: 'sub' },
  { type: 'usage', turn: 't1', scope: 'turn', usage: { input: 3, cacheRead: 1 }, estimated: true },
  { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"later","data":{"n":1.0}}' },
  { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"words","data":"no json"}' },
]

describe('negotiation', () => {
  test.each([
    ['text/event-stream', true],
    ['application/json, Text/Event-Stream;q=0.5', true],
    ['text/event-stream;q=0', false],
    ['text/event-stream; q=0.00, */*', false],
    ['*/*', false],
    ['', false],
  ])('Accept %j streams: %s', (accept, streams) => {
    const drive = ask(request, { accept })
    expect(drive.answers.get('f1')).toMatchObject({
      form: streams ? 'stream' : 'whole',
      framing: streams ? 'sse' : 'body',
      asks: 'next-request',
    })
    expect(drive.commands[0]).toMatchObject({ options: streams ? { streaming: true } : {} })
  })

  test.each([{ 'openharness.streaming': false }, {}])('Accept alone does not: %j', (capabilities) => {
    const drive = ask(body({ user_intent: 'x' }, { capabilities }), { accept: 'text/event-stream' })
    expect(drive.answers.get('f1')?.form).toBe('whole')
  })
})

describe('the streaming profile', () => {
  test('a plain turn', () => {
    const drive = stream(plainTurn('Hi'))
    expect(shown(drive)).toEqual([
      ['turn', { turn: 't1', session: 's1', agent: 'agent' }],
      ['message_start', { message: 'm1', role: 'assistant' }],
      ['text_delta', { message: 'm1', text: 'Hi' }],
      ['message_end', { message: 'm1' }],
      ['usage', { scope: 'turn', input_tokens: 3, output_tokens: 4, total_tokens: 7 }],
    ])
    expect(drive.sent.at(-1)).toHaveProperty('event', 'response')
    expect(answerOf(drive)).toMatchObject({
      supported_capabilities: { 'openharness.streaming': true },
      capability_denials: [],
      response: { status: 'success', action_directives: [{ payload: { text: 'Hi' } }] },
    })
  })

  test('every event has its place, on one line each', () => {
    const drive = stream([accepted, { type: 'turn-started', turn: 't1' }, ...everything, ended])
    expect(shown(drive)).toEqual([
      ['turn', { turn: 't1', session: 's1', agent: 'agent' }],
      ['message_start', { message: 'b1', role: 'assistant', phase: 'commentary' }],
      ['reasoning_delta', { message: 'b1', text: 'hm' }],
      ['text_delta', { message: 'b1', text: 'a\u2028b' }],
      ['message_retract', { message: 'b1', keep_text: false }],
      ['message_end', { message: 'b1' }],
      ['message_start', { message: 'b2', role: 'assistant', lane: 'sub' }],
      ['text_delta', { message: 'b2', text: 'nested', lane: 'sub' }],
      ['message_end', { message: 'b2', attachments: [{ ref_id: 'f' }], lane: 'sub' }],
      ['message_start', { message: 'b3', role: 'assistant' }],
      ['text_delta', { message: 'b3', text: 'see' }],
      ['message_end', { message: 'b3', text: 'see', attachments: [{ ref_id: 'i', mime_type: 'image/png' }] }],
      ['tool_start', { tool: 'b4', message: 'b1', name: 'read', kind: 'k', title: 'T', executor: 'agent' }],
      ['tool_args_delta', { tool: 'b4', text: '{"n":' }],
      ['tool_call', { tool: 'b4', name: 'read', args: { n: 1.5 }, executor: 'agent' }],
      ['tool_progress', { tool: 'b4', parts: [{ type: 'text', text: '..' }] }],
      [
        'tool_end',
        {
          tool: 'b4',
          status: 'ok',
          parts: [
            { type: 'text', text: 'out' },
            { type: 'image', uri: 'https://h/i' },
            { type: 'data', json: [1], mime_type: 'application/json' },
            { type: 'data', json: 2 },
            { type: 'diff', path: 'p', before: null, after: 'new' },
          ],
        },
      ],
      ['tool_start', { tool: 'b5', name: 'run', executor: 'client', lane: 'sub' }],
      ['tool_end', { tool: 'b5', status: 'denied', parts: [], lane: 'sub' }],
      ['directive', { action_type: 'render_ui', payload: { n: 1 } }],
      ['notice', { severity: 'warning', code: 'retrying', text: 'again' }],
      ['usage', { scope: 'call', lane: 'sub', input_tokens: 1 }],
      ['usage', { scope: 'turn', input_tokens: 3, cache_read_input_tokens: 1, estimated: true }],
      ['later', { n: 1 }],
      ['words', 'no json'],
    ])
    for (const frame of drive.sent) expect((frame as { data: string }).data).not.toMatch(/[\n\u2028]/)
    expect(drive.losses).toEqual([])
    expect(answerOf(drive).response['status']).toBe('success')
  })

  test('our back reads what our front writes', () => {
    const front = stream([accepted, ...everything, ended])
    const drive = driveBack(codec, { options: { streaming: true } })
    drive.start('hi', { session: { id: 's1' } })
    drive.feed({ event: 'ping', data: '{}' }, ...front.sent)
    drive.link.decodeEnd({ why: 'closed' })
    expect(drive.events).toEqual([{ type: 'turn-started', turn: 't1' }, ...everything, ended])
    expect(drive.losses).toEqual([])
  })

  test('a message that was not streamed is shown at its end', () => {
    const drive = stream([
      accepted,
      { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
      { type: 'message-end', turn: 't1', message: 'm1', parts: [{ type: 'text', text: 'whole' }] },
      { type: 'message-end', turn: 't1', message: 'unknown' },
      { type: 'message-start', turn: 't1', message: 'm2', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'm2', text: 'a' },
      { type: 'message-end', turn: 't1', message: 'm2', parts: [{ type: 'text', text: 'a' }] },
      ended,
    ])
    expect(shown(drive).filter(([name]) => name === 'message_end')).toEqual([
      ['message_end', { message: 'm1', text: 'whole' }],
      ['message_end', { message: 'unknown' }],
      ['message_end', { message: 'm2' }],
    ])
    expect(answerOf(drive).response['action_directives']).toMatchObject([{ payload: { text: 'whole\n\na' } }])
  })

  test('what has no place is a loss', () => {
    const drive = stream([
      accepted,
      { type: 'directive', turn: 't1', action: '', json: '{}' },
      { type: 'foreign', turn: 't1', protocol: 'zot', frame: '{"event":"x"}' },
      { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"response","data":{}}' },
      { type: 'foreign', turn: 't1', protocol: 'openharness', frame: '{"event":"bare"}' },
      { type: 'tool-call', turn: 't1', tool: 'x', name: 'n', args: 'no json', executor: 'agent' },
      {
        type: 'tool-end',
        turn: 't1',
        tool: 'x',
        status: 'ok',
        parts: [
          { type: 'image', base64: 'AAAA' },
          { type: 'data', json: 'no json' },
          { type: 'reasoning', text: 'r' },
        ],
      },
      { type: 'ask', turn: 't1', ask: 'a', question: { kind: 'approval', name: 'n', args: '{}', options: [] } },
      { type: 'ask-settled', turn: 't1', ask: 'a', how: 'timeout' },
      { type: 'step-start', turn: 't1', step: 1 },
      { type: 'step-end', turn: 't1', step: 1, stop: 'end' },
      { type: 'plan', turn: 't1', json: '[]' },
      { type: 'terminal-output', turn: 't1', stream: 'stdout', text: 'o' },
    ])
    drive.play([ended])
    expect(shown(drive).slice(1)).toEqual([
      ['bare', {}],
      ['tool_call', { tool: 'x', name: 'n', args: 'no json', executor: 'agent' }],
      ['tool_end', { tool: 'x', status: 'ok', parts: [] }],
    ])
    expect(answerOf(drive).response['extensions']).toMatchObject({
      'urn:turnpike:turn': {
        loss: [
          { kind: 'dropped', item: 'directive', why: 'unknown', count: 1 },
          { kind: 'dropped', item: 'foreign', field: 'zot', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'foreign', field: 'openharness', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'part.data', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'step-start', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'step-end', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 },
          { kind: 'dropped', item: 'terminal-output', why: 'no-place', count: 1 },
        ],
      },
    })
  })
})

describe('the end of a stream', () => {
  const failed: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('agent-crashed', 'Gone.') }

  test('a failure before anything was shown is a plain body', () => {
    const drive = stream([accepted, failed])
    expect(drive.sent).toHaveLength(1)
    expect(typeof drive.sent[0]).toBe('string')
    expect(answerOf(drive).response['error']).toMatchObject({ code: 'engine_failed' })
  })

  test('a failure of no turn is one too', () => {
    const drive = stream([])
    drive.link.encodeFault(fault('overloaded', 'Full.'), 'f1', 'continues')
    expect(validResponse(drive.sent[0] as string)).toMatchObject({ response: { error: { code: 'overloaded' } } })
  })

  test('a failure after that is the last event', () => {
    const drive = stream([
      accepted,
      { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'm1', text: 'half' },
      failed,
    ])
    expect(drive.sent.at(-1)).toHaveProperty('event', 'response')
    expect(answerOf(drive).response).toMatchObject({
      status: 'error',
      action_directives: [{ payload: { text: 'half' } }],
    })
  })

  test('a heartbeat opens the stream', () => {
    const drive = stream([accepted])
    drive.link.keepAlive?.()
    drive.play([failed])
    expect(drive.sent.map((frame) => (frame as { event: string }).event)).toEqual(['ping', 'response'])
  })

  test('the shell is told which turn it is also behind a heartbeat', () => {
    const drive = stream([accepted])
    drive.link.keepAlive?.()
    drive.play([{ type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' }, failed])
    expect(drive.sent.slice(0, 3)).toEqual([
      { event: 'ping', data: '{}' },
      { event: 'turn', data: '{"turn":"t1","session":"s1","agent":"agent"}' },
      { event: 'message_start', data: '{"message":"m1","role":"assistant"}' },
    ])
  })

  test('a parked turn ends it with the question', () => {
    const ask1 = {
      ask: 'a1',
      question: { kind: 'approval', name: 'bash', args: '{}', options: [{ id: 'y', kind: 'allow', scope: 'once' }] },
    } as const
    const drive = stream([
      accepted,
      { type: 'ask', turn: 't1', ...ask1 },
      { type: 'turn-parked', turn: 't1', asks: [ask1], continuation: 'c', deadline: 0 },
    ])
    expect(drive.sent).toHaveLength(1)
    expect(answerOf(drive).response).toMatchObject({
      status: 'success',
      action_directives: [{ action_type: 'request_approval', deadline_ms: 0, payload: { approval_id: 'a1' } }],
    })
  })
})

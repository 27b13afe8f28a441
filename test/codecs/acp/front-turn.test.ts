import { describe, expect, test } from 'vitest'
import { LiveView } from '../../../src/engine/events/view.ts'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { DONE, Editor, SAID } from './editor.ts'

const OPEN = { type: 'message-start', message: 'm', role: 'assistant' }
const CLOSE = { type: 'message-end', message: 'm' }
const ext = { protocol: 'acp', json: '{"_meta":{"k":1.0}}' }

/** What a client reads of these events, and what it loses. */
function shown(events: readonly object[], clientCapabilities: object = {}): { updates: unknown[]; losses: string[] } {
  const { editor, session } = Editor.open({}, clientCapabilities)
  editor.play(editor.prompt(session), ...events)
  const losses = editor.drive.losses.map(({ kind, item, field }) => [kind, item, field].filter(Boolean).join(' '))
  return { updates: editor.updates, losses }
}

/** The answer to a prompt whose turn had these events. */
function answered(...events: readonly object[]): Editor['last'] {
  const { editor, session } = Editor.open()
  editor.play(editor.prompt(session, 'Hi', 'p'), ...events)
  return editor.last
}

describe('messages', () => {
  test('are pieces with the id of their message, which no other prompt has', () => {
    const { editor, session } = Editor.open()
    editor.play(editor.prompt(session), ...SAID, DONE)
    editor.play(editor.prompt(session), ...SAID, DONE)
    const piece = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello.' } }
    expect(editor.updates).toEqual([
      { ...piece, messageId: '1.m' },
      { ...piece, messageId: '2.m' },
    ])
  })

  test('show reasoning, and further fields of an agent of this protocol', () => {
    const { updates, losses } = shown([
      OPEN,
      { type: 'reasoning-delta', message: 'm', text: 'Hm.' },
      { type: 'text-delta', message: 'm', text: '' },
      { type: 'text-delta', message: 'm', text: 'a\u2028b', ext },
      CLOSE,
    ])
    expect(updates).toEqual([
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' }, messageId: '1.m' },
      {
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: 'a\u2028b' },
        messageId: '1.m',
        _meta: { k: 1 },
      },
    ])
    expect(losses).toEqual([])
  })

  const fields = { protocol: 'acp', json: '{"_meta":{"k":1}}' }
  test.each([
    [
      'the first part that is shown',
      OPEN,
      [
        { type: 'text', text: '' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      [{ k: 1 }, undefined],
    ],
    ['a thought', OPEN, [{ type: 'reasoning', text: 'Hm.' }], [{ k: 1 }]],
    [
      'an image',
      OPEN,
      [
        { type: 'file', ref: 'x' },
        { type: 'image', base64: 'QUFB' },
      ],
      [{ k: 1 }],
    ],
    ['nothing: they are lost', OPEN, [], []],
    ['nothing of a sub-agent: they are lost', { ...OPEN, lane: 'sub' }, [{ type: 'text', text: 'a' }], []],
  ])('that came whole have their further fields with %s', (_, open, parts, metas) => {
    const { updates, losses } = shown([open, { ...CLOSE, parts, ext: fields }])
    expect(updates.map((update) => (update as { _meta?: unknown })._meta)).toEqual(metas)
    expect(losses.includes('dropped ext acp')).toBe(metas.length === 0)
  })

  test('that came whole are shown once', () => {
    const parts = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning', text: '' },
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: '' },
      { type: 'image', base64: 'QUFB', mime: 'image/png' },
      { type: 'text', text: 'marked', ext: { protocol: 'acp', json: '{"type":"text","text":"marked","_meta":{}}' } },
      { type: 'text', text: 'cited', ext: { protocol: 'other', json: '{}' } },
      { type: 'file', ref: 'x' },
    ]
    const { updates, losses } = shown([OPEN, { ...CLOSE, parts }])
    expect(updates).toMatchObject([
      { sessionUpdate: 'agent_thought_chunk', content: { text: 'Hm.' } },
      { sessionUpdate: 'agent_message_chunk', content: { text: 'Hello.' } },
      { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'QUFB', mimeType: 'image/png' } },
      { content: { text: 'marked', _meta: {} } },
      { content: { text: 'cited' } },
    ])
    expect(losses).toEqual(['dropped part.ext other', 'dropped part.file'])
    const streamed = [OPEN, { type: 'reasoning-delta', message: 'm', text: 'Hm.' }, ...SAID.slice(1, 2)]
    expect(shown([...streamed, { ...CLOSE, parts: parts.slice(0, 3) }]).updates).toHaveLength(2)
  })

  test('that were revised stay as they were shown', () => {
    const revised = { ...CLOSE, parts: [{ type: 'text', text: 'Other.' }], revised: true }
    expect(shown([...SAID.slice(0, 2), revised]).losses).toEqual(['weakened message-end revised'])
  })

  test('of others than the agent are not shown', () => {
    const of = (role: string, more: object = {}) => [
      { ...OPEN, role, ...more },
      { type: 'text-delta', message: 'm', text: 'x', ...more },
      { ...CLOSE, ...more },
    ]
    expect(shown(of('user'))).toEqual({ updates: [], losses: [] })
    expect(shown([...of('user').slice(0, 1), { ...CLOSE, parts: [{ type: 'text', text: 'Hi' }] }])).toEqual({
      updates: [],
      losses: [],
    })
    const system = [
      { ...OPEN, role: 'system' },
      { ...CLOSE, parts: [{ type: 'text', text: 'x' }] },
    ]
    expect(shown(system)).toEqual({ updates: [], losses: ['dropped message-end aside'] })
    expect(shown(of('assistant', { lane: 'helper' }))).toEqual({ updates: [], losses: ['dropped text-delta aside'] })
  })
})

describe('tools', () => {
  const start = { type: 'tool-start', tool: 't', name: 'bash', executor: 'agent' }
  const call = { type: 'tool-call', tool: 't', name: 'bash', args: '{"n":1e400}', executor: 'agent' }
  const end = { type: 'tool-end', tool: 't', status: 'ok', parts: [{ type: 'text', text: 'ok' }] }
  const announced = { sessionUpdate: 'tool_call', toolCallId: '1.t', title: 'bash', name: 'bash' }
  const update = { sessionUpdate: 'tool_call_update', toolCallId: '1.t' }
  const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }]

  test('are announced, called, and ended', () => {
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session)
    editor.play(
      turn,
      { ...start, kind: 'execute', title: 'List' },
      { type: 'tool-args-delta', tool: 't', text: '{' },
      call,
      end,
    )
    expect(editor.updates).toMatchObject([
      { ...announced, title: 'List', kind: 'execute', status: 'pending' },
      { ...update, status: 'in_progress' },
      { ...update, status: 'completed', content: content('ok') },
    ])
    // The arguments are the agent's own text: no number is rounded.
    expect(editor.drive.sent[1]).toContain('"rawInput":{"n":1e400}')
    expect(editor.drive.losses).toEqual([])
  })

  test('may come without a start, or as an end alone', () => {
    expect(shown([call, end]).updates).toMatchObject([
      { ...announced, status: 'in_progress' },
      { ...update, status: 'completed' },
    ])
    const { updates } = shown([start, { type: 'tool-args-delta', tool: 't', text: '{"a":1}' }, end])
    expect(updates).toMatchObject([announced, { ...update, status: 'completed', rawInput: { a: 1 } }])
  })

  test('that run when a prompt joins their turn are announced with their end', () => {
    const { editor, session } = Editor.open()
    const { exchange, turn } = editor.prompt(session)
    const view = new LiveView({ turn, session, agent: 'a', at: 0 })
    const of = (event: object) => ({ turn, ...event }) as TurnEvent
    view.apply(of(call), 1)
    view.apply(of({ ...start, tool: 'u' }), 1)
    const ends = [end, { ...end, tool: 'u', status: 'cancelled', parts: [] }, { ...end, tool: 'v' }]
    for (const event of ends.map(of)) {
      view.apply(event, 2)
      editor.drive.link.encode(event, exchange, view)
    }
    expect(editor.updates).toMatchObject([announced, { ...update, status: 'completed' }, { toolCallId: '1.v' }])
    expect(shown([start, end]).updates[1]).not.toHaveProperty('rawInput')
  })

  test('have a kind that the protocol knows, else none', () => {
    const { updates, losses } = shown([{ ...start, kind: 'shell' }, { ...call, args: 'not JSON' }, end])
    expect(updates[0]).not.toHaveProperty('kind')
    expect(updates[1]).toMatchObject({ rawInput: 'not JSON' })
    expect(losses).toEqual(['dropped tool.kind'])
  })

  test('show their progress as a whole, whose beginning goes beyond a limit', () => {
    const progress = (text: string) => ({ type: 'tool-progress', tool: 't', parts: [{ type: 'text', text }] })
    const { updates, losses } = shown([call, progress('a'), progress('b'), progress('😀'.repeat(4096)), end])
    expect(updates.slice(1, 3)).toEqual([
      { ...update, content: content('a') },
      { ...update, content: content('ab') },
    ])
    expect(updates[3]).toEqual({ ...update, content: content('😀'.repeat(4096)) })
    expect(losses).toEqual(['weakened tool-progress'])
    const image = { type: 'tool-progress', tool: 't', parts: [{ type: 'image', base64: 'QQ==', mime: 'image/png' }] }
    expect(shown([call, image, end]).updates[1]).toMatchObject({ content: [{ content: { type: 'image' } }] })
  })

  test('end with diffs, JSON, files and their status', () => {
    const parts = [
      { type: 'diff', path: '/a', before: 'x', after: 'y' },
      { type: 'data', json: '{"n":1}', mime: 'application/json' },
      { type: 'data', json: '[2]' },
      { type: 'file', ref: 'x' },
    ]
    const { updates, losses } = shown([call, { ...end, status: 'cancelled', parts }])
    expect(updates[1]).toEqual({
      ...update,
      status: 'failed',
      content: [
        { type: 'diff', path: '/a', oldText: 'x', newText: 'y' },
        { type: 'content', content: { type: 'text', text: '[2]' } },
      ],
      rawOutput: { n: 1 },
    })
    expect(losses).toEqual([
      'weakened tool-end status',
      'weakened part.data mime',
      'weakened part.data type',
      'dropped part.file',
    ])
  })

  test('that were dropped while they were written have failed, or were never there', () => {
    const dropped = { type: 'tool-end', tool: 't', status: 'cancelled', parts: [] }
    expect(shown([start, dropped])).toEqual({
      updates: [
        { ...announced, status: 'pending' },
        { ...update, status: 'failed' },
      ],
      losses: [],
    })
  })

  test('of a sub-agent are shown without its name', () => {
    expect(
      shown([
        { ...call, lane: 'helper' },
        { ...end, lane: 'helper', ext },
      ]).losses,
    ).toEqual(['dropped tool-call lane', 'dropped tool-end lane'])
  })
})

describe('the rest', () => {
  test.each([
    ['["Read","Write"]', ['pending', 'pending'], ['medium', 'medium']],
    [
      '[{"content":"Read","status":"completed","priority":"high"},{"step":"Write","status":"inProgress"}]',
      ['completed', 'in_progress'],
      ['high', 'medium'],
    ],
    [
      '{"explanation":"x","plan":[{"title":"Read","status":"odd"},{"text":"Write","priority":"odd"}]}',
      ['pending', 'pending'],
      ['medium', 'medium'],
    ],
  ])('a plan is its steps: %s', (json, status, priority) => {
    const entries = ['Read', 'Write'].map((content, at) => ({ content, priority: priority[at], status: status[at] }))
    expect(shown([{ type: 'plan', json }])).toEqual({ updates: [{ sessionUpdate: 'plan', entries }], losses: [] })
  })

  test.each(['{}', '7', '[7]', '[{"content":1}]', '{'])('a plan that has none is a loss: %s', (json) => {
    expect(shown([{ type: 'plan', json }])).toEqual({ updates: [], losses: ['dropped plan'] })
  })

  test('notices are for clients that show them', () => {
    const notice = { type: 'notice', severity: 'warning', code: 'slow', text: 'It is slow.' }
    const empty = { ...notice, code: 'empty-answer' }
    expect(shown([notice, empty])).toEqual({ updates: [], losses: ['dropped notice'] })
    expect(shown([notice, empty], { session: { notices: {} } })).toEqual({
      updates: [
        { sessionUpdate: 'notice', severity: 'warning', title: 'It is slow.', _meta: { turnpike: { code: 'slow' } } },
      ],
      losses: [],
    })
  })

  test('the context window of an agent of this protocol is shown with the cost, other totals of a session are not', () => {
    const usage = (more: object) => ({ type: 'usage', scope: 'session', ...more })
    const window = { protocol: 'acp', json: '{"used":10,"size":100,"_meta":{"k":1}}' }
    const update = { sessionUpdate: 'usage_update', used: 10, size: 100, _meta: { k: 1 } }
    expect(shown([usage({ usage: {}, ext: window }), usage({ usage: { costUsd: 0.5 }, ext: window })])).toEqual({
      updates: [update, { ...update, cost: { amount: 0.5, currency: 'USD' } }],
      losses: [],
    })
    const half = { protocol: 'acp', json: '{"used":10}' }
    expect(shown([usage({ usage: { input: 1 } }), usage({ usage: {}, ext: half })])).toEqual({
      updates: [],
      losses: ['dropped usage.session', 'dropped usage.session'],
    })
  })

  test('updates of an agent of this protocol go on under the client’s session', () => {
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session)
    const frame = (update: unknown, method = 'session/update') =>
      JSON.stringify({ jsonrpc: '2.0', method, params: { sessionId: 'its', update } })
    const usage = { sessionUpdate: 'usage_update', used: 1, size: 2 }
    const terminal = { sessionUpdate: 'tool_call_update', content: [{ type: 'terminal', terminalId: 't' }] }
    const foreign = (text: string, protocol = 'acp') => ({ type: 'foreign', protocol, frame: text })
    editor.play(
      turn,
      foreign(frame(usage)),
      foreign(frame(terminal)),
      foreign(frame({ terminalId: 't' })),
      foreign(frame(7)),
      foreign(frame(usage, 'other')),
      foreign('{"method":"session/update"}'),
      foreign(frame(usage), 'zot'),
    )
    expect(editor.read).toEqual([
      { jsonrpc: '2.0', method: 'session/update', params: { sessionId: session, update: usage } },
    ])
    expect(editor.drive.losses).toHaveLength(6)
    expect(editor.drive.losses[5]).toMatchObject({ item: 'foreign', field: 'zot' })
  })

  test('fields of another protocol, or without a place, are losses', () => {
    const other = { protocol: 'other', json: '{}' }
    expect(shown([{ ...OPEN, ext }, { ...SAID[1], ext: other }, CLOSE]).losses).toEqual([
      'dropped ext acp',
      'dropped ext other',
    ])
  })
})

describe('the answer', () => {
  test.each([
    [{ stop: 'end' }, 'end_turn'],
    [{}, 'end_turn'],
    [{ stop: 'max-tokens' }, 'max_tokens'],
    [{ stop: 'max-turns' }, 'max_turn_requests'],
    [{ stop: 'refusal' }, 'refusal'],
    [{ stop: 'content-filter' }, 'refusal'],
    [{ outcome: 'cancelled', stop: 'aborted' }, 'cancelled'],
  ])('to an end %j has the reason %s', (end, stopReason) => {
    expect(answered(...SAID, { ...DONE, stop: undefined, ...end })?.result).toMatchObject({ stopReason })
  })

  test('has the tokens, the cost, the turn, and what was lost', () => {
    const usage = { input: 5, output: 2, reasoning: 1, cacheRead: 3, cacheWrite: 4, costUsd: 0.25 }
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session, 'Hi', 'p')
    const end = { ...DONE, stop: 'stop-sequence', ext: { protocol: 'acp', json: '{"x":1}' } }
    editor.play(turn, { type: 'usage', scope: 'turn', usage }, end)
    expect(editor.last).toEqual({
      jsonrpc: '2.0',
      id: 'p',
      result: {
        stopReason: 'end_turn',
        usage: {
          inputTokens: 5,
          outputTokens: 2,
          totalTokens: 7,
          thoughtTokens: 1,
          cachedReadTokens: 3,
          cachedWriteTokens: 4,
        },
        _meta: {
          turnpike: {
            turn: turn.turn,
            costUsd: 0.25,
            losses: [{ kind: 'weakened', item: 'end.stop', why: 'too-narrow', count: 1 }],
          },
        },
        x: 1,
      },
    })
  })

  test('has no tokens where some are not known', () => {
    const said = answered({ type: 'usage', scope: 'turn', usage: { input: 5, total: 7 } }, DONE)
    expect(said?.result).not.toHaveProperty('usage')
    const total = answered({ type: 'usage', scope: 'turn', usage: { input: 5, output: 1, total: 9 } }, DONE)
    expect(total?.result?.['usage']).toEqual({ inputTokens: 5, outputTokens: 1, totalTokens: 9 })
  })

  test.each([
    [fault('internal', 'It broke.'), -32603],
    [fault('provider-auth', 'Log in.'), -32000],
    [fault('invalid-request', 'No.'), -32602],
    [undefined, -32603],
  ])('to a failure is an error', (why, code) => {
    const said = answered({ type: 'turn-end', outcome: 'failed', fault: why })
    expect(said?.error).toMatchObject({
      code,
      message: why?.message ?? 'The turn failed.',
      data: { code: why?.code ?? 'internal', retryable: false, _meta: { turnpike: { turn: expect.any(String) } } },
    })
  })

  test('to a failure with further fields of others has lost them', () => {
    const other = { protocol: 'other', json: '{}' }
    const { editor, session } = Editor.open()
    const why = fault('internal', 'no', { ext: other })
    editor.play(editor.prompt(session), { type: 'turn-end', outcome: 'failed', fault: why, ext: other })
    expect(editor.drive.losses.map(({ item, field }) => [item, field])).toEqual([
      ['ext', 'other'],
      ['ext', 'other'],
    ])
  })

  test('to a prompt that was refused is an error, and cancelled when the client gave it up', () => {
    const { editor, session } = Editor.open()
    const [one, two] = [editor.prompt(session, 'a', 'a'), editor.prompt(session, 'b', 'b')]
    editor.drive.link.encodeFault(fault('session-busy', 'busy'), one.exchange, 'continues')
    expect(editor.last).toMatchObject({
      id: 'a',
      error: { code: -32603, data: { code: 'session-busy', retryable: true } },
    })
    editor.tell('session/cancel', { sessionId: session })
    editor.tell('session/cancel', { sessionId: session })
    editor.drive.link.encodeFault(fault('overloaded', 'no'), two.exchange, 'continues')
    expect(editor.last).toMatchObject({ id: 'b', result: { stopReason: 'cancelled' } })
    expect(editor.drive.commands.filter(({ type }) => type === 'turn-cancel')).toHaveLength(1)
    const before = editor.read.length
    editor.drive.link.encodeFault(fault('overloaded', 'no'), two.exchange, 'continues')
    editor.drive.link.encode({ type: 'turn-started', turn: 't' }, two.exchange, {} as never)
    expect(editor.read.length).toBe(before)
  })

  test('to a cancelled prompt says so, however its turn ended', () => {
    for (const end of [DONE, { type: 'turn-end', outcome: 'failed', fault: fault('internal', 'no') }]) {
      const { editor, session } = Editor.open()
      const turn = editor.prompt(session, 'Hi', 'p')
      editor.tell('session/cancel', { sessionId: session })
      editor.play(turn, end)
      expect(editor.last).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } })
    }
  })
})

describe('a prompt', () => {
  const blocks = [
    { type: 'text', text: 'Look' },
    { type: 'image', data: 'QUFB', mimeType: 'image/png' },
    { type: 'audio', data: 'QUFB', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///a.ts', name: 'a.ts' },
    { type: 'resource', resource: { uri: 'file:///b.ts', text: 'let b' } },
  ]

  test('is all of its content, with fields that are not known', () => {
    const { editor, session } = Editor.open()
    editor.ask('session/prompt', { sessionId: session, prompt: blocks, _meta: { k: 1 } })
    const [turn] = editor.turns
    expect(turn!.input).toMatchObject([
      { type: 'text', text: 'Look' },
      { type: 'image', base64: 'QUFB', mime: 'image/png' },
      { type: 'audio', base64: 'QUFB', mime: 'audio/wav' },
      { type: 'file', url: 'file:///a.ts', name: 'a.ts' },
      { type: 'text', text: 'file:///b.ts:\nlet b' },
    ])
    expect(turn!.ext).toEqual({ protocol: 'acp', json: '{"_meta":{"k":1}}' })
    expect(editor.drive.answers.get(turn!.exchange)?.trace).toBeUndefined()
  })

  test('may have a trace context of its own', () => {
    const { editor, session } = Editor.open()
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    const prompt = blocks.slice(0, 1)
    editor.ask('session/prompt', { sessionId: session, prompt, _meta: { traceparent, k: 1 } })
    editor.ask('session/prompt', { sessionId: session, prompt, _meta: { traceparent, tracestate: 'a=1' }, x: 1 })
    editor.ask('session/prompt', { sessionId: session, prompt, _meta: { traceparent: 'mine' } })
    const said = editor.turns.map(({ exchange, ext }) => [editor.drive.answers.get(exchange)?.trace, ext?.json])
    expect(said).toEqual([
      [{ traceparent }, '{"_meta":{"k":1}}'],
      [{ traceparent, tracestate: 'a=1' }, '{"x":1}'],
      [undefined, '{"_meta":{"traceparent":"mine"}}'],
    ])
  })

  test.each([
    [{}, 'The parameters are wrong: sessionId is missing.'],
    [{ prompt: 'Hi' }, 'The parameters are wrong: prompt must be an array.'],
    [{ prompt: [] }, 'The parameters are wrong: prompt must not be empty.'],
    [{ prompt: [{ text: 'Hi' }] }, 'The parameters are wrong: prompt.0.type is missing.'],
    [{ prompt: [{ type: 'text', text: 'Hi' }, { type: 'video' }] }, 'prompt.1 is no content block of a known type.'],
  ])('%j is refused', (params, message) => {
    const { editor, session } = Editor.open()
    const sessionId = 'prompt' in params ? session : undefined
    expect(editor.ask('session/prompt', { sessionId, ...params })?.error).toMatchObject({ code: -32602, message })
  })

  test('that joins the turn of another shows it once, and is answered with its end', () => {
    const { editor, session } = Editor.open()
    const [one, two] = [editor.prompt(session, 'a', 'a'), editor.prompt(session, 'b', 'b')]
    const accepted = (how: string) => ({ type: 'turn-accepted', how, session, turn: one.turn })
    editor.play(one, accepted('new'), ...SAID.slice(0, 2))
    editor.play(two, accepted('joined'), SAID[0], { ...SAID[1], turn: one.turn })
    editor.play(one, DONE)
    editor.play(two, { ...DONE, turn: one.turn })
    expect(editor.updates).toHaveLength(1)
    expect(editor.read.slice(1)).toMatchObject([
      { id: 'a', result: { stopReason: 'end_turn', _meta: { turnpike: { turn: one.turn } } } },
      { id: 'b', result: { stopReason: 'end_turn', _meta: { turnpike: { turn: one.turn } } } },
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { events, finish, ofType, running, textLine, updateLine } from './kit.ts'

const chunk = (content: object, more: object = {}) => updateLine('agent_message_chunk', { content, ...more })
const thought = (text: string, more: object = {}) =>
  updateLine('agent_thought_chunk', { content: { type: 'text', text }, ...more })

describe('messages', () => {
  test('one goes on until another id, another kind or a tool comes', () => {
    const drive = running()
    drive.feed(
      thought('Hm', { messageId: 'a' }),
      thought('m.', { messageId: 'a' }),
      textLine('One', { messageId: 'b' }),
      textLine(' more', { messageId: 'b' }),
      textLine('Two', { messageId: 'c' }),
      thought('And?'),
      textLine('Three'),
      updateLine('tool_call', { toolCallId: 't', title: 'Look', status: 'in_progress' }),
      textLine('Four'),
    )
    finish(drive)
    const shown = events(drive).map((event) => JSON.stringify(event).replace(/"role.*|,"executor.*/, ''))
    expect(shown).toEqual([
      '{"type":"turn-started"}',
      '{"type":"message-start","message":"b1",',
      '{"type":"reasoning-delta","message":"b1","text":"Hm"}',
      '{"type":"reasoning-delta","message":"b1","text":"m."}',
      '{"type":"message-end","message":"b1"}',
      '{"type":"message-start","message":"b2",',
      '{"type":"text-delta","message":"b2","text":"One"}',
      '{"type":"text-delta","message":"b2","text":" more"}',
      '{"type":"message-end","message":"b2"}',
      '{"type":"message-start","message":"b3",',
      '{"type":"text-delta","message":"b3","text":"Two"}',
      '{"type":"reasoning-delta","message":"b3","text":"And?"}',
      '{"type":"reasoning-end","message":"b3"}',
      '{"type":"text-delta","message":"b3","text":"Three"}',
      '{"type":"message-end","message":"b3"}',
      '{"type":"tool-start","tool":"t","name":"Look"',
      '{"type":"tool-call","tool":"t","name":"Look","args":"{}"',
      '{"type":"message-start","message":"b4",',
      '{"type":"text-delta","message":"b4","text":"Four"}',
      '{"type":"message-end","message":"b4"}',
      '{"type":"turn-end","outcome":"completed","stop":"end"}',
    ])
  })

  test('content that is no text is a message of its own', () => {
    const drive = running()
    drive.feed(textLine('See: '), chunk({ type: 'image', data: 'QQ==', mimeType: 'image/png' }), textLine('!'))
    finish(drive)
    expect(ofType(drive, 'message-end').map(({ parts }) => parts)).toEqual([
      undefined,
      [{ type: 'image', base64: 'QQ==', mime: 'image/png' }],
      undefined,
    ])
  })

  test('agents write the id of a message before its content or behind it', () => {
    const drive = running()
    const behind = (text: string, messageId: string) =>
      updateLine('agent_message_chunk', { content: { type: 'text', text }, messageId })
    drive.feed(textLine('a', { messageId: 'm' }), behind('b', 'm'), textLine('c', { messageId: 'm' }), behind('d', 'n'))
    expect(ofType(drive, 'text-delta').map(({ message, text }) => message + text)).toEqual(['b1a', 'b1b', 'b1c', 'b2d'])
  })

  const meta = { _meta: { k: 1 } }
  const ext = { protocol: 'acp', json: '{"_meta":{"k":1}}' }
  test.each([
    ['text', chunk({ type: 'text', text: 'a' }, meta), 'text-delta'],
    ['an image', chunk({ type: 'image', data: 'QQ==' }, meta), 'message-end'],
    ['a thought', thought('Hm.', meta), 'reasoning-delta'],
    ['a plan', updateLine('plan', { entries: [], ...meta }), 'plan'],
  ] as const)('further members of %s go on with it', (_, line, type) => {
    const drive = running()
    drive.feed(line)
    expect(ofType(drive, type).map((event) => event.ext)).toEqual([ext])
    expect(drive.losses).toEqual([])
  })

  const lost = (kind: string, item: string, field?: string, why = 'no-place') => [
    { kind, item, ...(field !== undefined && { field }), why, count: 1 },
  ]
  const image = { type: 'image', data: 'QQ==', mimeType: 'image/png' }
  const thoughtOf = (content: object) => updateLine('agent_thought_chunk', { content })
  test.each([
    ['further members of an empty text', chunk({ type: 'text', text: '' }, meta), lost('dropped', 'ext', 'acp')],
    ['further members of an empty thought', thought('', meta), lost('dropped', 'ext', 'acp')],
    ['a thought that is an image', thoughtOf(image), lost('dropped', 'reasoning-delta', 'content')],
    [
      'a thought without its text',
      thoughtOf({ type: 'text' }),
      lost('unparsed', 'reasoning-delta', undefined, 'unknown'),
    ],
    [
      'annotations of a thought',
      thoughtOf({ type: 'text', text: 'a', annotations: {} }),
      lost('weakened', 'reasoning-delta', 'content'),
    ],
  ])('%s are a loss', (_, line, losses) => {
    const drive = running()
    drive.feed(line)
    expect(drive.losses).toEqual(losses)
  })

  test('an image alone is an answer', () => {
    const drive = running()
    drive.feed(chunk({ type: 'image', data: 'QQ==', mimeType: 'image/png' }))
    finish(drive)
    expect(ofType(drive, 'notice')).toEqual([])
  })

  test('empty pieces are nothing, and pieces without content are losses', () => {
    const drive = running()
    drive.feed(
      textLine(''),
      thought(''),
      updateLine('agent_message_chunk'),
      updateLine('agent_thought_chunk', { content: 1 }),
      updateLine('agent_message_chunk', { content: { type: 'text' } }),
    )
    drive.feed(updateLine('user_message_chunk', { content: { type: 'text', text: 'Hi' } }))
    finish(drive)
    expect(drive.losses).toEqual([
      { kind: 'unparsed', item: 'text-delta', why: 'unknown', count: 1 },
      { kind: 'unparsed', item: 'reasoning-delta', why: 'unknown', count: 1 },
      { kind: 'unparsed', item: 'text-delta', why: 'unknown', count: 1 },
    ])
    expect(events(drive).map((event) => (event as { type: string }).type)).toEqual([
      'turn-started',
      'notice',
      'turn-end',
    ])
  })
})

describe('tokens', () => {
  const counts = {
    inputTokens: 10,
    outputTokens: 6,
    totalTokens: 20,
    thoughtTokens: 1,
    cachedReadTokens: 2,
    cachedWriteTokens: 3,
  }
  const usage = { input: 10, output: 6, total: 20, reasoning: 1, cacheRead: 2, cacheWrite: 3 }

  test('of the answer to the prompt', () => {
    const drive = running()
    finish(drive, 'end_turn', { usage: counts })
    expect(ofType(drive, 'usage')).toEqual([{ turn: 't1', type: 'usage', scope: 'turn', usage }])
  })

  test('of model calls, with pieces of text', () => {
    const drive = running()
    drive.feed(
      textLine('', { _meta: { usage: counts } }),
      textLine('x', { _meta: { usage: counts } }),
      textLine('', { _meta: 1 }),
    )
    finish(drive)
    const twice = { input: 20, output: 12, total: 40, reasoning: 2, cacheRead: 4, cacheWrite: 6 }
    expect(ofType(drive, 'usage').map(({ scope, usage: said }) => [scope, said])).toEqual([
      ['call', usage],
      ['call', usage],
      ['turn', twice],
    ])
  })

  test('of Gemini CLI', () => {
    const drive = running()
    finish(drive, 'end_turn', { _meta: { quota: { token_count: { input_tokens: 14, output_tokens: 6 } } } })
    expect(ofType(drive, 'usage')).toMatchObject([{ scope: 'turn', usage: { input: 14, output: 6 } }])
  })

  test('and the cost, of a gateway as the agent', () => {
    const drive = running()
    finish(drive, 'end_turn', { usage: { inputTokens: 1 }, _meta: { turnpike: { costUsd: 0.5 } } })
    expect(ofType(drive, 'usage')).toMatchObject([{ scope: 'turn', usage: { input: 1, costUsd: 0.5 } }])
  })

  test.each([{ usage: null }, { usage: { inputTokens: 0 } }, { _meta: { quota: 1 } }])(
    'that are not known: %j',
    (more) => {
      const drive = running()
      finish(drive, 'end_turn', more)
      expect(ofType(drive, 'usage')).toEqual([])
    },
  )

  test('the cost is that of the session, and the context window a field of this protocol', () => {
    const drive = running()
    const window = { used: 1, size: 2 }
    drive.feed(updateLine('usage_update', { ...window, cost: { amount: 0.5, currency: 'USD' } }))
    drive.feed(updateLine('usage_update', { ...window, cost: { amount: 0.5, currency: 'EUR' } }))
    drive.feed(updateLine('usage_update', window))
    const usage = { turn: 't1', type: 'usage', scope: 'session', ext: { protocol: 'acp', json: '{"used":1,"size":2}' } }
    expect(ofType(drive, 'usage')).toEqual([
      { ...usage, usage: { costUsd: 0.5 } },
      { ...usage, usage: {} },
      { ...usage, usage: {} },
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'usage.costUsd', field: 'currency', why: 'no-place', count: 1 },
    ])
  })
})

describe('other updates', () => {
  test.each([
    [
      'plan',
      { entries: [{ content: 'a', priority: 'low', status: 'pending' }] },
      { type: 'plan', json: '{"entries":[{"content":"a","priority":"low","status":"pending"}]}' },
    ],
    [
      'notice',
      { severity: 'warning', title: 'Careful', description: 'It is hot' },
      { type: 'notice', severity: 'warning', code: 'agent-notice', text: 'Careful: It is hot' },
    ],
    [
      'notice',
      { severity: 'error', title: 'Careful' },
      { type: 'notice', severity: 'error', code: 'agent-notice', text: 'Careful' },
    ],
    [
      'notice',
      { severity: 'debug', title: 'Psst' },
      { type: 'notice', severity: 'info', code: 'agent-notice', text: 'Psst' },
    ],
    [
      'compaction_update',
      { compactionId: 'c', status: 'in_progress' },
      { type: 'notice', severity: 'info', code: 'compaction', text: 'The agent compacts its conversation.' },
    ],
    [
      'compaction_update',
      { compactionId: 'c', status: 'failed', error: 'no room' },
      {
        type: 'notice',
        severity: 'warning',
        code: 'compaction',
        text: 'The agent could not compact its conversation (no room).',
      },
    ],
    [
      'compaction_update',
      { compactionId: 'c', status: 'failed' },
      {
        type: 'notice',
        severity: 'warning',
        code: 'compaction',
        text: 'The agent could not compact its conversation.',
      },
    ],
    [
      'compaction_update',
      { compactionId: 'c', status: 'odd' },
      { type: 'notice', severity: 'info', code: 'compaction', text: 'The compaction of the conversation is: odd.' },
    ],
  ])('%s %j', (kind, more, event) => {
    const drive = running()
    drive.feed(updateLine(kind, more))
    expect(events(drive).at(-1)).toEqual(event)
  })

  test.each([
    ['plan', {}, 'plan'],
    ['plan', { entries: 'x' }, 'plan'],
    ['notice', {}, 'notice'],
    ['compaction_update', {}, 'notice'],
    ['usage_update', { cost: 1, size: 1 }, undefined],
    ['usage_update', { cost: 1 }, 'usage'],
    ['tool_call', {}, 'tool-start'],
  ])('%s %j has not its shape', (kind, more, item) => {
    const drive = running()
    drive.feed(updateLine(kind, more))
    const losses = drive.losses.filter((loss) => loss.kind === 'unparsed').map((loss) => loss.item)
    expect(losses).toEqual(item === undefined ? [] : [item])
  })

  test('the summary of a compaction has no place', () => {
    const drive = running()
    drive.feed(updateLine('compaction_summary_chunk', { compactionId: 'c', content: { type: 'text', text: 'x' } }))
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'notice', field: 'summary', why: 'no-place', count: 1 }])
  })

  test.each([
    ['current_mode_update', { currentModeId: 'plan' }, { mode: 'plan' }],
    [
      'available_commands_update',
      {
        availableCommands: [
          { name: 'a', description: 'b', input: { hint: 'c' } },
          { name: 'd', input: null },
        ],
      },
      { commands: [{ name: 'a', description: 'b', hint: 'c' }, { name: 'd' }] },
    ],
    ['session_info_update', { title: 'T' }, { title: 'T' }],
    [
      'config_option_update',
      { configOptions: [{ id: 'o', name: 'O', type: 'boolean', currentValue: true }] },
      { options: [{ id: 'o', name: 'O', type: 'boolean', value: true }] },
    ],
  ])('%s changes what the session offers', (kind, more, offers) => {
    const drive = running()
    drive.feed(updateLine(kind, more))
    expect(drive.events.at(-1)).toEqual({ turn: null, type: 'session-changed', json: JSON.stringify(offers) })
  })

  test.each(['current_mode_update', 'available_commands_update', 'config_option_update'])(
    '%s has not its shape',
    (kind) => {
      const drive = running()
      drive.feed(updateLine(kind))
      expect(ofType(drive, 'foreign')).toHaveLength(1)
    },
  )

  test('a session without a new title says nothing', () => {
    const drive = running()
    drive.feed(updateLine('session_info_update', { title: null }), updateLine('session_info_update', { title: 7 }))
    expect(drive.events.slice(1)).toEqual([])
  })
})

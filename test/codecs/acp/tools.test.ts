import { describe, expect, test } from 'vitest'
import type { AskReply } from '../../../src/model/index.ts'
import type { BackDrive } from '../../kit/drive.ts'
import { answerOf, events, finish, OPTIONS, ofType, permissionLine, requestLine, running, updateLine } from './kit.ts'

const call = (more: object = {}) => updateLine('tool_call', { toolCallId: 't', title: 'Look', ...more })
const update = (more: object = {}) => updateLine('tool_call_update', { toolCallId: 't', ...more })
const text = (said: string) => ({ type: 'content', content: { type: 'text', text: said } })
const reply = (drive: BackDrive, ask: string, said: AskReply) =>
  drive.link.encode({ type: 'ask-reply', exchange: 'x', target: 'running', ask, reply: said })

/** The tool events of a turn with these lines. */
function shown(...lines: string[]): object[] {
  const drive = running()
  drive.feed(...lines)
  return events(drive).filter((event) => (event as { type: string }).type.startsWith('tool'))
}

const START = { type: 'tool-start', tool: 't', name: 'Look', executor: 'agent', title: 'Look' }
const CALL = { type: 'tool-call', tool: 't', name: 'Look', args: '{}', executor: 'agent' }

describe('a call', () => {
  test('from its announcement to its result; numbers stay as they are', () => {
    const raw = '{"n":1.0,"big":12345678901234567890}'
    const started = update({ status: 'in_progress' }).replace('"in_progress"', `"in_progress","rawInput":${raw}`)
    expect(
      shown(
        call({ status: 'pending', kind: 'read', rawInput: {}, content: [] }),
        started,
        update({ content: [text('a')] }),
        update({ content: [text('ab')] }),
        update({ status: 'completed', content: [text('abc')] }),
      ),
    ).toEqual([
      { ...START, kind: 'read' },
      { ...CALL, args: raw },
      { type: 'tool-progress', tool: 't', parts: [{ type: 'text', text: 'a' }] },
      { type: 'tool-progress', tool: 't', parts: [{ type: 'text', text: 'b' }] },
      { type: 'tool-end', tool: 't', status: 'ok', parts: [{ type: 'text', text: 'abc' }] },
    ])
  })

  test('its first arguments may be a part of them', () => {
    expect(shown(call({ rawInput: { cwd: '/' } }))).toEqual([START])
    expect(shown(call({ rawInput: { cwd: '/' } }), update({ rawInput: { cwd: '/', command: 'ls' } }))).toEqual([
      START,
      { ...CALL, args: '{"cwd":"/","command":"ls"}' },
    ])
  })

  test('that is announced by its end alone', () => {
    expect(shown(update({ status: 'failed', rawOutput: 'no' }))).toEqual(
      [
        { ...START, name: 'tool', title: undefined },
        { ...CALL, name: 'tool' },
        {
          type: 'tool-end',
          tool: 't',
          status: 'error',
          parts: [{ type: 'text', text: 'no' }],
          ext: { protocol: 'acp', json: '{"rawOutput":"no"}' },
        },
      ].map((event) => JSON.parse(JSON.stringify(event)) as object),
    )
  })

  test('an id that is used again after its end is another call', () => {
    const tools = shown(call({ status: 'completed' }), call({ status: 'completed' })).map(
      (event) => (event as { tool: string }).tool,
    )
    expect(tools).toEqual(['t', 't', 't', 't#2', 't#2', 't#2'])
  })

  test.each([
    ['tool-progress', { _meta: { response: 1 } }],
    ['tool-progress', { status: 'in_progress', content: [text('more')] }],
    ['tool-end', { status: 'completed', content: [text('again')] }],
    ['tool-end', { status: 'failed' }],
  ])('an update after its end is no other call, but a loss of a %s: %j', (item, more) => {
    const late = { kind: 'dropped', item, field: 'late', why: 'no-place', count: 1 }
    const drive = running()
    drive.feed(call({ status: 'completed' }), update(more))
    expect(ofType(drive, 'tool-start')).toHaveLength(1)
    expect(drive.losses).toEqual([late])
    finish(drive)
    for (const turn of ['t2', 't3']) {
      drive.start('Hi', { turn })
      drive.feed(update(more))
      finish(drive)
    }
    expect(ofType(drive, 'tool-start')).toHaveLength(1)
    expect(drive.losses).toEqual([late, late, late])
  })

  test('a call that is announced, or asked about, is another one than that of its id in an earlier turn', () => {
    const drive = running()
    drive.feed(call({ status: 'completed' }))
    finish(drive)
    drive.start('Hi', { turn: 't2' })
    drive.feed(call(), update({ status: 'completed' }))
    drive.feed(permissionLine(1, { toolCallId: 't' }, OPTIONS), update({ status: 'completed' }))
    expect(ofType(drive, 'tool-end').map(({ turn, tool }) => [turn, tool])).toEqual([
      ['t1', 't'],
      ['t2', 't'],
      ['t2', 't#2'],
    ])
    expect(drive.losses).toEqual([])
  })

  test.each([
    ['its title', { title: 'Read a.txt' }, '{"title":"Read a.txt"}'],
    ['its kind and name', { kind: 'read', name: 'read_file' }, '{"name":"read_file","kind":"read"}'],
    ['its arguments once it runs', { rawInput: { a: 2 } }, '{"rawInput":{"a":2}}'],
    ['all with further members', { title: 'B', _meta: { m: 1 } }, '{"title":"B","_meta":{"m":1}}'],
    ['nothing', { title: 'Look', kind: null, name: '', rawInput: { a: 1 } }, undefined],
  ])('an update changes %s', (_, more, json) => {
    const drive = running()
    drive.feed(call({ status: 'in_progress', rawInput: { a: 1 } }), update(more), update(more))
    const ext = json === undefined ? [] : [{ protocol: 'acp', json }]
    expect(ofType(drive, 'tool-progress').map((event) => event.ext)).toEqual(ext)
    drive.feed(update({ status: 'completed', ...more, title: 'Done' }))
    const [end] = ofType(drive, 'tool-end')
    expect(JSON.parse(end!.ext!.json)).toMatchObject({ title: 'Done' })
  })

  test('a question says its title and its arguments', () => {
    const drive = running()
    drive.feed(call({ status: 'in_progress' }))
    const asked = { toolCallId: 't', title: 'Read a.txt', rawInput: { a: 1 } }
    drive.feed(permissionLine(1, asked, OPTIONS), update({ title: 'Read a.txt', rawInput: { a: 1 } }))
    expect(ofType(drive, 'ask')).toMatchObject([{ question: { description: 'Read a.txt', args: '{"a":1}' } }])
    expect(ofType(drive, 'tool-progress')).toEqual([])
  })

  test.each([
    [{ name: 'read_file', _meta: { toolName: 'x' } }, 'read_file'],
    [{ _meta: { toolName: 'write_file' }, kind: 'edit' }, 'write_file'],
    [{ _meta: { claudeCode: { toolName: 'Bash' } }, kind: 'execute' }, 'Bash'],
    [{ toolCallId: 'write_file__call_1', kind: 'edit' }, 'write_file'],
    [{ kind: 'execute' }, 'Look'],
    [{ kind: 'execute', title: 'ls -l' }, 'execute'],
    [{ kind: 'other', title: 'Look around' }, 'Look around'],
    [{ title: '' }, 'tool'],
  ])('%j is named %s', (more, name) => expect(shown(call(more))).toMatchObject([{ type: 'tool-start', name }]))

  test.each([
    [
      'a diff',
      { content: [{ type: 'diff', path: '/a', oldText: null, newText: 'b' }] },
      [{ type: 'diff', path: '/a', before: null, after: 'b' }],
    ],
    [
      'a changed file',
      { content: [{ type: 'diff', path: '/a', oldText: 'a', newText: 'b' }] },
      [{ type: 'diff', path: '/a', before: 'a', after: 'b' }],
    ],
    ['no diff', { content: [{ type: 'diff', path: 1 }] }, [{ type: 'data', json: '{"type":"diff","path":1}' }]],
    [
      'an image',
      { content: [{ type: 'content', content: { type: 'image', data: 'QQ==', mimeType: 'image/png' } }] },
      [{ type: 'image', base64: 'QQ==', mime: 'image/png' }],
    ],
    ['content that is no object', { content: ['x'] }, [{ type: 'data', json: '"x"' }]],
    ['content without content', { content: [{ type: 'content' }] }, [{ type: 'data', json: '{"type":"content"}' }]],
    ['raw output', { rawOutput: { a: 1 } }, [{ type: 'data', json: '{"a":1}' }]],
    ['no output', { rawOutput: null }, []],
    ['empty output', { rawOutput: '' }, []],
  ])('ends with %s', (_, more, parts) => {
    expect(shown(call({ status: 'in_progress' }), update({ status: 'completed', ...more })).at(-1)).toMatchObject({
      type: 'tool-end',
      parts,
    })
  })

  test('its last content is its result, and output that is replaced is not shown in between', () => {
    const lines = [
      call({ content: [text('abc')] }),
      update({ content: [text('xyz')] }),
      update({ status: 'completed' }),
    ]
    expect(shown(...lines).slice(1)).toEqual([
      { type: 'tool-progress', tool: 't', parts: [{ type: 'text', text: 'abc' }] },
      CALL,
      { type: 'tool-end', tool: 't', status: 'ok', parts: [{ type: 'text', text: 'xyz' }] },
    ])
  })

  test('content that is not text alone is not shown in between', () => {
    const diff = { type: 'diff', path: '/a', newText: 'b' }
    expect(shown(call({ content: [text('a'), diff] }))).toEqual([START])
  })

  test('what else an update has is kept, once', () => {
    const locations = [{ path: '/a', line: 3 }]
    const ext = { protocol: 'acp', json: '{"locations":[{"path":"/a","line":3}]}' }
    expect(shown(call({ locations }), update({ locations }), update({ locations: [] }))).toEqual([
      { ...START, ext },
      { type: 'tool-progress', tool: 't', parts: [], ext: { protocol: 'acp', json: '{"locations":[]}' } },
    ])
  })
})

describe('terminals', () => {
  const terminal = { content: [{ type: 'terminal', terminalId: 'x' }] }
  const lost = { kind: 'dropped', item: 'tool-end', field: 'terminal', why: 'no-place', count: 1 }

  test('of the client are not there', () => {
    const drive = running()
    drive.feed(call({ status: 'in_progress', ...terminal }), update({ status: 'completed' }))
    expect(drive.losses).toEqual([lost])
  })

  test('of the agent itself: their output is that of the call', () => {
    const drive = running()
    const written = (data: string) => ({ _meta: { terminal_output: { terminal_id: 'x', data } } })
    drive.feed(
      call({ status: 'in_progress', ...terminal, _meta: { terminal_info: { terminal_id: 'x' } } }),
      update(written('a\n')),
      update({ status: 'completed', ...written('b') }),
    )
    expect(drive.losses).toEqual([])
    expect(ofType(drive, 'tool-progress').map(({ parts }) => parts)).toEqual([[{ type: 'text', text: 'a\n' }]])
    expect(ofType(drive, 'tool-end')).toMatchObject([{ parts: [{ type: 'text', text: 'a\nb' }] }])
  })

  test('without output', () => {
    const drive = running()
    drive.feed(call(terminal), update({ status: 'completed', _meta: { terminal_exit: { exit_code: 0 } } }))
    expect([drive.losses, ofType(drive, 'tool-end')[0]?.parts]).toEqual([[], []])
  })

  test('of which other things are told', () => {
    const drive = running()
    drive.feed(call({ ...terminal, _meta: { other: 1 } }), update({ status: 'completed' }))
    expect(drive.losses).toEqual([lost])
  })
})

describe('a permission', () => {
  const toolCall = { toolCallId: 't', title: 'Write a.txt', kind: 'edit', rawInput: { path: 'a.txt' } }

  test('is asked with the options of the agent, for a call that was not announced', () => {
    const drive = running()
    const options = [
      ...OPTIONS,
      { optionId: 'ever', kind: 'allow_always' },
      { optionId: 'never', name: 'Never', kind: 'reject_always' },
      { optionId: 'odd', name: 'Odd', kind: 'maybe' },
      { optionId: 'none' },
    ]
    drive.feed(permissionLine(0, { ...toolCall, content: [text('x')] }, options))
    expect(events(drive).map((event) => (event as { type: string }).type)).toEqual([
      'turn-started',
      'tool-start',
      'tool-call',
      'ask',
    ])
    expect(ofType(drive, 'ask')).toEqual([
      {
        turn: 't1',
        type: 'ask',
        ask: '0',
        question: {
          kind: 'approval',
          tool: 't',
          name: 'edit',
          args: '{"path":"a.txt"}',
          description: 'Write a.txt',
          options: [
            { id: 'yes', kind: 'allow', scope: 'once', label: 'Allow' },
            { id: 'no', kind: 'deny', scope: 'once', label: 'Reject' },
            { id: 'ever', kind: 'allow', scope: 'always' },
            { id: 'never', kind: 'deny', scope: 'always', label: 'Never' },
            { id: 'odd', kind: 'deny', scope: 'once', label: 'Odd' },
            { id: 'none', kind: 'deny', scope: 'once' },
          ],
        },
        ext: { protocol: 'acp', json: '{"content":[{"type":"content","content":{"type":"text","text":"x"}}]}' },
      },
    ])
  })

  const cancelled = { outcome: { outcome: 'cancelled' } }
  test.each<[string, AskReply, object, string]>([
    ['allowed', { kind: 'approval', option: 'yes' }, { outcome: { outcome: 'selected', optionId: 'yes' } }, 'error'],
    ['denied', { kind: 'approval', option: 'no' }, { outcome: { outcome: 'selected', optionId: 'no' } }, 'denied'],
    ['denied, and the turn is to stop', { kind: 'approval', option: 'no', stopTurn: true }, cancelled, 'denied'],
    ['denied in words of our own', { kind: 'approval', option: 'deny' }, cancelled, 'denied'],
    ['answered by something else', { kind: 'input', values: '{}' }, cancelled, 'error'],
  ])('%s', (_, said, result, status) => {
    const drive = running()
    drive.feed(permissionLine('p', toolCall, OPTIONS))
    reply(drive, 'p', said)
    reply(drive, 'p', said)
    expect(answerOf(drive, 'p')).toEqual({ result })
    expect(drive.sent).toHaveLength(4)
    drive.feed(update({ status: 'failed' }))
    expect(ofType(drive, 'tool-end')).toMatchObject([{ status }])
  })

  test('a call that was refused ends with the turn, if the agent does not end it', () => {
    const drive = running()
    drive.feed(
      call(),
      updateLine('tool_call', { toolCallId: 'other', title: 'x' }),
      permissionLine(1, toolCall, OPTIONS),
    )
    reply(drive, '1', { kind: 'approval', option: 'no' })
    finish(drive)
    expect(ofType(drive, 'tool-end')).toEqual([
      { turn: 't1', type: 'tool-end', tool: 't', status: 'denied', parts: [] },
    ])
  })

  test('is answered after the call has ended', () => {
    const drive = running()
    drive.feed(permissionLine(1, toolCall, OPTIONS), update({ status: 'completed' }))
    reply(drive, '1', { kind: 'approval', option: 'no' })
    expect(answerOf(drive, 1)).toEqual({ result: { outcome: { outcome: 'selected', optionId: 'no' } } })
    expect(ofType(drive, 'tool-end')).toMatchObject([{ status: 'ok' }])
  })

  test('is cancelled with the turn, also one that comes later', () => {
    const drive = running()
    drive.feed(permissionLine(1, toolCall, OPTIONS))
    drive.link.encode({ type: 'turn-cancel', exchange: 'x', target: 'running' })
    drive.feed(permissionLine(2, toolCall, OPTIONS))
    reply(drive, '1', { kind: 'approval', option: 'yes' })
    expect([answerOf(drive, 1), answerOf(drive, 2)]).toEqual([{ result: cancelled }, { result: cancelled }])
    expect(ofType(drive, 'ask')).toHaveLength(1)
  })

  test('is cancelled when the turn ends without its answer', () => {
    const drive = running()
    drive.feed(permissionLine(1, toolCall, OPTIONS))
    finish(drive)
    expect(answerOf(drive, 1)).toEqual({ result: cancelled })
  })

  test('without a turn, and of another session, is cancelled', () => {
    const drive = running()
    drive.feed(permissionLine(1, toolCall, OPTIONS, 'OTHER'))
    finish(drive)
    drive.feed(permissionLine(2, toolCall, OPTIONS))
    expect([answerOf(drive, 1), answerOf(drive, 2)]).toEqual([{ result: cancelled }, { result: cancelled }])
  })

  test.each([{}, { sessionId: 'S', options: [] }, { sessionId: 'S', toolCall }])(
    'of another shape is refused: %j',
    (params) => {
      const drive = running()
      drive.feed(requestLine(5, 'session/request_permission', params))
      expect(answerOf(drive, 5)?.error?.code).toBe(-32602)
    },
  )

  test('is taken back by the agent', () => {
    const drive = running()
    drive.feed(permissionLine(4, toolCall, OPTIONS), permissionLine('x', { ...toolCall, toolCallId: 'u' }, OPTIONS))
    drive.feed(
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}',
      '{"method":"$/cancel_request"}',
    )
    expect(ofType(drive, 'ask-settled')).toEqual([
      { turn: 't1', type: 'ask-settled', ask: '4', how: 'cancelled', by: 'agent' },
    ])
    expect(answerOf(drive, 4)?.error?.code).toBe(-32800)
  })

  test('two under one id are two questions', () => {
    const drive = running()
    drive.feed(permissionLine(7, toolCall, OPTIONS), permissionLine('7', { ...toolCall, toolCallId: 'u' }, OPTIONS))
    expect(ofType(drive, 'ask').map(({ ask }) => ask)).toEqual(['7', '7#2'])
    reply(drive, '7#2', { kind: 'approval', option: 'yes' })
    expect([answerOf(drive, 7), answerOf(drive, '7')?.result]).toEqual([
      undefined,
      { outcome: { outcome: 'selected', optionId: 'yes' } },
    ])
  })
})

describe('a form', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const form = (requestedSchema: object, more: object = {}) =>
    requestLine('f', 'elicitation/create', { sessionId: 'S', mode: 'form', message: 'Who?', requestedSchema, ...more })

  test('is asked', () => {
    const drive = running()
    drive.feed(form(schema))
    expect(ofType(drive, 'ask')).toEqual([
      {
        turn: 't1',
        type: 'ask',
        ask: 'f',
        question: { kind: 'input', message: 'Who?', schema: JSON.stringify(schema) },
      },
    ])
  })

  test.each<[AskReply, object, object]>([
    [{ kind: 'input', values: '{"name":"me"}' }, schema, { action: 'accept', content: { name: 'me' } }],
    [{ kind: 'input', values: '{}' }, schema, { action: 'decline' }],
    [{ kind: 'input', values: '[]' }, schema, { action: 'decline' }],
    [{ kind: 'input', values: '{}' }, { type: 'object' }, { action: 'accept', content: {} }],
    [{ kind: 'client' }, schema, { action: 'cancel' }],
  ])('%j', (said, requested, result) => {
    const drive = running()
    drive.feed(form(requested))
    reply(drive, 'f', said)
    expect(answerOf(drive, 'f')).toEqual({ result })
  })

  test('is cancelled without a turn', () => {
    const drive = running()
    finish(drive)
    drive.feed(form(schema))
    expect(answerOf(drive, 'f')).toEqual({ result: { action: 'cancel' } })
  })

  test.each([{ mode: 'url', url: 'https://x' }, { mode: 'voice' }, { message: 7 }])(
    'that is no form and no page is an error: %j',
    (more) => {
      const drive = running()
      drive.feed(form(schema, more))
      expect(answerOf(drive, 'f')?.error?.code).toBe(-32602)
    },
  )
})

describe('a page to open', () => {
  const page = requestLine('p', 'elicitation/create', {
    sessionId: 'S',
    mode: 'url',
    message: 'Log in.',
    url: 'https://x',
    elicitationId: 'e1',
  })

  test.each<[AskReply, object]>([
    [{ kind: 'input', values: '{"done":true}' }, { action: 'accept' }],
    [{ kind: 'input', values: '{}' }, { action: 'decline' }],
    [{ kind: 'input', values: '7' }, { action: 'decline' }],
    [{ kind: 'client' }, { action: 'cancel' }],
  ])('%j', (said, result) => {
    const drive = running()
    drive.feed(page)
    const question = { kind: 'input', message: 'Log in.\nhttps://x' }
    expect(ofType(drive, 'ask')).toEqual([
      {
        turn: 't1',
        type: 'ask',
        ask: 'p',
        question,
        ext: { protocol: 'acp', json: '{"url":"https://x","elicitationId":"e1"}' },
      },
    ])
    reply(drive, 'p', said)
    expect(answerOf(drive, 'p')).toEqual({ result })
  })
})

import { describe, expect, test } from 'vitest'
import { implicitCommand } from '../../../codecs/qwen/front/request.ts'
import { chat, completed, front, JSON_ARGS, play, sentLines } from './kit.ts'

const start = (line: string, argv?: readonly string[]) => {
  const drive = front(argv)
  drive.feed(line)
  return drive.commands[0]
}

/** What the front says of a line that it does not take. */
const refusal = (line: object | string) => {
  const drive = front()
  drive.feed(typeof line === 'string' ? line : JSON.stringify(line))
  expect(drive.commands).toEqual([])
  expect(drive.exitCode).toBeUndefined()
  const written = sentLines(drive)[0] as {
    choices: { message: { content: string }; finish_reason: string }[]
    metadata: { error: { code: string; retryable: boolean } }
  }
  expect(written.choices[0]!.finish_reason).toBe('stop')
  expect(written.metadata.error).toMatchObject({ code: 'QWEN_INVALID_REQUEST', type: 'invalid_request_error' })
  expect(written.choices[0]!.message.content).toBe(drive.faults[0]!.fault.message)
  return drive.faults[0]!.fault.message
}

describe('Qwen Chat Request', () => {
  test('the request of the text becomes a turn', () => {
    const line = JSON.stringify({
      session_id: 'session-123',
      prompt_id: 'session-123########7',
      model: 'qwen-coder',
      input: { origin: 'user', parts: [{ type: 'text', text: 'fix the bug' }], command: null },
      options: { temperature: 0.2, tool_overrides: ['EditTool'] },
    })
    const drive = front()
    drive.feed(line)
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        session: { id: 'session-123' },
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        request: 'session-123########7',
        agent: 'qwen-coder',
        input: [{ type: 'text', text: 'fix the bug' }],
        options: { model: 'qwen-coder', temperature: 0.2, tools: ['EditTool'] },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'inline',
    })
  })

  test('what the model has no place for rides along, digits as they came', () => {
    const line =
      '{"session_id":"s","input":{"origin":"user","parts":[{"type":"text","text":"a","x":1.10}],"new":1},"options":{"top_p":1e0,"model":"m"},"continuation":true,"tool_request":{"callId":"1"},"tool_call_id":"t"}'
    expect(start(line)).toMatchObject({
      options: { model: 'm' },
      ext: {
        protocol: 'qwen',
        json: '{"input":{"origin":"user","parts":[{"type":"text","text":"a","x":1.10}],"new":1},"options":{"top_p":1e0},"tool_call_id":"t","continuation":true,"tool_request":{"callId":"1"}}',
      },
    })
  })

  test('a system origin is told to agents of this dialect only', () => {
    const line = '{"session_id":"s","input":{"origin":"system","parts":"/note"}}'
    expect(start(line)).toMatchObject({
      input: [{ type: 'text', text: '/note' }],
      ext: { json: '{"input":{"origin":"system","parts":"/note"}}' },
    })
    expect(start(line)).not.toHaveProperty('invocation')
  })

  test('a tool response that nothing waits for is a turn that brings the result', () => {
    const parts = [{ function_response: { id: 't1', response: { output: 'ok' } } }]
    const one = start(chat('', { prompt_id: undefined, tool_call_id: 't1', input: { origin: 'tool_response', parts } }))
    expect(one).toMatchObject({
      input: [{ type: 'tool-reply', tool: 't1', status: 'ok', parts: [{ type: 'text', text: 'ok' }] }],
    })
    const two = start(chat('', { tool_call_id: 't1', input: { origin: 'tool_response', parts: 'plain' } }))
    expect(two).toMatchObject({
      input: [{ type: 'tool-reply', tool: 't1', status: 'ok', parts: [{ type: 'text', text: 'plain' }] }],
    })
    expect(two).not.toHaveProperty('ext')
  })

  test('sessions: named, new, and the same again', () => {
    const drive = front([...JSON_ARGS, '--session-id', 'mine'])
    const ids: unknown[] = []
    for (const session of [undefined, '_new', undefined, 'other', undefined]) {
      drive.feed(chat('x', { session_id: session, prompt_id: undefined }))
      ids.push(drive.commands.at(-1)!.session, (drive.commands.at(-1) as { request?: string }).request)
      play(drive, [completed])
    }
    expect(ids).toEqual([
      { id: 'mine' },
      'mine########1',
      { id: 'f3' },
      'f3########1',
      { id: 'f3' },
      'f3########2',
      { id: 'other' },
      'other########1',
      { id: 'f3' },
      'f3########3',
    ])
  })

  test('a tool result goes on under the id of the turn before', () => {
    const drive = front()
    drive.feed(chat('x', { prompt_id: 'p7' }))
    play(drive, [completed])
    drive.feed(chat('', { prompt_id: undefined, tool_call_id: 'c', input: { origin: 'tool_response', parts: 'r' } }))
    expect(drive.commands.at(-1)).toMatchObject({ request: 'p7' })
    const other = front()
    other.feed(chat('', { prompt_id: undefined, tool_call_id: 'c', input: { origin: 'tool_response', parts: 'r' } }))
    expect(other.commands.at(-1)).toMatchObject({ request: 's########1' })
  })

  test('defaults of the argument line', () => {
    const argv = [...JSON_ARGS, '--model=big', '--system-prompt', 'Be brief.']
    expect(start(chat('x'), argv)).toMatchObject({
      agent: 'big',
      options: { model: 'big', systemPrompt: 'Be brief.' },
    })
    expect(start(chat('x', { model: 'small' }), argv)).toMatchObject({ agent: 'small' })
  })

  test.each([
    [{ input: 1 }, 'input must be an object.'],
    [{ input: {} }, 'input has neither parts nor a command.'],
    [{ session_id: 1, input: {} }, 'session_id must be a string.'],
    [{ input: { origin: 'tool_response', parts: [] } }, 'tool_call_id is required with the origin tool_response.'],
    [{ input: { origin: 'me', parts: [] } }, 'input.origin must be user, tool_response or system.'],
    [{ continuation: 'yes', input: { parts: 'x' } }, 'continuation must be a boolean.'],
    [{ input: { command: { kind: 'shell', path: ['x'] } } }, 'input.command.kind must be "slash" or "at".'],
    [{ input: { command: { kind: 'slash', path: [] } } }, 'input.command.path must not be empty.'],
    [{ messages: [] }, 'messages must not be empty.'],
    [
      { messages: [{ role: 'assistant', content: 'x' }] },
      'The last of messages must be one of the user or of a tool, with content.',
    ],
    [{ messages: [{ role: 'user', content: '' }, 1] }, 'messages.1 must hold objects.'],
    [
      { messages: [{ role: 'user', content: [] }] },
      'The last of messages must be one of the user or of a tool, with content.',
    ],
    [{ type: 'what' }, 'The line is no request: it has neither input nor messages, and its type is not known.'],
    [[1], 'The line is not a JSON object.'],
    ['{"input":', 'The line is not JSON.'],
  ])('%j is refused: %s', (line, message) => {
    expect(refusal(line)).toBe(message)
  })

  test('a refused request names its own place when it has one', () => {
    const drive = front()
    drive.feed(chat('x', { input: {} }))
    expect(sentLines(drive)[0]).toMatchObject({ session_id: 's', prompt_id: 's########1', id: 'chatcmpl-s' })
  })
})

describe('commands', () => {
  test.each([
    ['/chat list', { kind: 'slash', path: ['chat', 'list'], args: '' }],
    ['/chat list all of it', { kind: 'slash', path: ['chat', 'list'], args: 'all of it' }],
    ['/clear', { kind: 'slash', path: ['clear'], args: '' }],
    ['/git:commit 12 files', { kind: 'slash', path: ['git:commit'], args: '12 files' }],
    ['@main.py fix it', { kind: 'at', path: ['main.py'], args: 'fix it' }],
    ['?', { kind: 'slash', path: ['help'], args: '' }],
    ['? chat', { kind: 'slash', path: ['help'], args: 'chat' }],
    ['/usr/bin is a folder', undefined],
    ['/', undefined],
    ['@ home', undefined],
    ['a /clear', undefined],
  ])('%s', (text, invocation) => {
    expect(implicitCommand([{ type: 'text', text }])?.invocation).toEqual(invocation)
  })

  test('no text begins no command', () => {
    expect(implicitCommand([{ type: 'image' }])).toBeUndefined()
  })

  test('a declared command without text is told as its user would have typed it', () => {
    const input = { parts: [{ type: 'text', text: '' }], command: { kind: 'slash', path: ['chat', 'list'], args: 'x' } }
    expect(start(chat('', { input }))).toMatchObject({
      input: [{ type: 'text', text: '/chat list x' }],
      invocation: { kind: 'slash', path: ['chat', 'list'], args: 'x' },
    })
    expect(start(chat('', { input: { ...input, command: { kind: 'at', path: ['a.ts'] } } }))).toMatchObject({
      input: [{ type: 'text', text: '@a.ts' }],
      invocation: { kind: 'at', path: ['a.ts'], args: '' },
    })
  })

  test('unknown members of a declared command ride along', () => {
    const input = { parts: 'hi', command: { kind: 'slash', path: ['x'], mode: 1 } }
    expect(start(chat('', { input }))).toMatchObject({ ext: { json: `{"input":${JSON.stringify(input)}}` } })
  })

  test('the answer of a command that an agent takes as a prompt', () => {
    const drive = front()
    drive.feed(chat('/chat list'))
    play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }, { type: 'turn-started' }, completed])
    expect(sentLines(drive)[1]).toEqual({
      type: 'result/command',
      session_id: 's',
      prompt_id: 's########1',
      command: { kind: 'slash', path: ['chat', 'list'], args: '' },
      result: { type: 'submit_prompt', content: '', control_channel: true },
    })
  })

  test('clear empties the session by itself, in its turn', () => {
    const drive = front()
    drive.feed(chat('first'), chat('/clear', { prompt_id: 'p2' }))
    expect(drive.commands).toHaveLength(1)
    play(drive, [completed])
    expect(drive.commands[1]).toEqual({ exchange: 'f3', session: { id: 's' }, type: 'session-clear' })
    drive.sent.length = 0
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f3' })
    expect(sentLines(drive)).toEqual([
      {
        type: 'result/command',
        session_id: 's',
        prompt_id: 'p2',
        command: { kind: 'slash', path: ['clear'], args: '' },
        result: { type: 'message', level: 'info', content: 'The conversation was cleared.' },
      },
      {
        type: 'x-qwen-session-event',
        session_id: 's',
        prompt_id: 'p2',
        event: 'Finished',
        message: 'The turn is finished.',
      },
    ])
  })

  test('a clear that fails says so, in chunks as well', () => {
    const drive = front(['--output-format', 'stream-chunk-json'])
    drive.feed(chat('/clear'))
    const fault = { code: 'internal', message: 'no', retryable: false } as const
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', fault })
    const [role, result, last] = sentLines(drive)
    expect(role).toMatchObject({ choices: [{ delta: { role: 'assistant' } }] })
    expect(result).toMatchObject({ result: { type: 'message', level: 'error', content: 'no' } })
    expect(last).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  })

  test('compress compacts the transcript; its summary is the result', () => {
    const drive = front()
    drive.feed(chat('/compress'))
    expect(drive.commands[0]).toMatchObject({ type: 'turn-start', task: 'compact', input: [] })
    expect(drive.commands[0]).not.toHaveProperty('invocation')
    play(drive, [
      { type: 'turn-accepted', how: 'new', session: 's' },
      { ...completed, summary: 'All was said.' },
    ])
    expect(sentLines(drive).slice(1)).toMatchObject([
      { type: 'x-qwen-session-event', event: 'ChatCompressed' },
      { type: 'result/command', result: { type: 'message', level: 'info', content: 'All was said.' } },
      { type: 'x-qwen-session-event', event: 'Finished' },
    ])
  })

  test('a compaction whose agent gives the result itself', () => {
    const drive = front()
    drive.feed(chat('/compress'))
    const ext = { protocol: 'qwen', json: '{"result":{"type":"tool"}}' }
    play(drive, [
      { type: 'turn-accepted', how: 'new', session: 's' },
      { type: 'notice', severity: 'info', code: 'command-result', text: '', ext },
      completed,
    ])
    expect(sentLines(drive).filter(({ type }) => type === 'result/command')).toMatchObject([
      { result: { type: 'tool' } },
    ])
  })

  test('a compaction without a word, and one that fails', () => {
    const drive = front()
    drive.feed(chat('/compress'))
    play(drive, [completed])
    expect(sentLines(drive).find(({ type }) => type === 'result/command')).toMatchObject({
      result: { content: 'The conversation was compacted.' },
    })
    const other = front()
    other.feed(chat('/compress'))
    play(other, [{ type: 'turn-end', outcome: 'failed', fault: { code: 'internal', message: 'no', retryable: false } }])
    expect(sentLines(other).at(-1)).toMatchObject({ error: { message: 'no' } })
  })
})

describe('OpenAI body', () => {
  test('the body of the text, with a session of its own each time', () => {
    const drive = front()
    const body = '{"model":"qwen-coder","messages":[{"role":"user","content":"hello"}]}'
    drive.feed(body)
    play(drive, [completed])
    drive.feed(body)
    expect(drive.commands[0]).toEqual({
      exchange: 'f2',
      session: { id: 'f1' },
      type: 'turn-start',
      turn: 'f3',
      task: 'prompt',
      request: 'f1########1',
      agent: 'qwen-coder',
      input: [{ type: 'text', text: 'hello' }],
      options: { model: 'qwen-coder' },
    })
    expect(drive.commands[1]).toMatchObject({ session: { id: 'f4' } })
  })

  test('a whole conversation', () => {
    const line = JSON.stringify({
      session_id: 's',
      prompt_id: 'p',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        { role: 'user', content: 'look' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"n":1.10}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'text' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and this' },
            { type: 'image_url', image_url: { url: 'http://x/y.png' } },
          ],
        },
      ],
      temperature: 0.5,
      stream: true,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }, {}],
    })
    expect(start(line)).toEqual({
      exchange: 'f1',
      session: { id: 's' },
      type: 'turn-start',
      turn: 'f2',
      task: 'prompt',
      request: 'p',
      input: [
        { type: 'text', text: 'and this' },
        { type: 'image', url: 'http://x/y.png' },
      ],
      options: {
        temperature: 0.5,
        streaming: true,
        effort: 'high',
        outputSchema: '{"type":"object"}',
        systemPrompt: 'Be brief.\n\nBe kind.',
      },
      history: [
        { role: 'user', parts: [{ type: 'text', text: 'look' }] },
        { role: 'assistant', parts: [{ type: 'tool-call', tool: 'c1', name: 'read', args: '{"n":1.10}' }] },
        {
          role: 'tool',
          parts: [{ type: 'tool-reply', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'text' }] }],
        },
      ],
      clientTools: [
        { name: 'look_up', schema: '{"type":"object"}' },
        { name: '', schema: '{}' },
      ],
      ext: {
        protocol: 'qwen',
        json: `{"messages":${line.slice(line.indexOf('[{'), line.indexOf(',"temperature"'))},"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}}}`,
      },
    })
  })

  test('messages that say more than the model can ride along', () => {
    const messages = '[{"role":"user","name":"ann","content":"hi"},{"role":"narrator","content":"x"}]'
    expect(start(`{"messages":${messages}}`)).toMatchObject({
      input: [{ type: 'text', text: 'x' }],
      ext: { json: `{"messages":${messages}}` },
    })
  })

  test('a single message may be a command', () => {
    expect(start('{"messages":[{"role":"user","content":"/help"}]}')).toMatchObject({
      invocation: { kind: 'slash', path: ['help'], args: '' },
    })
  })

  test('a tool message may come last', () => {
    expect(start('{"messages":[{"role":"function","content":"x"}]}')).toMatchObject({
      input: [{ type: 'tool-reply', tool: '', status: 'ok', parts: [{ type: 'text', text: 'x' }] }],
    })
  })
})

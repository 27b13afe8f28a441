import { describe, expect, test } from 'vitest'
import { driveBack } from '../../kit/drive.ts'
import {
  assistant,
  codec,
  controlError,
  controlSuccess,
  endOf,
  failure,
  greeted,
  init,
  requestId,
  respond,
  running,
  SESSION,
  sentObjects,
  success,
  system,
  turnEvents,
  user,
} from './kit.ts'

const processOf = (...args: string[]) => ({ process: { command: 'qwen', args, env: {}, cwd: '/' } })
const flags = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages']
const OTHER = '99999999-2222-4333-8444-555555555555'

describe('the process', () => {
  test('is started with what the configuration leaves out, and greeted', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    expect(drive.calls).toEqual([
      {
        kind: 'process',
        stdin: 'open',
        args: [...flags, '--approval-mode', 'default'],
        env: { QWEN_CODE_NO_RELAUNCH: '1' },
      },
    ])
    expect(sentObjects(drive)).toEqual([
      {
        type: 'control_request',
        request_id: 'turnpike-b1',
        request: { subtype: 'initialize', hooks: null, timeout: { canUseTool: 600000 } },
      },
    ])
    const raw = '{"subtype":"initialize","session_id":"s","x":1.0}'
    drive.feed(
      `{"type":"control_response","response":{"subtype":"success","request_id":"turnpike-b1","response":${raw}}}`,
    )
    expect(drive.events).toEqual([{ turn: null, type: 'agent-ready', json: raw }])
  })

  test.each([
    [
      ['cli.js', '-o', 'stream-json', '--yolo'],
      ['--input-format', 'stream-json', '--include-partial-messages'],
    ],
    [['--approval-mode=plan', '--input-format=stream-json', '--include-partial-messages'], flags.slice(2, 4)],
    [['-y'], flags],
  ])('%j gets %j', (args, added) => {
    const drive = driveBack(codec, processOf(...args))
    drive.link.open!()
    expect(drive.calls[0]).toMatchObject({ args: [...args, ...added] })
  })

  test('that ends before it answers is not available', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.link.decodeEnd({ why: 'closed', exitCode: 1, stderr: 'secret' })
    expect(endOf(drive.events).fault).toEqual({
      code: 'agent-unavailable',
      message:
        'The Qwen Code agent "agent" ended before it answered initialize: check its arguments, its model and its credentials (its stderr is in the gateway log).',
      retryable: false,
    })
    // Whatever comes for a link that is dead fails for the same reason.
    drive.start('again', { turn: 't2' })
    expect(drive.events.at(-1)).toMatchObject({ turn: 't2', outcome: 'failed', fault: { code: 'agent-unavailable' } })
    drive.feed(init())
    drive.link.decodeEnd({ why: 'closed' })
    expect(drive.events).toHaveLength(2)
  })

  test.each([
    [{ why: 'failed' as const }, 'agent-unavailable'],
    [{ why: 'timeout' as const }, 'timeout'],
    [{ why: 'closed' as const, fault: { code: 'overloaded' as const, message: 'm', retryable: true } }, 'overloaded'],
  ])('that fails with %j is %s', (end, code) => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.link.decodeEnd(end)
    expect(endOf(drive.events).fault!.code).toBe(code)
  })

  test('may say in a result why it cannot start', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.feed(success('early'), failure('No auth type is selected. Please configure one.'))
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(endOf(drive.events).fault).toEqual({
      code: 'provider-auth',
      message: 'No auth type is selected. Please configure one.',
      retryable: false,
    })
  })

  test('has nothing to say before it has answered initialize', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.feed(assistant([{ type: 'text', text: 'too early' }]))
    respond(drive, 'initialize')
    drive.start('hi')
    drive.feed(success('late enough'))
    expect(drive.events.map(({ type }) => type)).not.toContain('notice')
    expect(endOf(drive.events).outcome).toBe('completed')
  })

  test('may say in a result that it cannot start, and not why', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.feed(failure(undefined))
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(endOf(drive.events).fault).toEqual({
      code: 'internal',
      message: 'The agent ended the turn with an error and did not say which.',
      retryable: false,
    })
  })

  test.each([
    ['no', 'The agent refused initialize: no'],
    [{ message: 'not you' }, 'The agent refused initialize: not you'],
    [{}, 'The agent refused initialize: The agent refused the request.'],
    ['', 'The agent refused initialize: The agent refused the request.'],
  ])('that refuses the handshake (%j) is not available', (error, message) => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.feed(controlError(requestId(drive, 'initialize'), error))
    expect(endOf(drive.events).fault).toEqual({ code: 'agent-unavailable', message, retryable: false })
    expect(drive.faults).toEqual([{ code: 'agent-unavailable', message, retryable: false }])
  })

  test('that speaks the text of the RFC names the pin', () => {
    for (const line of [
      '{"object":"chat.completion.chunk"}',
      '{"type":"result/command"}',
      '{"type":"x-qwen-thought"}',
    ]) {
      const drive = driveBack(codec)
      drive.link.open!()
      drive.start('hi')
      drive.feed(line)
      const text =
        'The agent speaks the protocol of the RFC, not that of the shipped Qwen Code: set `protocol: qwen` in its configuration.'
      expect(drive.faults).toEqual([{ code: 'protocol-violation', message: text, retryable: false }])
      expect(endOf(drive.events).fault!.code).toBe('protocol-violation')
    }
  })

  test.each([
    [53, 'max-turns', 'internal', 'model calls (--max-session-turns)'],
    [55, 'max-turns', 'internal', 'tool calls or of time (--max-tool-calls, --max-wall-time)'],
    [130, 'error', 'agent-crashed', 'exited with code 130'],
  ])('that exits with %i in a turn', (exitCode, stop, code, text) => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: 'a' }], { usage: { input_tokens: 3 } }))
    drive.link.decodeEnd({ why: 'closed', exitCode })
    const end = endOf(drive.events)
    expect(end).toMatchObject({ outcome: 'failed', stop, fault: { code } })
    expect(end.fault!.message).toContain(text)
    expect(turnEvents(drive).at(-2)).toEqual({ type: 'usage', scope: 'turn', usage: { input: 3 } })
  })

  test('that is gone for another reason than its exit code', () => {
    const drive = running()
    drive.link.decodeEnd({ why: 'timeout', exitCode: 53 })
    expect(endOf(drive.events).fault!.code).toBe('timeout')
  })
})

describe('a message', () => {
  const sentText = (drive: ReturnType<typeof greeted>) => String(drive.sent.at(-1))

  test('waits for the handshake', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    expect(drive.sent).toHaveLength(1)
    respond(drive, 'initialize', { session_id: SESSION })
    expect(drive.sent[1]).toBe(
      `{"type":"user","session_id":"${SESSION}","message":{"role":"user","content":"hi"},"parent_tool_use_id":null}`,
    )
  })

  test('is escaped for a reader of lines, and has the unknown members of its client', () => {
    const drive = greeted()
    drive.start('a\u2028b\u2029c\u0085d', {
      ext: { protocol: 'qwen-code', json: '{"options":{"x":\n1,"y":"\u2028"},"message":"forged"}' },
    })
    expect(sentText(drive)).toBe(
      `{"type":"user","session_id":"${SESSION}","message":{"role":"user","content":"a\\u2028b\\u2029c\\u0085d"},"parent_tool_use_id":null,"options":{"x": 1,"y":"\\u2028"}}`,
    )
    expect(drive.losses).toEqual([])
  })

  test('leaves out what has no place', () => {
    const drive = greeted()
    drive.start('', {
      input: [
        { type: 'text', text: 'a' },
        { type: 'data', json: '{"b":1}' },
        { type: 'reasoning', text: 'c' },
        { type: 'image', base64: '' },
      ],
      ext: { protocol: 'zot', json: '{"x":1}' },
    })
    expect(sentText(drive)).toContain('"content":"a\\n{\\"b\\":1}"')
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'part.data', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test.each([
    [{ kind: 'slash' as const, path: ['memory', 'add'], args: 'a fact' }, '/memory add a fact'],
    [{ kind: 'at' as const, path: ['a.txt'], args: '' }, '@a.txt'],
  ])('of a command is what a user types', (invocation, text) => {
    const drive = greeted()
    drive.start('', { input: [], invocation })
    expect(sentText(drive)).toContain(`"content":"${text}"`)
  })

  test('that has a text keeps it, whatever command it is', () => {
    const drive = greeted()
    drive.start('/help me', { invocation: { kind: 'slash', path: ['help'], args: 'me' } })
    expect(sentText(drive)).toContain('"content":"/help me"')
  })

  test.each([
    ['', undefined],
    [' \n', 'Be brief.'],
  ])('without text (%j) is not sent', (text, systemPrompt) => {
    const drive = greeted()
    drive.start(text, { options: { ...(systemPrompt && { systemPrompt }) } })
    expect(drive.sent).toHaveLength(1)
    expect(endOf(drive.events).fault).toEqual({
      code: 'invalid-request',
      message: 'The prompt has no text, and the agent would not answer it.',
      retryable: false,
    })
  })

  test('has the system prompt in front, once', () => {
    const drive = greeted()
    drive.start('hi', { options: { systemPrompt: 'Be brief.' } })
    expect(sentText(drive)).toContain('"content":"System instruction:\\nBe brief.\\n\\nUser message:\\nhi"')
    drive.feed(init(), success('a'))
    drive.start('more', { turn: 't2', options: { systemPrompt: 'Be brief.' }, session: { bound: SESSION } })
    expect(sentText(drive)).toContain('"content":"more"')
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 }])
  })

  test('has none before a command, which would be none then', () => {
    const drive = greeted()
    const options = { systemPrompt: 'Be brief.' }
    const next = (text: string, turn: string) => {
      drive.start(text, { turn, options, session: { bound: SESSION } })
      drive.feed(init(), success('a'))
      return (sentObjects(drive).at(-1)!['message'] as { content: string }).content
    }
    const folded = 'System instruction:\nBe brief.\n\nUser message:\nhi'
    expect(next('/stats', 't1')).toBe('/stats')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'option.systemPrompt', why: 'policy', count: 1 }])
    expect(next('hi', 't2')).toBe(folded)
    expect(next('/stats', 't3')).toBe('/stats')
    expect(next('hi', 't4')).toBe('hi')
    expect(next('/Clear all', 't5')).toBe('/Clear all')
    expect(next('hi', 't6')).toBe(folded)
    expect(drive.losses.map(({ kind }) => kind)).toEqual(['dropped', 'weakened', 'weakened'])
  })

  test('sets another model and effort first', () => {
    const drive = running()
    drive.feed(success('a'))
    const options = { model: 'small', effort: 'high' }
    drive.start('more', { turn: 't2', options, session: { bound: SESSION } })
    expect(sentObjects(drive).at(-1)!['request']).toEqual({ subtype: 'set_model', model: 'small' })
    respond(drive, 'set_model')
    expect(sentObjects(drive).at(-1)!['request']).toEqual({ subtype: 'set_effort', effort: 'high' })
    drive.feed(controlError(requestId(drive, 'set_effort'), 'Unknown control request subtype: set_effort'))
    expect(sentObjects(drive).at(-1)!['type']).toBe('user')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'option.effort', why: 'unknown', count: 1 }])
    // Both are as they should be: nothing is set again.
    drive.feed(init({ model: 'small' }), success('b'))
    const sent = drive.sent.length
    drive.start('again', { turn: 't3', options, session: { bound: SESSION } })
    expect(drive.sent).toHaveLength(sent + 1)
  })

  test('that is cancelled before it was sent is never sent', () => {
    const drive = greeted()
    drive.start('hi', { options: { model: 'small' } })
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    respond(drive, 'set_model')
    expect(endOf(drive.events)).toEqual({ turn: 't1', type: 'turn-end', outcome: 'cancelled', stop: 'aborted' })
    expect(sentObjects(drive).map(({ type }) => type)).toEqual(['control_request', 'control_request'])
  })

  test('that names no model has the one of the session again', () => {
    const drive = running()
    drive.feed(success('a'))
    const models = () =>
      sentObjects(drive).flatMap((line) => {
        const request = line['request'] as { subtype: string; model?: string } | undefined
        return request?.subtype === 'set_model' ? [request.model] : []
      })
    const run = (turn: string, model?: string) => {
      const before = models().length
      drive.start('hi', { turn, options: model === undefined ? {} : { model }, session: { bound: SESSION } })
      if (models().length > before) respond(drive, 'set_model')
      drive.feed(init({ model: models().at(-1) }), success('b'))
    }
    run('t2', 'small')
    run('t3')
    run('t4')
    expect(models()).toEqual(['small', 'big'])
    drive.link.encode({ exchange: 'x9', type: 'config-set', model: 'other' })
    respond(drive, 'set_model')
    run('t5')
    run('t6', 'small')
    run('t7')
    expect(models()).toEqual(['small', 'big', 'other', 'small', 'other'])
  })

  test('that names no model is asked of the configured one, where the first turn named another', () => {
    const drive = greeted(processOf('--model', 'mine'))
    drive.start('hi', { options: { model: 'small' } })
    respond(drive, 'set_model')
    drive.feed(init({ model: 'small' }), success('a'))
    drive.start('hi', { turn: 't2', session: { bound: SESSION } })
    expect(sentObjects(drive).at(-1)!['request']).toEqual({ subtype: 'set_model', model: 'mine' })
  })

  test('behind a cancelled one gets its own model, whatever that one was about to set', () => {
    const drive = running()
    drive.feed(success('a'))
    drive.start('hi', { turn: 't2', options: { model: 'small' }, session: { bound: SESSION } })
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    drive.start('more', { turn: 't3', options: { model: 'big' }, session: { bound: SESSION } })
    expect(sentObjects(drive).at(-1)!['request']).toEqual({ subtype: 'set_model', model: 'big' })
  })

  test('whose process ends while the model is set fails', () => {
    const drive = greeted()
    drive.start('hi', { options: { model: 'small' } })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(endOf(drive.events).fault!.code).toBe('agent-crashed')
  })
})

describe('a session', () => {
  const bindings = (drive: ReturnType<typeof greeted>) =>
    drive.events.flatMap((event) => (event.type === 'session-bound' ? [event.agentSession] : []))

  test('is told with its first turn, and again when it changes', () => {
    const drive = running()
    drive.feed(init({ session_id: undefined }), success('a'))
    drive.start('/clear', { turn: 't2', session: { bound: SESSION } })
    drive.feed(init(), success('b', { session_id: OTHER }))
    expect(bindings(drive)).toEqual([SESSION, OTHER])
  })

  test('that the gateway remembers is gone on with in a process of its own', () => {
    const drive = greeted()
    drive.start('hi', { session: { id: 's1', bound: OTHER } })
    expect(drive.ended).toEqual([undefined])
    expect(drive.calls[1]).toMatchObject({
      call: 'process-2',
      args: [...flags, '--approval-mode', 'default', '--resume', OTHER],
    })
    // What the left process still says, and its end, is nothing.
    drive.feed(init(), success('old'))
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    const say = (data: string) => drive.feed({ data, call: 'process-2' })
    say(controlSuccess(requestId(drive, 'initialize'), { session_id: OTHER }))
    say(init({ session_id: OTHER }))
    say(success('new', { session_id: OTHER, usage: { input_tokens: 900 } }))
    expect(turnEvents(drive).map((event) => (event as { type: string }).type)).toEqual([
      'turn-started',
      'message-start',
      'message-end',
      'turn-end',
    ])
    expect(bindings(drive)).toEqual([])
    drive.start('more', { turn: 't2', session: { id: 's1', bound: OTHER } })
    expect(drive.calls).toHaveLength(2)
  })

  test('is gone on with also while the handshake of the warm process is still open', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi', { session: { bound: OTHER } })
    expect(drive.calls).toHaveLength(2)
    drive.feed({ data: controlSuccess(requestId(drive, 'initialize'), { session_id: 7 }), call: 'process-2' })
    expect(sentObjects(drive).at(-1)).toMatchObject({ type: 'user', session_id: '' })
  })

  test('that is lost on the way has the system prompt again', () => {
    const drive = greeted()
    drive.start('one', { options: { systemPrompt: 'Be brief.' } })
    drive.feed(init())
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('two', { turn: 't2', options: { systemPrompt: 'Be brief.' }, session: { bound: SESSION } })
    drive.link.decodeEnd({ call: 'process-2', why: 'closed', exitCode: 1 })
    drive.start('two', { turn: 't3', options: { systemPrompt: 'Be brief.' } })
    drive.feed({ data: controlSuccess(requestId(drive, 'initialize'), { session_id: OTHER }), call: 'process-3' })
    expect(sentObjects(drive).at(-1)!['message']).toEqual({
      role: 'user',
      content: 'System instruction:\nBe brief.\n\nUser message:\ntwo',
    })
  })

  test('that the agent does not know any more is lost, and a process without a past is there for the next try', () => {
    const drive = greeted()
    drive.start('hi', { session: { id: 's1', bound: OTHER } })
    drive.link.decodeEnd({ call: 'process-2', why: 'closed', exitCode: 1 })
    expect(drive.calls[2]).toMatchObject({ call: 'process-3', args: [...flags, '--approval-mode', 'default'] })
    expect(endOf(drive.events).fault).toMatchObject({ code: 'session-not-found', retry: 'fresh-session' })
    drive.start('hi', { turn: 't2', session: { id: 's1' } })
    expect(drive.calls).toHaveLength(3)
    drive.feed({ data: controlSuccess(requestId(drive, 'initialize'), { session_id: SESSION }), call: 'process-3' })
    drive.feed({ data: init(), call: 'process-3' }, { data: success('hello'), call: 'process-3' })
    expect(drive.events.at(-1)).toMatchObject({ turn: 't2', type: 'turn-end', outcome: 'completed' })
    expect(bindings(drive)).toEqual([SESSION])
  })

  test('has its process started for it, once; one that is lost before a turn came is told with that turn', () => {
    const drive = driveBack(codec)
    drive.link.open!(OTHER)
    expect(drive.calls[0]).toMatchObject({ args: [...flags, '--approval-mode', 'default', '--resume', OTHER] })
    respond(drive, 'initialize', { session_id: OTHER })
    drive.start('hi', { session: { id: 's1', bound: OTHER } })
    expect(drive.calls).toHaveLength(1)
    expect(sentObjects(drive).at(-1)).toMatchObject({ type: 'user', session_id: OTHER })

    const early = driveBack(codec)
    early.link.open!(OTHER)
    early.link.decodeEnd({ why: 'closed', exitCode: 1 })
    early.start('hi', { session: { id: 's1', bound: OTHER } })
    expect(endOf(early.events).fault).toMatchObject({ code: 'session-not-found', retry: 'fresh-session' })
    early.start('hi', { turn: 't2', session: { id: 's1' } })
    expect(early.calls).toHaveLength(2)
  })

  test('a resumption that is stopped is not tried anew', () => {
    const drive = greeted()
    drive.start('hi', { session: { id: 's1', bound: OTHER } })
    drive.link.decodeEnd({ call: 'process-2', why: 'cancelled' })
    expect(drive.calls).toHaveLength(2)
    expect(endOf(drive.events).outcome).toBe('cancelled')
  })

  test('that the configuration names stays', () => {
    const drive = driveBack(codec, processOf('--resume', SESSION))
    drive.link.open!()
    respond(drive, 'initialize', { session_id: SESSION })
    drive.start('hi', { session: { bound: OTHER } })
    expect(drive.calls).toHaveLength(1)
  })
})

describe('a cancel', () => {
  const cancel = (drive: ReturnType<typeof greeted>) =>
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: { turn: 't1' } })

  test('interrupts, once, and whatever ends the turn then is a cancellation', () => {
    for (const end of [failure('Operation cancelled.'), success('in spite of it'), failure('[API Error: 500 x]')]) {
      const drive = running()
      cancel(drive)
      cancel(drive)
      expect(sentObjects(drive).filter(({ type }) => type === 'control_request')).toHaveLength(2)
      respond(drive, 'interrupt')
      drive.feed(end)
      expect(endOf(drive.events)).toMatchObject({ outcome: 'cancelled', stop: 'aborted' })
    }
  })

  test('also when the process ends of it, as 0.15 does', () => {
    const drive = running()
    cancel(drive)
    respond(drive, 'interrupt')
    drive.link.decodeEnd({ why: 'closed', exitCode: 130 })
    expect(endOf(drive.events)).toMatchObject({ outcome: 'cancelled', stop: 'aborted' })
  })

  test('without a turn does nothing: it would make 0.15 deaf', () => {
    const drive = greeted()
    cancel(drive)
    expect(drive.sent).toHaveLength(1)
  })

  test('that crosses the end of its turn costs the process', () => {
    const drive = running()
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('more', { turn: 't2', session: { bound: SESSION } })
    expect(drive.calls[1]).toMatchObject({ args: expect.arrayContaining(['--resume', SESSION]) })
  })

  test('the same, where nobody remembers the session', () => {
    const drive = running()
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('more', { turn: 't2' })
    expect(drive.calls[1]).toMatchObject({ args: expect.arrayContaining(['--resume', SESSION]) })
  })

  test('after it the model, the effort and what the client set are told to the new process', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', model: 'big', mode: 'plan' })
    respond(drive, 'set_model')
    respond(drive, 'set_permission_mode')
    const options = { model: 'small', effort: 'high', systemPrompt: 'Be brief.' }
    drive.start('one', { options })
    respond(drive, 'set_model')
    respond(drive, 'set_effort')
    drive.feed(init({ model: 'small' }))
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('two', { turn: 't2', options, session: { bound: SESSION } })
    const from = drive.sent.length
    const answer = (subtype: string, payload: object = { subtype }) =>
      drive.feed({ data: controlSuccess(requestId(drive, subtype), payload), call: 'process-2' })
    answer('initialize', { session_id: SESSION })
    for (const subtype of ['set_model', 'set_permission_mode', 'set_model', 'set_effort']) answer(subtype)
    expect(sentObjects({ sent: drive.sent.slice(from) }).map((line) => line['request'] ?? line['message'])).toEqual([
      { subtype: 'set_model', model: 'big' },
      { subtype: 'set_permission_mode', mode: 'plan' },
      { subtype: 'set_model', model: 'small' },
      { subtype: 'set_effort', effort: 'high' },
      { role: 'user', content: 'two' },
    ])
  })

  test('after it a turn does not run in a process that refuses what the client set, and the next one tries it again', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', mode: 'plan' })
    respond(drive, 'set_permission_mode')
    drive.start('one')
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('two', { turn: 't2', session: { bound: SESSION } })
    const answer = (line: string) => drive.feed({ data: line, call: 'process-2' })
    answer(controlSuccess(requestId(drive, 'initialize'), { session_id: SESSION }))
    answer(controlError(requestId(drive, 'set_permission_mode'), 'no such mode'))
    expect(drive.events.at(-1)).toMatchObject({
      turn: 't2',
      type: 'turn-end',
      outcome: 'failed',
      fault: {
        code: 'invalid-request',
        message:
          'The agent had to be started again and refuses what its client has set (set_permission_mode: no such mode); set something else.',
      },
    })
    drive.start('three', { turn: 't3', session: { bound: SESSION } })
    answer(controlSuccess(requestId(drive, 'set_permission_mode'), {}))
    expect(sentObjects(drive).at(-1)).toMatchObject({ message: { content: 'three' } })
    drive.link.encode({ exchange: 'x10', type: 'config-set', mode: 'default' })
    answer(controlSuccess(requestId(drive, 'set_permission_mode'), {}))
    expect(drive.events.at(-1)).toMatchObject({ type: 'command-reply', exchange: 'x10' })
  })

  test('a turn that is cancelled while the mode is set in the new process has no second end', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', mode: 'plan' })
    respond(drive, 'set_permission_mode')
    drive.start('one')
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('two', { turn: 't2', session: { bound: SESSION } })
    const answer = (line: string) => drive.feed({ data: line, call: 'process-2' })
    answer(controlSuccess(requestId(drive, 'initialize'), { session_id: SESSION }))
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: { turn: 't2' } })
    answer(controlError(requestId(drive, 'set_permission_mode'), 'no such mode'))
    const ends = drive.events.filter((event) => event.type === 'turn-end' && event.turn === 't2')
    expect(ends).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('in a process whose session is configured starts it again as it is', () => {
    const drive = driveBack(codec, processOf('--continue'))
    drive.link.open!()
    respond(drive, 'initialize', { session_id: SESSION })
    drive.start('hi')
    cancel(drive)
    drive.feed(success('done'))
    respond(drive, 'interrupt')
    drive.start('more', { turn: 't2', session: { bound: SESSION } })
    expect(drive.calls[1]).toMatchObject({ args: ['--continue', ...flags, '--approval-mode', 'default'] })
  })

  test('of which the process is lost with an answer open', () => {
    const drive = running()
    cancel(drive)
    drive.feed(success('done'))
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(endOf(drive.events).outcome).toBe('cancelled')
  })
})

describe('between turns', () => {
  test('what belongs to no turn is passed on, and what nobody asked for', () => {
    const drive = greeted()
    drive.feed(assistant([{ type: 'text', text: 'late' }]), user('late'), success('late'), init({ model: 'm' }))
    drive.feed(system('session_end', {}), '{"type":"keep_alive"}', 'noise')
    expect(drive.events.slice(1)).toEqual([
      { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text: 'late' },
      { turn: null, type: 'session-bound', agentSession: SESSION },
      { turn: null, type: 'foreign', protocol: 'qwen-code', frame: system('session_end', {}) },
      { turn: null, type: 'foreign', protocol: 'qwen-code', frame: '{"type":"keep_alive"}' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('commands that this protocol has not are ignored', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x', type: 'session-close' })
    expect(drive.sent).toHaveLength(1)
  })
})

describe('commands beside the turns', () => {
  const replies = (drive: ReturnType<typeof greeted>) => drive.events.filter((event) => event.type === 'command-reply')

  test('a change of configuration is as many requests', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', model: 'm', effort: 'low', mode: 'yolo' })
    for (const subtype of ['set_model', 'set_effort', 'set_permission_mode']) respond(drive, subtype)
    expect(sentObjects(drive).map((line) => line['request'])).toEqual([
      { subtype: 'initialize', hooks: null, timeout: { canUseTool: 600000 } },
      { subtype: 'set_model', model: 'm' },
      { subtype: 'set_effort', effort: 'low' },
      { subtype: 'set_permission_mode', mode: 'yolo' },
    ])
    expect(replies(drive)).toEqual([{ turn: null, type: 'command-reply', exchange: 'x9' }])
    // Known from now on: a turn does not set them again.
    drive.start('hi', { options: { model: 'm', effort: 'low' } })
    expect(sentObjects(drive).at(-1)!['type']).toBe('user')
  })

  test('a change of the model alone', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', model: 'm' })
    respond(drive, 'set_model')
    expect(replies(drive)).toEqual([{ turn: null, type: 'command-reply', exchange: 'x9' }])
  })

  test('a refused one says so', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'config-set', mode: 'zzz' })
    drive.feed(controlError(requestId(drive, 'set_permission_mode'), 'Invalid permission mode: zzz.'))
    expect(replies(drive)).toMatchObject([
      { fault: { code: 'invalid-request', message: 'Invalid permission mode: zzz.' } },
    ])
  })

  test('the models', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x9', type: 'query', what: 'models' })
    const payload = {
      subtype: 'get_available_models',
      models: ['a', { id: 'b', contextWindowSize: 9, label: 'B' }, { id: 'c' }],
    }
    respond(drive, 'get_available_models', payload)
    expect(replies(drive)).toEqual([
      {
        turn: null,
        type: 'command-reply',
        exchange: 'x9',
        data: '{"models":[{"id":"a"},{"id":"b","contextWindow":9},{"id":"c"}]}',
        ext: { protocol: 'qwen-code', json: JSON.stringify(payload) },
      },
    ])
  })

  test('models of another shape, or none', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x1', type: 'query', what: 'models' })
    drive.feed(
      JSON.stringify({
        type: 'control_response',
        response: { subtype: 'success', request_id: requestId(drive, 'get_available_models') },
      }),
    )
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'models' })
    drive.feed(controlError(requestId(drive, 'get_available_models'), 'no'))
    drive.link.encode({ exchange: 'x3', type: 'query', what: 'state' })
    expect(replies(drive)).toMatchObject([
      { exchange: 'x1', fault: { code: 'protocol-violation' } },
      { exchange: 'x2', fault: { code: 'invalid-request', message: 'no' } },
      { exchange: 'x3', fault: { code: 'invalid-request' } },
    ])
  })

  test('a control request of a client of the same dialect goes under an id of our own', () => {
    const drive = greeted()
    const frame = '{"type":"control_request","request_id":"theirs","request":{"subtype":"mcp_server_status","n":1.0}}'
    drive.link.encode({ exchange: 'x1', type: 'foreign', protocol: 'qwen-code', frame })
    expect(drive.sent.at(-1)).toBe(
      '{"type":"control_request","request_id":"turnpike-b2","request":{"subtype":"mcp_server_status","n":1.0}}',
    )
    respond(drive, 'mcp_server_status', { status: {} })
    drive.link.encode({ exchange: 'x2', type: 'foreign', protocol: 'qwen-code', frame })
    drive.feed(controlError(requestId(drive, 'mcp_server_status'), 'no'))
    drive.link.encode({ exchange: 'x3', type: 'foreign', protocol: 'zot', frame })
    drive.link.encode({ exchange: 'x4', type: 'foreign', protocol: 'qwen-code', frame: '{"type":"user"}' })
    drive.link.encode({ exchange: 'x5', type: 'foreign', protocol: 'qwen-code', frame: 'noise' })
    expect(replies(drive)).toMatchObject([
      { exchange: 'x1', ext: { protocol: 'qwen-code', json: '{"status":{}}' } },
      { exchange: 'x2', fault: { code: 'invalid-request', message: 'no' } },
      { exchange: 'x3', fault: { code: 'invalid-request' } },
      { exchange: 'x4', fault: { code: 'invalid-request' } },
      { exchange: 'x5', fault: { code: 'invalid-request' } },
    ])
  })

  test('that the process leaves unanswered end with it', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x1', type: 'query', what: 'models' })
    drive.link.decodeEnd({ why: 'closed', exitCode: 7 })
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'models' })
    expect(replies(drive)).toMatchObject([
      { exchange: 'x1', fault: { code: 'agent-crashed' } },
      { exchange: 'x2', fault: { code: 'agent-crashed' } },
    ])
  })

  test('or with a process that is left', () => {
    const drive = greeted()
    drive.link.encode({ exchange: 'x1', type: 'query', what: 'models' })
    drive.start('hi', { session: { bound: OTHER } })
    expect(replies(drive)).toMatchObject([
      { exchange: 'x1', fault: { code: 'agent-crashed', message: expect.stringContaining('try again') } },
    ])
  })
})

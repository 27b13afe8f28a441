import { describe, expect, test } from 'vitest'
import { accepts, beyondVersion, readArguments, readQuery } from '../../../codecs/qwen/front/args.ts'
import type { FrontContext } from '../../../src/contract/index.ts'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { bare, CHUNK_ARGS, chat, codec, completed, front, http, JSON_ARGS, play, sentLines } from './kit.ts'

const context: FrontContext = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} }

describe('arguments', () => {
  test('what is honoured', () => {
    const argv = ['--input-format=stream-json', '-o', 'stream-chunk-json', '--model', 'm', '--session-id', 's']
    expect(readArguments([...argv, '--system-prompt=a=b', '-p', 'hi', '--protocol-version', '1.7'])).toEqual({
      input: 'stream-json',
      output: 'stream-chunk-json',
      model: 'm',
      session: 's',
      systemPrompt: 'a=b',
      prompt: 'hi',
    })
  })

  test('other names of the same', () => {
    expect(readArguments(['-m', 'm', '--resume', 's', '--prompt', 'p'])).toEqual({
      model: 'm',
      session: 's',
      prompt: 'p',
    })
  })

  test.each([
    [['--api-key', 'sk-secret', '--resume'], '--api-key is not known: --help lists the arguments that are.'],
    [['--yolo', ...JSON_ARGS], '--yolo is not known: --help lists the arguments that are.'],
    [['words'], 'An argument is not a flag: write a prompt after --prompt.'],
    [['--resume'], '--resume needs a value.'],
  ])('%j is refused', (argv, why) => {
    const drive = front(argv)
    expect([drive.warned, drive.sent, drive.commands, drive.exitCode]).toEqual([
      [`turnpike as qwen: ${why}`],
      [],
      [],
      1,
    ])
  })

  test('the query of a request', () => {
    const query = 'output_format=stream-chunk-json&session_id=s&other=1'
    expect(readQuery({ ...context, query, headers: { 'turnpike-session': 't' } })).toEqual({
      output: 'stream-chunk-json',
      session: 't',
    })
    expect(readQuery({ ...context, query })).toHaveProperty('session', 's')
  })

  test('help and version', () => {
    const help = front(['--help'])
    expect(help.sent[0]).toBe('qwen, served by turnpike: structured input and output as its RFC has it.')
    expect(help.exitCode).toBe(0)
    const version = front(['-v'])
    expect(version.sent).toEqual(['qwen 0.0.0-turnpike'])
    version.link.decode(chat('x'))
    expect(version.commands).toEqual([])
  })

  test('a prompt on the argument line is the only one', () => {
    const drive = front(['-p', 'hello', '--output-format', 'stream-json'])
    drive.feed(chat('ignored'))
    expect(drive.commands).toHaveLength(1)
    expect(drive.commands[0]).toMatchObject({ input: [{ type: 'text', text: 'hello' }] })
    play(drive, [completed])
    expect(drive.exitCode).toBe(0)
    expect(front(['-p', '/init']).commands[0]).toHaveProperty('invocation.path', ['init'])
  })
})

describe('which clients are taken', () => {
  const argued = (...argv: string[]) => accepts(undefined, { ...context, argv })

  test('by the format that only this dialect has', () => {
    expect(argued('--output-format', 'stream-chunk-json')).toBe(true)
    expect(argued('--output-format=stream-chunk-json')).toBe(true)
    expect(argued('--input-format', 'stream-chunk-json')).toBe(true)
    expect(argued('--input-format', 'stream-json', '--output-format', 'stream-json')).toBe(false)
    expect(argued()).toBe(false)
  })

  test.each([
    [{ input: { parts: [] } }, true],
    [{ messages: [] }, true],
    [{ type: 'control_request', request_id: '1', subtype: 'x' }, true],
    [{ type: 'control_response', request_id: '1', response: {} }, true],
    [{ type: 'heartbeat_request' }, true],
    [{ type: 'command_hint_request' }, true],
    [{ type: 'command_hint_cancel' }, true],
    [{ type: 'control/cancel' }, true],
    [{ type: 'user', message: { role: 'user', content: 'x' }, input: {} }, false],
    [{ type: 'control_request', request_id: '1', request: { subtype: 'initialize' } }, false],
    [{ type: 'control_response', response: { request_id: '1' } }, false],
    [{ type: 'other' }, false],
    ['plain text', false],
  ])('by the first line %j: %s', (line, taken) => {
    expect(accepts(typeof line === 'string' ? line : JSON.stringify(line), context)).toBe(taken)
  })
})

describe('version negotiation', () => {
  const refused = (request: string | undefined, argv: readonly string[] = JSON_ARGS) => {
    const drive = front(argv)
    if (request !== undefined) drive.feed(request)
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBe(2)
    expect(drive.commands).toEqual([])
    return sentLines(drive)
  }

  test('a request beyond this version ends the process with code 2', () => {
    const [line, ...more] = refused(chat('x', { protocol_version: '2.0' }))
    expect(more).toEqual([])
    expect(line).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' }, finish_reason: 'error' }],
      metadata: {
        protocol_version: '1.0',
        input_format: 'stream-json',
        output_format: 'stream-json',
        error: {
          message: 'Protocol version "2.0" was asked for; this program speaks 1.0: ask for that one, or for none.',
          type: 'invalid_request_error',
          param: null,
          code: 'unsupported_protocol',
          retryable: false,
        },
      },
    })
  })

  test('in pieces, by the argument line, by a format that is not known', () => {
    expect(refused(chat('x', { metadata: { protocol_version: 3 } }), CHUNK_ARGS)[0]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [{ delta: { role: 'assistant' }, finish_reason: 'error' }],
    })
    expect(refused(undefined, [...JSON_ARGS, '--protocol-version', '0.9'])[0]).toMatchObject({
      metadata: { error: { code: 'unsupported_protocol' } },
    })
    expect(refused(undefined, ['--output-format', 'stream-json', '--input-format', 'xml'])[0]).toMatchObject({
      metadata: { error: { message: 'The input format is not known: use text, stream-json, stream-chunk-json.' } },
    })
    const text = front(['--output-format', 'xml'])
    expect(text.warned).toEqual([
      'turnpike as qwen: The output format is not known: use text, stream-json, stream-chunk-json.',
    ])
    expect(text.exitCode).toBe(2)
  })

  test('by another output format, or by capabilities that are not there', () => {
    const message = (metadata: object) =>
      (refused(chat('x', { metadata }))[0] as { metadata: { error: { message: string } } }).metadata.error.message
    const format = 'The output format of this wire is stream-json: ask for another one when you open it.'
    expect(message({ output_format: 'stream-chunk-json' })).toBe(format)
    expect(message({ output_format: 'xml' })).toBe(format)
    expect(message({ capabilities: ['cancel', 'video'] })).toBe(
      'The capabilities of this wire are commands, command_hint, heartbeat, cancel, annotations, can_use_tool, hook_callback, mcp_message, tool_response.',
    )
  })

  test('what is there is taken', () => {
    const drive = front()
    const metadata = { protocol_version: '1.3', output_format: 'stream-json', capabilities: ['can_use_tool'] }
    drive.feed(chat('x', { protocol_version: null, metadata }))
    expect(drive.commands).toHaveLength(1)
    expect(drive.commands[0]).not.toHaveProperty('ext')
    expect(beyondVersion('v1')).toBeUndefined()
  })
})

describe('formats', () => {
  test('text is the default of both: all of the input is one prompt, the answer is its text', () => {
    const drive = front([])
    drive.feed('first line', 'second line')
    expect(drive.commands).toEqual([])
    drive.link.decodeEnd!('eof')
    expect(drive.commands[0]).toMatchObject({ input: [{ type: 'text', text: 'first line\nsecond line' }] })
    const { exchange } = drive.commands[0]!
    const answer = { form: 'whole', framing: 'text', onDisconnect: 'cancel', asks: 'never' }
    expect(drive.answers.get(exchange)).toEqual(answer)
    drive.play(plainTurn('an\nanswer'))
    expect(drive.sent).toEqual(['an\nanswer'])
    expect(drive.exitCode).toBe(0)
  })

  test('structured input with text output', () => {
    const drive = front([])
    drive.feed(chat('x'), chat('/clear'), chat('y'))
    play(drive, [completed])
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: drive.commands[1]!.exchange })
    expect(drive.sent).toEqual(['The conversation was cleared.'])
    expect(drive.commands).toHaveLength(3)
  })

  test('text input with JSON output, and JSON that is text', () => {
    const drive = front(['--output-format', 'stream-json', '--input-format', 'text'])
    drive.feed('{"input":1}')
    drive.link.decodeEnd!('eof')
    expect(drive.commands[0]).toMatchObject({ input: [{ type: 'text', text: '{"input":1}' }] })
    expect(drive.answers.get(drive.commands[0]!.exchange)).toMatchObject({ form: 'stream', asks: 'never' })
  })

  test('failures of text output go to stderr and into the exit code', () => {
    const drive = front([])
    drive.feed('x')
    drive.link.decodeEnd!('eof')
    play(drive, [
      { type: 'message-start', message: 'm', role: 'assistant' },
      { type: 'message-end', message: 'm', parts: [{ type: 'text', text: 'par' }] },
      { type: 'turn-end', outcome: 'failed', fault: fault('timeout', 'Too slow.') },
    ])
    expect(drive.sent).toEqual(['par'])
    expect(drive.warned).toEqual(['turnpike as qwen: Too slow.'])
    expect(drive.exitCode).toBe(1)
  })

  test('other ends of text output', () => {
    const drive = front([])
    drive.feed(chat('a'), chat('b'), chat('/clear'), chat('c'), '{}')
    play(drive, [{ type: 'turn-end', outcome: 'cancelled' }])
    drive.link.encodeFault(fault('session-busy', 'Busy.'), drive.commands[1]!.exchange, 'continues')
    const { exchange } = drive.commands[2]!
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange, fault: fault('internal', 'No.') })
    drive.link.encodeLink!({ turn: null, type: 'notice', severity: 'info', code: 'c', text: 't' })
    expect(drive.warned).toEqual([
      'turnpike as qwen: The line is no request: it has neither input nor messages, and its type is not known.',
      'turnpike as qwen: The turn was cancelled.',
      'turnpike as qwen: Busy.',
      'turnpike as qwen: No.',
    ])
    expect(drive.sent).toEqual([])
    play(drive, [completed])
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBe(1)
  })
})

describe('HTTP', () => {
  test('lines by default, the format by the query, the metadata or the body', () => {
    const output = (drive: ReturnType<typeof http>, line: string) => {
      drive.feed(line)
      play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }])
      return (sentLines(drive)[0] as { metadata: { output_format: string } }).metadata.output_format
    }
    expect(output(http(), chat('x'))).toBe('stream-json')
    expect(output(http({ query: 'output_format=stream-chunk-json' }), chat('x'))).toBe('stream-chunk-json')
    expect(output(http(), chat('x', { metadata: { output_format: 'stream-chunk-json' } }))).toBe('stream-chunk-json')
    expect(output(http(), '{"messages":[{"role":"user","content":"x"}],"stream":true}')).toBe('stream-chunk-json')
  })

  test('no control channel', () => {
    const drive = http()
    drive.feed(chat('x'))
    play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }])
    const { metadata } = sentLines(drive)[0] as { metadata: object }
    const capabilities = ['commands', 'command_hint', 'heartbeat', 'cancel', 'annotations']
    expect(metadata).toHaveProperty('capabilities', capabilities)
  })

  test('plain text as a prompt', () => {
    const drive = http({ headers: { 'content-type': 'text/plain; charset=utf-8' } })
    drive.feed('{"input":', 'more')
    drive.link.decodeEnd!('eof')
    expect(drive.commands[0]).toMatchObject({ input: [{ type: 'text', text: '{"input":\nmore' }] })
    const refused = http({ headers: { 'content-type': 'text/plain' }, query: 'output_format=text' })
    refused.link.encodeFault(fault('forbidden', 'No.'), undefined, 'continues')
    expect(refused.sent).toEqual(['No.'])
  })

  test.each(['{"\\q":1}', '{"input":', '[[[[', 'hello', '"hello"', '[1]', '1e999'])(
    'no prompt of a body called JSON that is none: %s',
    (line) => {
      const drive = http({ headers: { 'content-type': 'application/x-ndjson' } })
      drive.feed(line)
      drive.link.decodeEnd!('eof')
      expect(drive.commands).toEqual([])
      expect(drive.faults).toMatchObject([
        { fault: { code: 'invalid-request', message: expect.stringMatching(/^The line is not/) } },
      ])
    },
  )

  test('another media type, and an empty body', () => {
    const drive = http({ headers: { 'content-type': 'text/html' } })
    expect(drive.faults).toMatchObject([{ fault: { code: 'invalid-request' }, http: 415 }])
    expect(drive.exitCode).toBe(0)
    const empty = http()
    empty.link.decodeEnd!('eof')
    expect(empty.faults[0]!.fault.message).toBe('The body holds no request: send one JSON object a line.')
    expect(sentLines(empty)[0]).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(empty.exitCode).toBe(0)
  })
})

describe('faults', () => {
  test('one that leaves the process healthy, and one that does not', () => {
    const drive = front()
    drive.feed(chat('a'), chat('b', { prompt_id: 'p2' }), chat('c', { prompt_id: 'p3' }))
    drive.link.encodeFault(fault('session-busy', 'Busy.'), drive.commands[0]!.exchange, 'continues')
    expect(sentLines(drive)[0]).toMatchObject({
      prompt_id: 's########1',
      choices: [{ message: { content: 'Busy.' }, finish_reason: 'stop' }],
      metadata: {
        error: { message: 'Busy.', type: 'conflict_error', param: null, code: 'QWEN_SESSION_BUSY', retryable: true },
      },
    })
    expect(drive.commands).toHaveLength(2)
    drive.link.encodeFault(fault('agent-not-found', 'None.'), drive.commands[1]!.exchange, 'continues')
    expect(bare(sentLines(drive))[1]).toEqual({
      error: { message: 'None.', type: 'not_found_error', param: null, code: 'QWEN_AGENT_NOT_FOUND' },
    })
    expect(drive.exitCode).toBe(1)
    drive.link.encodeFault(fault('internal', 'Late.'), 'f1', 'continues')
    expect(drive.sent).toHaveLength(2)
  })

  test('in pieces', () => {
    const drive = front(CHUNK_ARGS)
    drive.feed('{}')
    expect(sentLines(drive)[0]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [{ delta: { role: 'assistant' }, finish_reason: 'stop' }],
      metadata: { protocol_version: '1.0', error: { code: 'QWEN_INVALID_REQUEST' } },
    })
  })

  test('of the wire: a lost frame boundary and a client without a key are fatal', () => {
    const lost = front()
    lost.link.encodeFault(fault('payload-too-large', 'Too long.', { retryable: true }), undefined, 'ends')
    const type = 'invalid_request_error'
    expect(sentLines(lost)).toEqual([
      { error: { message: 'Too long.', type, param: null, code: 'QWEN_PAYLOAD_TOO_LARGE' } },
    ])
    expect(lost.exitCode).toBe(1)
    const unknown = http()
    unknown.link.encodeFault(fault('unauthenticated', 'Who?'), undefined, 'continues')
    expect(sentLines(unknown)).toMatchObject([
      { error: { type: 'authentication_error', code: 'QWEN_UNAUTHENTICATED' } },
    ])
  })

  test('too many requests at once, each refused at its place', () => {
    const drive = front()
    for (let at = 0; at < 1002; at += 1) drive.feed(chat('x', { prompt_id: `p${at}` }))
    expect(sentLines(drive)).toMatchObject([{ prompt_id: 'p1001', metadata: { error: { code: 'QWEN_OVERLOADED' } } }])
  })

  test('refused requests make way for the next', () => {
    const drive = front()
    for (let at = 0; at < 900; at += 1) drive.feed(chat('x', { prompt_id: `p${at}` }))
    for (let at = 0; at < 900; at += 1) {
      drive.link.encodeFault(fault('overloaded', 'Full.'), drive.commands.at(-1)!.exchange, 'continues')
    }
    expect(sentLines(drive)).toHaveLength(900)
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBe(0)
  })

  test('a signal: what waits is forgotten', () => {
    const drive = front()
    drive.feed(chat('a'), chat('b', { prompt_id: 'p2' }))
    drive.link.decodeEnd!('signal')
    play(drive, [{ type: 'turn-end', outcome: 'cancelled' }])
    expect(drive.commands).toHaveLength(1)
    expect(drive.exitCode).toBe(0)
  })

  test('requests that are refused while they are issued are no deep recursion', () => {
    const commands: unknown[] = []
    const sent: unknown[] = []
    const link = codec.dialects['rfc']!.front!.open(
      { ...context, argv: JSON_ARGS },
      {
        command(command) {
          commands.push(command)
          if (commands.length > 1) link.encodeFault(fault('overloaded', 'Full.'), command.exchange, 'continues')
        },
        sendRun() {},
        send: (frame) => sent.push(frame),
        warn() {},
        fault() {},
        report() {},
        losses: () => [],
        newId: () => `n${commands.length}`,
        close() {},
      },
    )
    for (let at = 0; at < 900; at += 1) link.decode(chat('x', { prompt_id: `p${at}` }))
    expect(commands).toHaveLength(1)
    link.encodeFault(fault('overloaded', 'Full.'), 'n0', 'continues')
    expect(commands).toHaveLength(900)
    expect(sent).toHaveLength(900)
  })

  test('the clock of the wire, where there is one', () => {
    const sent: unknown[] = []
    const link = codec.dialects['rfc']!.front!.open(
      { ...context, argv: JSON_ARGS },
      {
        command() {},
        sendRun() {},
        send: (frame) => sent.push(frame),
        warn() {},
        fault: (found, input, exchange) => link.encodeFault(found, exchange, input),
        report() {},
        losses: () => [],
        newId: () => 'n',
        now: () => 5_999,
        close() {},
      },
    )
    link.decode('{}')
    expect(JSON.parse(String(sent[0]))).toMatchObject({ created: 5 })
  })
})

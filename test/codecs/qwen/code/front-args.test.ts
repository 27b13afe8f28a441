import { describe, expect, test } from 'vitest'
import { dialect } from '../../../../codecs/qwen/code/index.ts'
import { driveFront } from '../../../kit/drive.ts'
import { codec, control, SESSION, STREAM, say } from './kit.ts'

const context = (argv: string[]) => ({
  transport: 'stdio' as const,
  method: '',
  path: '',
  query: '',
  headers: {},
  argv,
  env: {},
})
const accepts = (first: string | undefined, ...argv: string[]) => dialect.front!.accepts!(first, context(argv))

describe('which client is taken', () => {
  test.each([
    [['--channel=SDK']],
    [['--channel', 'SDK']],
    [['--include-partial-messages']],
    [['--approval-mode', 'yolo']],
    [['-p', 'hi']],
    [['hi']],
    [['--unknown', 'value', 'hi']],
  ])('by its arguments: %j', (argv) => {
    expect(accepts(undefined, ...argv)).toBe(true)
    expect(accepts('{"input":{}}', ...argv)).toBe(true)
  })

  test.each([
    [['--output-format', 'stream-chunk-json']],
    [['--input-format=stream-chunk-json', '--approval-mode', 'default']],
  ])('not with the format of the RFC: %j', (argv) => {
    expect(accepts(undefined, ...argv)).toBe(false)
    expect(accepts(say('hi'), ...argv)).toBe(false)
  })

  test.each([
    [say('hi'), true],
    [control('i', { subtype: 'initialize' }), true],
    ['{"type":"user","input":{}}', false],
    ['{"type":"control_request","subtype":"x"}', false],
    ['{"input":{"parts":[]}}', false],
    ['{"model":"m","messages":[]}', false],
    ['{"type":"command","command":{}}', false],
    ['{"prompt_id":"p"}', false],
    ['{"type":"heartbeat_request"}', false],
    ['{"type":"command_hint_request"}', false],
    ['{"type":"command_hint_cancel"}', false],
    ['{"type":"control/cancel"}', false],
    ['{"type":"control_response","response":{}}', true],
    ['{}', true],
    ['a text', true],
    ['[]', true],
  ])('by its first line: %s is %j', (first, taken) => {
    expect(accepts(first, ...STREAM)).toBe(taken)
    expect(accepts(undefined, ...STREAM)).toBe(false)
  })
})

describe('arguments', () => {
  const started = (...argv: string[]) => {
    const front = driveFront(codec, { argv: [...STREAM, ...argv] })
    front.feed(say('hi'))
    return front
  }
  const options = (...argv: string[]) => {
    const [start] = started(...argv).commands
    return start?.type === 'turn-start' ? start.options : undefined
  }

  test('what every turn is asked with', () => {
    expect(options()).toEqual({ streaming: false })
    expect(
      options('--include-partial-messages', '-m', 'big', '--json-schema={"type":"object"}', '--system-prompt', 'Be.'),
    ).toEqual({ streaming: true, model: 'big', outputSchema: '{"type":"object"}', systemPrompt: 'Be.' })
  })

  test('an appended system prompt alone is a loss', () => {
    const front = started('--append-system-prompt', 'a', '--append-system-prompt', 'b')
    expect(front.commands[0]).toMatchObject({ options: { systemPrompt: 'a\n\nb' } })
    expect(front.losses).toEqual([
      { kind: 'weakened', item: 'option.systemPrompt', field: 'append', why: 'no-place', count: 1 },
    ])
    const both = started('--append-system-prompt', 'b', '--system-prompt', 'a')
    expect(both.commands[0]).toMatchObject({ options: { systemPrompt: 'a\n\nb' } })
    expect(both.losses).toEqual([])
  })

  test.each([
    ['--session-id', SESSION],
    ['--resume', 'any-name'],
    ['-r', 'any-name'],
  ])('%s names the session', (flag, id) => {
    expect(started(flag, id).commands[0]).toMatchObject({ session: { id } })
  })

  test.each([
    ['--fork-session', '--fork-session has no effect here: the session is gone on with as it is.'],
    ['-c', '--continue has no effect here: name a session with --resume instead.'],
    ['-d', '--debug has no effect here: the gateway has a log of its own.'],
    ['-s', '--sandbox has no effect here: the agent runs where the gateway was configured to run it.'],
    ['--openai-api-key=secret', '--openai-api-key has no effect here and is ignored.'],
    ['--no-such-flag', '--no-such-flag has no effect here and is ignored.'],
    ['--=secret', 'An argument has no effect here and is ignored.'],
  ])('%s is one line on stderr', (flag, text) => {
    const front = started(flag)
    expect(front.warned).toEqual([`turnpike as qwen: ${text}`])
    expect(front.exitCode).toBeUndefined()
  })

  test('an unknown flag takes the word behind it', () => {
    const front = started('--openai-api-key', 'secret', '--bare', '--chat-recording=false')
    expect(front.warned).toEqual(['turnpike as qwen: --openai-api-key has no effect here and is ignored.'])
    expect(front.commands).toHaveLength(1)
  })

  test.each([
    [['--input-format', 'xml'], 'Invalid value of --input-format. Choices: "text", "stream-json".'],
    [['-o', 'xml'], 'Invalid value of --output-format. Choices: "text", "json", "stream-json".'],
    [['--approval-mode', 'zzz'], 'Invalid value of --approval-mode. Choices: plan, default, auto-edit, auto, yolo.'],
    [
      ['--session-id', 'mine'],
      'Invalid --session-id: it must be a UUID, such as 123e4567-e89b-12d3-a456-426614174000.',
    ],
    [['--json-schema', '[]'], 'Invalid --json-schema: it must be a JSON object.'],
    [['--input-format', 'stream-json'], '--input-format stream-json requires --output-format stream-json'],
    [['--acp'], 'The Agent Client Protocol (--acp) is not spoken by this stand-in.'],
    [['--experimental-acp', '-o', 'xml'], 'The Agent Client Protocol (--acp) is not spoken by this stand-in.'],
    [['-p'], 'Not enough arguments following: prompt'],
    [['--model', '--bare'], 'Not enough arguments following: model'],
  ])('%j end the program with 1', (argv, text) => {
    const front = driveFront(codec, { argv })
    expect(front.warned).toEqual([text])
    expect(front.exitCode).toBe(1)
    expect(front.sent).toEqual([])
    front.link.decode(say('hi'))
    front.link.decodeEnd!('eof')
    expect(front.commands).toEqual([])
  })

  test('help and version', () => {
    const version = driveFront(codec, { argv: ['-v'] })
    expect([version.sent, version.exitCode]).toEqual([['0.24.4+turnpike'], 0])
    const help = driveFront(codec, { argv: ['--help'] })
    expect(help.sent[0]).toBe('qwen, served by turnpike: a prompt or lines of JSON on stdin, the answer on stdout.')
    expect(help.exitCode).toBe(0)
  })
})

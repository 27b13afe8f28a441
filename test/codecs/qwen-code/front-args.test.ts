import { describe, expect, test } from 'vitest'
import { COMMANDS, HOLLOW, SWITCHES, VALUES } from '../../../codecs/qwen-code/front/flags.ts'
import { dialect } from '../../../codecs/qwen-code/index.ts'
import { driveFront } from '../../kit/drive.ts'
import { codec, control, SESSION, STREAM, say, settled } from './kit.ts'

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

  const HONOURED: Readonly<Record<string, string | undefined>> = {
    '--input-format': 'stream-json',
    '--output-format': 'stream-json',
    '--approval-mode': 'plan',
    '--session-id': SESSION,
    '--prompt': 'hi',
    '--resume': SESSION,
    '--model': 'm',
    '--json-schema': '{}',
    '--system-prompt': 'x',
    '--append-system-prompt': 'x',
    '--channel': 'SDK',
    '--include-partial-messages': undefined,
    '--yolo': undefined,
    '--bare': undefined,
    '--chat-recording': undefined,
  }
  /** Print and exit, or are refused with words of their own. */
  const OWN_WORDS = ['--version', '--help', '--acp', '--protocol-version']

  test('every flag is honoured, told or refused', () => {
    const known = [...Object.keys(HONOURED), ...OWN_WORDS].sort()
    expect([...VALUES.keys(), ...SWITCHES.keys()].sort()).toEqual(known)
  })

  test.each(Object.entries(HONOURED))('%s is taken', (flag, value) => {
    const front = started(flag, ...(value === undefined ? [] : [value]))
    expect(front.warned).toEqual([])
    // The mode of the arguments is set before the first turn.
    if (flag === '--approval-mode') settled(front)
    expect(front.commands.at(-1)).toMatchObject({ type: 'turn-start' })
    expect(front.commands).toHaveLength(flag === '--approval-mode' ? 2 : 1)
  })

  test.each([...HOLLOW])('%s', (flag, { why, value, changes }) => {
    const ways = value ? [[`${flag}=secret`], [flag, 'secret'], [flag]] : [[flag]]
    for (const argv of ways) {
      const front = started(...argv)
      if (changes) {
        expect(front.warned).toEqual([`${flag} cannot be honoured by this stand-in: ${why}.`])
        expect([front.commands, front.sent, front.exitCode]).toEqual([[], [], 1])
      } else {
        expect(front.warned).toEqual([`turnpike as qwen: ${flag} has no effect here: ${why}.`])
        expect(front.commands).toHaveLength(1)
        expect(front.exitCode).toBeUndefined()
      }
    }
    if (!value) {
      for (const argv of [`${flag}=false`, `--no-${flag.slice(2)}`]) {
        const front = started(argv)
        expect([front.warned, front.exitCode, front.commands.length]).toEqual([[], undefined, 1])
      }
    }
  })

  test.each([
    ['-c', '--continue'],
    ['-e', '--extensions'],
    ['-i', '--prompt-interactive'],
    ['-l', '--list-extensions'],
    ['--add-dir', '--include-directories'],
  ])('%s is %s', (short, flag) => {
    expect(started(short, 'x').warned[0]).toMatch(new RegExp(`^${flag} cannot be honoured`))
  })

  test.each([
    ['--no-such-flag', 'Unknown argument: no-such-flag'],
    ['--no-proxy', 'Unknown argument: no-proxy'],
    ['--=secret', 'Unknown argument: -'],
    ['--key=secret', 'Unknown argument: key'],
  ])('%s is refused as by the program', (argument, text) => {
    const front = started(argument)
    expect([front.warned, front.commands, front.exitCode]).toEqual([[text], [], 1])
  })

  test.each(COMMANDS)('qwen %s is refused', (command) => {
    const front = driveFront(codec, { argv: [command, 'list'] })
    expect([front.warned, front.exitCode]).toEqual([[`The command ${command} is not served by this stand-in.`], 1])
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
    [['--protocol-version', '1.0'], 'Unknown argument: protocol-version'],
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

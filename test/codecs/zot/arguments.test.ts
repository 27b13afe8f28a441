/** The arguments of `zot`, each: honoured, accepted with a line on stderr, or refused in words. None is passed over in silence. */
import { describe, expect, test } from 'vitest'
import { FLAGS } from '../../../codecs/zot/front/args.ts'
import { codec } from '../../../codecs/zot/index.ts'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { sentLines } from './kit.ts'

/** Harmless: `told` on stderr in every mode. Changing: told in the loop, refused with a prompt. */
type Fate = 'honoured' | 'silent' | 'told' | 'changing' | 'print'

const TABLE: Readonly<Record<string, { fate: Fate; value?: string; bad?: readonly string[] }>> = {
  '--model': { fate: 'honoured', value: 'm' },
  '--reasoning': { fate: 'honoured', value: 'low', bad: ['extreme', 'off'] },
  '--tools': { fate: 'honoured', value: 'read' },
  '--system-prompt': { fate: 'honoured', value: 'x' },
  '--append-system-prompt': { fate: 'honoured', value: 'x' },
  '--session': { fate: 'honoured', value: 's' },
  '--no-tools': { fate: 'honoured' },
  '--rpc': { fate: 'silent' },
  '-p': { fate: 'silent' },
  '--print': { fate: 'silent' },
  '--json': { fate: 'silent' },
  '--no-session': { fate: 'silent' },
  '--experimental-oauth': { fate: 'silent' },
  '--version': { fate: 'print' },
  '-v': { fate: 'print' },
  '--help': { fate: 'print' },
  '-h': { fate: 'print' },
  '--list-models': { fate: 'print' },
  '--provider': { fate: 'told', value: 'secret' },
  '--api-key': { fate: 'told', value: 'secret' },
  '--base-url': { fate: 'told', value: 'secret' },
  '--no-yolo': { fate: 'told' },
  '--cwd': { fate: 'changing', value: 'secret' },
  '--max-steps': { fate: 'changing', value: '5', bad: ['0', 'many', '-1'] },
  '--ext': { fate: 'changing', value: 'secret' },
  '-e': { fate: 'changing', value: 'secret' },
  '--no-ext': { fate: 'changing' },
  '--no-extensions': { fate: 'changing' },
  '--no-skill': { fate: 'changing' },
  '--no-skills': { fate: 'changing' },
  '--with-skills': { fate: 'changing' },
  '--with-skill': { fate: 'changing' },
  '--continue': { fate: 'changing' },
  '-c': { fate: 'changing' },
  '--resume': { fate: 'changing' },
  '-r': { fate: 'changing' },
}

const started = (...argv: string[]): FrontDrive => driveFront(codec, { argv })
const begun = (drive: FrontDrive) => drive.commands.filter(({ type }) => type === 'turn-start')
const HELLO = '{"id":"1","type":"prompt","message":"hi"}'

test('the table has every flag', () => {
  const { values, switches, hollow } = FLAGS
  expect(Object.keys(TABLE).sort()).toEqual([...new Set([...values, ...switches, ...hollow])].sort())
  expect(FLAGS.changing).toEqual(Object.keys(TABLE).filter((flag) => TABLE[flag]!.fate === 'changing'))
})

const MODES: ReadonlySet<string> = new Set(['--rpc', '-p', '--print', '--json'])
const flags = Object.entries(TABLE).map(([flag, one]) => ({ flag, ...one }))
const givenOf = ({ flag, value }: { flag: string; value?: string }): string[] =>
  value === undefined ? [flag] : [flag, value]

test.each(flags.filter(({ flag }) => !MODES.has(flag)))('in the loop: $flag is $fate', (one) => {
  const drive = started('rpc', ...givenOf(one))
  drive.feed(HELLO)
  const { flag, fate } = one
  expect(drive.exitCode).toBe(fate === 'print' && flag !== '--list-models' ? 0 : undefined)
  expect(begun(drive)).toHaveLength(fate === 'print' ? 0 : 1)
  const named = drive.warned.filter((line) => line.startsWith(`turnpike as zot: ${flag} `))
  expect(named).toHaveLength(fate === 'told' || fate === 'changing' ? 1 : 0)
  expect(drive.warned.join()).not.toContain('secret')
})

test.each(flags.filter(({ flag, fate }) => !MODES.has(flag) && fate !== 'print'))(
  'with a prompt: $flag is $fate',
  (one) => {
    for (const mode of ['-p', '--json']) {
      const drive = started(mode, ...givenOf(one), 'hi there')
      if (one.fate === 'changing') {
        expect([begun(drive), drive.sent, drive.exitCode]).toEqual([[], [], 1])
        expect(drive.warned.at(-1)).toMatch(new RegExp(`^zot: ${one.flag} cannot be honoured: `))
      } else {
        expect(begun(drive)).toMatchObject([{ input: [{ type: 'text', text: 'hi there' }] }])
        expect(drive.warned).toHaveLength(one.fate === 'told' ? 1 : 0)
      }
      expect(drive.warned.join()).not.toContain('secret')
    }
  },
)

test('an empty --reasoning is none', () => {
  const drive = started('rpc', '--reasoning', '')
  drive.feed(HELLO)
  expect(begun(drive)).toMatchObject([{ options: {} }])
  expect(begun(drive)[0]).not.toHaveProperty('options.effort')
})

test.each(flags.filter(({ value }) => value !== undefined))(
  '$flag without its value, or with a wrong one',
  ({ flag, bad = [] }) => {
    for (const argv of [['rpc', flag], ...bad.map((wrong) => ['rpc', flag, wrong])]) {
      const drive = started(...argv)
      drive.feed(HELLO)
      expect([begun(drive), drive.sent, drive.exitCode]).toEqual([[], [], 1])
      expect(drive.warned.at(-1)).toMatch(new RegExp(`^zot: ${flag} (requires|must be) `))
    }
  },
)

test.each([
  [['rpc', '--nope'], 'zot: unknown flag "--nope"'],
  [['rpc', '--model=secret'], 'zot: unknown flag "--model"'],
  [['-p', '-x', 'hi'], 'zot: unknown flag "-x"'],
  [['rpc', '-5'], 'zot: unknown flag "-"'],
  [['hi', 'there'], 'zot: the interactive mode is not served here: use rpc, or -p or --json with a prompt'],
  [['ext', 'list'], 'zot: the interactive mode is not served here: use rpc, or -p or --json with a prompt'],
])('%j is refused', (argv, why) => {
  const drive = started(...argv)
  drive.feed(HELLO)
  expect([begun(drive), drive.sent, drive.exitCode, drive.warned]).toEqual([[], [], 1, [why]])
})

test('a prompt beside the loop is told', () => {
  expect(started('rpc', 'hi').warned).toEqual([
    'turnpike as zot: A prompt among the arguments is ignored in this mode.',
  ])
  for (const flag of ['-p', '--print']) {
    expect(started(flag, 'rpc').commands).toMatchObject([{ input: [{ text: 'rpc' }] }])
  }
})

describe('zot -p', () => {
  const message = (id: string, text: string, lane?: string): TurnEvent[] => [
    { type: 'message-start', turn: 't1', message: id, role: 'assistant', ...(lane && { lane }) },
    { type: 'text-delta', turn: 't1', message: id, text, ...(lane && { lane }) },
    { type: 'message-end', turn: 't1', message: id, ...(lane && { lane }) },
  ]
  const end: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' }

  test('prints the text of the last message', () => {
    const drive = started('-p', '--session', 's', 'hi')
    expect(drive.commands).toMatchObject([{ session: { id: 's' }, task: 'prompt' }])
    expect(drive.answers.get(drive.commands[0]!.exchange)).toMatchObject({ form: 'whole', framing: 'text' })
    drive.play([...message('m1', 'Looking.'), ...message('m2', 'Four.\nReally.\n'), ...message('m3', 'sub', 'x'), end])
    expect([drive.sent, drive.exitCode]).toEqual([['Four.\nReally.'], 0])
  })

  test('prints nothing of an empty answer', () => {
    const drive = started('-p', 'hi')
    drive.play([end])
    expect([drive.sent, drive.exitCode]).toEqual([[], 0])
  })

  test('the prompt is all of stdin where the arguments have none', () => {
    expect(codec.dialects['rpc']!.front!.input?.({ argv: ['-p'] } as never)).toBe('body')
    expect(codec.dialects['rpc']!.front!.input?.({ argv: ['rpc'] } as never)).toBe('ndjson')
    const drive = started('-p', '--append-system-prompt', 'b')
    drive.feed(' one\n\ntwo\n')
    drive.feed('three')
    drive.link.decodeEnd!('eof')
    expect(drive.commands).toMatchObject([{ input: [{ text: 'one\n\ntwo' }], options: { systemPrompt: 'b' } }])
    expect(drive.losses).toMatchObject([{ kind: 'weakened', item: 'option.systemPrompt', field: 'append' }])
  })

  test.each(['-p', '--json'])('%s needs a prompt', (mode) => {
    const drive = started(mode)
    drive.feed('  ')
    drive.link.decodeEnd!('eof')
    const name = mode === '-p' ? 'print' : 'json'
    expect([drive.sent, drive.warned, drive.exitCode]).toEqual([
      [],
      [`zot: ${name} mode requires a prompt (arg or stdin)`],
      1,
    ])
  })

  test('a failure is a line on stderr', () => {
    const drive = started('-p', 'hi')
    drive.play([
      ...message('m1', 'half'),
      { type: 'turn-end', turn: 't1', outcome: 'failed', stop: 'error', fault: fault('provider-down', 'Gone.') },
    ])
    expect([drive.sent, drive.warned, drive.exitCode]).toEqual([[], ['zot: Gone.'], 1])
    const bare = started('-p', 'hi')
    bare.play([{ type: 'turn-end', turn: 't1', outcome: 'failed', stop: 'error' }])
    expect(bare.warned).toEqual(['zot: the turn failed'])
    const refused = started('-p', 'hi')
    refused.link.encodeFault(fault('agent-not-found', 'There is none.'), refused.commands[0]!.exchange, 'continues')
    refused.link.encodeFault(fault('agent-not-found', 'There is none.'), undefined, 'continues')
    refused.link.decodeEnd!('signal')
    expect([refused.warned, refused.exitCode]).toEqual([['zot: There is none.'], 1])
  })

  test('a signal cancels the prompt', () => {
    const drive = started('-p', 'hi')
    drive.link.decodeEnd!('eof')
    drive.link.decodeEnd!('signal')
    expect(drive.commands[1]).toMatchObject({ type: 'turn-cancel' })
    drive.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled', stop: 'aborted' }])
    expect(drive.exitCode).toBe(143)
    const waiting = started('-p')
    waiting.link.decodeEnd!('signal')
    expect(waiting.exitCode).toBe(143)
  })
})

describe('zot --json', () => {
  test('prints the events, and no response', () => {
    const drive = started('--json', 'hi')
    drive.play(plainTurn('hello'))
    expect(sentLines(drive).map(({ type }) => type)).toEqual([
      'user_message',
      'turn_start',
      'assistant_start',
      'text_delta',
      'assistant_message',
      'usage',
      'turn_end',
      'done',
    ])
    expect(drive.exitCode).toBe(0)
  })

  test('an error is the last line', () => {
    const drive = started('--json', 'hi')
    drive.play([
      { type: 'turn-end', turn: 't1', outcome: 'failed', stop: 'error', fault: fault('provider-down', 'Gone.') },
    ])
    expect(sentLines(drive).at(-1)).toEqual({ type: 'error', message: 'Gone.' })
    expect([drive.warned, drive.exitCode]).toEqual([['zot: Gone.'], 1])
  })
})

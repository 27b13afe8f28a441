import { describe, expect, test } from 'vitest'
import { takeOptions } from '../../src/cli/arguments.ts'
import { runTurnpike } from '../kit/clients.ts'

describe('how a command is called', () => {
  test.each([
    [['serve', '--port', '1', '--help'], 'serve'],
    [['--port', '1', '--help'], '\\[--config FILE\\]'],
    [['as', '-h'], 'as'],
    [['conformance', 'zot', '--help', '--', 'zot', 'rpc'], 'conformance'],
    [['help', 'tail'], 'tail'],
  ])('%j says it of that one', async (args, name) => {
    const { code, stdout, stderr } = await runTurnpike(args, '')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^ {2}turnpike ${name} `))
    expect(stdout.match(/^ {2}turnpike /gm)).toHaveLength(1)
  })

  test('help says it of all', async () => {
    const { code, stdout } = await runTurnpike(['help'], '')
    const names = [...stdout.matchAll(/^ {2}turnpike (\w+|\[)/gm)].map(([, name]) => name)
    expect([code, names]).toEqual([
      0,
      [
        '[',
        'serve',
        'init',
        'as',
        'conformance',
        'tail',
        'check',
        'store',
        'translate',
        'matrix',
        'completion',
        'version',
      ],
    ])
  })
})

test('settings of a translation may be given one by one; one that nobody has is refused', async () => {
  const translate = (...settings: string[]) =>
    runTurnpike(['translate', '--from', 'agentproc', '--to', 'model', ...settings], 'hello\n')
  const { stdout } = await translate('--set', 'max_reply_chars=2', '--set=truncation_suffix=!')
  expect(stdout).toContain('"text":"!"')
  const wrong = await translate('--set', 'max_reply_char=2')
  expect([wrong.code, wrong.stdout]).toEqual([2, ''])
  expect(wrong.stderr).toMatch(
    /^turnpike translate: neither agentproc nor model has an option "max_reply_char"; they have stdin, /,
  )
})

test('what stands behind -- is not ours', () => {
  expect(takeOptions(['-p', 'hi', '--agent', 'one', '--', '--agent', 'two', '--config'], ['agent', 'config'])).toEqual({
    options: { agent: 'one' },
    rest: ['-p', 'hi', '--', '--agent', 'two', '--config'],
  })
})

describe('what a command does not know', () => {
  test.each([
    [['serve', '--prot', '1'], 'turnpike serve: unexpected argument "--prot"; see turnpike help serve\n'],
    [
      ['serve', '--port', 'http'],
      'turnpike serve: --port must be a number up to 65535, not "http"; see turnpike help serve\n',
    ],
    [['check', 'turnpike.yaml'], 'turnpike check: unexpected argument "turnpike.yaml"; see turnpike help check\n'],
    [['tail', '--all'], 'turnpike tail: unexpected argument "--all"; see turnpike help tail\n'],
    [['matrix', '--to'], 'turnpike matrix: --to needs a value; see turnpike help matrix\n'],
  ])('%j', async (args, message) => {
    expect(await runTurnpike(args, '')).toEqual({ code: 2, stdout: '', stderr: message })
  })

  test('is said of a stand-in by another name too', async () => {
    const ran = await runTurnpike(['--agent'], '', { TURNPIKE_NAME: 'zot' })
    expect(ran).toEqual({ code: 2, stdout: '', stderr: 'turnpike as: --agent needs a value; see turnpike help as\n' })
  })
})

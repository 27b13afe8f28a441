import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { fault } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'
import { line, MINIMAL, oneshot, PUBLISHED, ZERO } from './front-kit.ts'

describe('command lines', () => {
  const shapes: [name: string, argv: string[], shape: string][] = [
    ['none', [], 'flat'],
    ['the published one', PUBLISHED, 'flat'],
    ['bare --single-request first', ['host', '--single-request', '--bridge-compat', '--protocol', 'v1'], 'flat'],
    ['values joined', ['host', '--protocol=v1', '--single-request=true', '--bridge-compat'], 'flat'],
    ['values behind', ['host', '--protocol', 'v1', '--single-request', 'true', '--bridge-compat'], 'flat'],
    ['flags without host', ['--bridge-compat'], 'flat'],
    ['no bridge', ['host', '--protocol', 'v1'], 'final'],
    ['host alone', ['host'], 'both'],
    ['one flag alone', ['--single-request'], 'both'],
  ]
  test.each(shapes)('%s', (_name, argv, shape) => {
    const drive = oneshot(argv)
    drive.feed(MINIMAL)
    drive.play(plainTurn('hello'))
    expect(drive.sent).toHaveLength(1)
    const answer = line(drive.sent[0]) as Record<string, unknown>
    expect([answer['ok'], answer['type'], answer['text']]).toEqual([
      shape === 'final' ? undefined : true,
      shape === 'flat' ? undefined : 'final',
      'hello',
    ])
    expect(drive.exitCode).toBe(0)
  })

  const refused: [argv: string[], message: string][] = [
    [['host', '--protocol', 'v2'], 'unsupported --protocol: only v1 is spoken'],
    [['host', '--protocol'], 'unsupported --protocol: only v1 is spoken'],
    [['host', '--single-request', 'yes'], '--single-request takes true or false'],
    [['host', '--bridge-compat=false'], '--bridge-compat takes no value'],
    [['host', '--stdin-timeout-ms', 'soon'], '--stdin-timeout-ms takes a whole number of milliseconds'],
    [['host', '--stdin-timeout-ms'], '--stdin-timeout-ms takes a whole number of milliseconds'],
  ]
  test.each(refused)('%j is refused with its line, its stderr and exit 2', (argv, message) => {
    const drive = oneshot(argv)
    expect(drive.warned).toEqual([message])
    expect(drive.sent).toHaveLength(1)
    expect(JSON.stringify(line(drive.sent[0]))).toContain(message)
    expect(drive.exitCode).toBe(2)
  })

  test('an unknown argument and a value behind --bridge-compat are refused', () => {
    for (const argv of [['worker'], ['host', '--nope'], ['host', '--bridge-compat', 'false']]) {
      expect(oneshot(argv).exitCode).toBe(2)
    }
  })

  test('a refused bridge-compatible command line is answered flat', () => {
    expect(line(oneshot(['host', '--bridge-compat', '--nope']).sent[0])).toMatchObject({
      ok: false,
      request_id: 'unknown',
      session_id: '',
      text: '',
      error_code: 'INVALID_REQUEST',
      usage: ZERO,
    })
  })

  test('how long a line may take', () => {
    expect(oneshot().link.idleMs).toBe(15_000)
    expect(oneshot(PUBLISHED, { ZENE_STDIN_TIMEOUT_MS: '700' }).link.idleMs).toBe(700)
    expect(oneshot(PUBLISHED, { ZENE_STDIN_TIMEOUT_MS: 'x' }).link.idleMs).toBe(15_000)
    expect(oneshot(['host', '--stdin-timeout-ms=9'], { ZENE_STDIN_TIMEOUT_MS: '700' }).link.idleMs).toBe(9)
    expect(oneshot(['host', '--stdin-timeout-ms', '300']).link.idleMs).toBe(300)
  })
})

describe('self-test', () => {
  const run = (act: (drive: ReturnType<typeof driveFront>) => void) => {
    const drive = driveFront(codec, { argv: ['self-test'] })
    expect(drive.commands).toEqual([{ exchange: 'f1', type: 'query', what: 'health' }])
    drive.feed('ignored')
    act(drive)
    return drive
  }

  test('ready', () => {
    const drive = run(({ link }) => {
      link.encodeLink?.({ turn: null, type: 'session-bound', agentSession: 'z' })
      link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'f1', data: '{"ok":true}' })
      link.encodeFault(fault('internal', 'late'), undefined, 'continues')
    })
    expect(drive.sent).toEqual([
      '{"ok":true,"status":"PASS","missing_required_env":[],"checks":[{"role":"gateway","ok":true,"error":null}],"provider_probe_results":[]}',
    ])
    expect([drive.exitCode, drive.warned]).toEqual([0, []])
  })

  test.each([
    [
      (drive: ReturnType<typeof driveFront>) =>
        drive.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'f1' }),
      'the gateway is not ready: run turnpike check for the reasons',
    ],
    [
      (drive: ReturnType<typeof driveFront>) =>
        drive.link.encodeFault(fault('internal', 'no agent'), 'f1', 'continues'),
      'no agent',
    ],
  ])('not ready', (act, message) => {
    const drive = run(act)
    drive.play([{ type: 'turn-started', turn: 't1' }], 'f1')
    expect(line(drive.sent[0])).toMatchObject({
      ok: false,
      status: 'FAIL',
      checks: [{ role: 'gateway', ok: false, error: message }],
    })
    expect([drive.exitCode, drive.warned]).toEqual([3, [message]])
  })
})

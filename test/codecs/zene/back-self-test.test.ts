import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { driveBack } from '../../kit/drive.ts'

const health = { type: 'query', what: 'health', exchange: 'x9' } as const

describe('the health of a one-shot agent', () => {
  test.each([
    [undefined, ['self-test']],
    [['host', '--protocol', 'v1'], ['self-test']],
    [
      ['planner.mjs', 'host', '--protocol', 'v1'],
      ['planner.mjs', 'self-test'],
    ],
    [['planner.mjs'], ['planner.mjs', 'self-test']],
  ])('is asked for with the self-test of %s', (args, expected) => {
    const drive = driveBack(codec, { process: { command: 'zene', env: {}, cwd: '/', ...(args && { args }) } })
    drive.link.encode(health)
    expect(drive.calls).toEqual([{ kind: 'process', args: expected, stdin: 'end' }])
  })

  test('is good when the self-test ends with 0, whatever it prints', () => {
    const drive = driveBack(codec)
    drive.link.encode(health)
    drive.feed('{"ok":true,"status":"PASS"}')
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(drive.events).toEqual([{ turn: null, type: 'command-reply', exchange: 'x9', data: '{"ok":true}' }])
  })

  test.each([
    [{ why: 'closed', exitCode: 3 } as const, 'The agent is not ready: its self-test ended with code 3.'],
    [{ why: 'failed' } as const, 'The agent is not ready: its self-test could not be run.'],
  ])('is bad after %o', (end, message) => {
    const drive = driveBack(codec)
    drive.link.encode(health)
    drive.link.decodeEnd(end)
    expect(drive.events).toEqual([
      {
        turn: null,
        type: 'command-reply',
        exchange: 'x9',
        fault: { code: 'agent-unavailable', message, retryable: true },
      },
    ])
    drive.link.decodeEnd(end)
    expect(drive.events).toHaveLength(1)
  })
})

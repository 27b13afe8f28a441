import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { fault } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'

/** The part of the stand-in for clawbridge that judges one finished provider run. */
interface Bridge {
  judge(run: { stdout: Buffer; stderr: Buffer; code: number; signal: null }): {
    text?: string
    error?: string
    retry?: boolean
  }
}

const BRIDGE = join(import.meta.dirname, '../../kit/clawbridge.mjs')

describe('judged by the rules of clawbridge', () => {
  async function verdict(turn: Parameters<ReturnType<typeof driveFront>['play']>[0]) {
    const { judge } = (await import(BRIDGE)) as Bridge
    const drive = driveFront(codec)
    drive.feed('{"request_id":"r","session_id":"s","prompt":"p"}')
    drive.play(turn)
    const stderr = Buffer.from(drive.warned.join('\n'))
    return judge({ stdout: Buffer.from(`${drive.sent.join('\n')}\n`), stderr, code: drive.exitCode!, signal: null })
  }

  test.each(['hi', ' padded \n', 'ünï 世界 👩‍👩‍👧', 'a\u2028b\u0085c', 'Done. No changes were made.'])(
    '%j is used',
    async (text) => {
      expect(await verdict(plainTurn(text))).toEqual({ text })
      expect(await verdict(plainTurn(text).filter(({ type }) => type !== 'usage'))).toEqual({ text })
    },
  )

  test.each(['', ' \n', 'Plan completed.', 'NO CHANGES WERE MADE.'])(
    '%j is an error and no reason to try again',
    async (text) => {
      expect(await verdict(plainTurn(text))).toMatchObject({ retry: false })
    },
  )

  test('only a timeout is tried again', async () => {
    const failing = (code: 'timeout' | 'internal') =>
      verdict([{ type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault(code, 'the call timed out') }])
    expect(await failing('timeout')).toMatchObject({ retry: true })
    expect(await failing('internal')).toEqual({
      error: 'zene host error INTERNAL: the call ran out of time',
      retry: false,
    })
  })
})

/** Fronts whose whole answer is a text: it has its own lines, and what it leaves out of a turn is a loss. */
import { describe, expect, test } from 'vitest'
import { codec as qwen } from '../../codecs/qwen/index.ts'
import { codec as qwenCode } from '../../codecs/qwen-code/index.ts'
import { codec as zot } from '../../codecs/zot/index.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import { encodeFrame } from '../../src/framing/index.ts'
import { fault, type Item, type TurnEvent } from '../../src/model/index.ts'
import { driveFront } from '../kit/drive.ts'

const turn = 't1'
const message = (id: string, text: string): TurnEvent[] => [
  { type: 'message-start', turn, message: id, role: 'assistant' },
  { type: 'reasoning-delta', turn, message: id, text: 'hm' },
  { type: 'text-delta', turn, message: id, text },
  { type: 'message-end', turn, message: id },
]
const RICH: readonly TurnEvent[] = [
  ...message('m1', 'Looking.'),
  { type: 'tool-call', turn, tool: 'c', name: 'read', args: '{}', executor: 'agent' },
  { type: 'tool-end', turn, tool: 'c', status: 'ok', parts: [] },
  { type: 'notice', turn, severity: 'info', code: 'c', text: 'said' },
  ...message('m2', 'Four.\nReally.'),
  { type: 'usage', turn, scope: 'turn', usage: { input: 1, output: 2 } },
]
const COMPLETED: TurnEvent = { type: 'turn-end', turn, outcome: 'completed', stop: 'end' }
const FAILED: TurnEvent = { type: 'turn-end', turn, outcome: 'failed', fault: fault('provider-down', 'Gone.') }

/** Each with the texts that it prints of a turn that completed, and of one that failed. */
const FRONTS: readonly [
  name: string,
  codec: AnyCodec,
  argv: string[],
  stdin: string[],
  completed: string[],
  failed: string[],
][] = [
  ['zot -p', zot, ['-p', 'hi'], [], ['Four.\nReally.'], []],
  ['qwen, the RFC', qwen, [], ['hi'], ['Looking.\n\nFour.\nReally.'], ['Looking.\n\nFour.\nReally.']],
  ['qwen-code', qwenCode, ['-p', 'hi'], [], ['Looking.\n\nFour.\nReally.'], []],
]

describe.each(FRONTS)('%s', (_name, codec, argv, stdin, completed, failed) => {
  test.each([
    ['completed', COMPLETED, completed],
    ['failed', FAILED, failed],
  ] as const)('of a turn that %s everything is printed or reported', (_outcome, end, printed) => {
    const drive = driveFront(codec, { argv })
    drive.link.open?.()
    drive.feed(...stdin)
    drive.link.decodeEnd?.('eof')
    drive.play([...RICH, end])
    const { framing } = drive.answers.get(drive.commands[0]!.exchange)!
    expect(drive.sent.map((frame) => encodeFrame(framing, frame))).toEqual(printed.map((text) => `${text}\n`))
    const lost = [...drive.losses, ...drive.dropped].filter(({ kind }) => kind === 'dropped')
    const count = (item: Item): number => lost.reduce((sum, loss) => sum + (loss.item === item ? loss.count : 0), 0)
    expect([count('reasoning-delta'), count('tool-call'), count('notice'), count('usage')]).toEqual([2, 1, 1, 1])
    const isWhole = printed.join('').includes('Looking.')
    expect(count('text-delta') > 0).toBe(!isWhole)
  })
  test('half a character is a loss', () => {
    const drive = driveFront(codec, { argv })
    drive.link.open?.()
    drive.feed(...stdin)
    drive.link.decodeEnd?.('eof')
    drive.play([...message('m1', 'a\ud800b'), COMPLETED])
    expect(drive.sent).toEqual(['a\ufffdb'])
    expect(drive.losses).toContainEqual({ kind: 'weakened', item: 'part.text', why: 'too-narrow', count: 1 })
  })
})

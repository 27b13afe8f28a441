/**
 * A model that is cut off leaves a call whose arguments are no JSON. Every back tells its agent of such a call in the
 * history, and every front its client, in whole messages; nothing throws, and nothing waits for their end.
 */
import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { frameText } from '../../src/contract/index.ts'
import { type Message, parse, type TurnEvent } from '../../src/model/index.ts'
import { driveBack } from '../kit/drive.ts'
import { optionsOf } from '../kit/mirror.ts'
import { PROMPTS, prompted } from './prompts.ts'

const ARGS = ['{"a":"x', '{"a":', '[1', '{', '"', 'not JSON', '{"a":1}}', ''] as const
const turn = 't1'

const history = (args: string): Message[] => [
  { role: 'user', parts: [{ type: 'text', text: 'list' }] },
  { role: 'assistant', parts: [{ type: 'tool-call', tool: 'c1', name: 'ls', args }] },
  { role: 'tool', parts: [{ type: 'tool-reply', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'a' }] }] },
]

const events = (args: string): TurnEvent[] => [
  { type: 'turn-accepted', turn, how: 'new', session: 's1' },
  { type: 'turn-started', turn },
  { type: 'message-start', turn, message: 'm1', role: 'assistant' },
  { type: 'tool-start', turn, message: 'm1', tool: 'c1', name: 'ls', executor: 'agent' },
  { type: 'tool-args-delta', turn, tool: 'c1', text: args },
  { type: 'tool-call', turn, tool: 'c1', name: 'ls', args, executor: 'agent' },
  {
    type: 'message-end',
    turn,
    message: 'm1',
    parts: [
      { type: 'text', text: 'Looking.' },
      { type: 'tool-call', tool: 'c1', name: 'ls', args },
    ],
  },
  { type: 'tool-end', turn, tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'a' }] },
  {
    type: 'ask',
    turn,
    ask: 'q1',
    deadline: 9,
    question: {
      kind: 'approval',
      tool: 'c1',
      name: 'ls',
      args,
      options: [{ id: 'yes', kind: 'allow', scope: 'once' }],
    },
  },
  { type: 'ask-settled', turn, ask: 'q1', how: 'answered', by: 'policy', option: 'yes' },
  { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
]

/** The JSON that a front wrote, of lines, events and bodies; text that begins like an object and is none is undefined. */
function written(frames: readonly string[]): unknown[] {
  const lines = frames.flatMap((frame) => frame.split('\n').map((line) => line.replace(/^data: /, '')))
  return lines.filter((line) => line.startsWith('{')).map((line) => parse(line))
}

const codecs = await loadCodecs()
const backs = Object.entries(codecs).flatMap(([name, codec]) =>
  Object.entries(codec.dialects).flatMap(([dialect, { back }]) => (back ? [[name, dialect] as const] : [])),
)

describe.each(ARGS)('arguments %j', (args) => {
  test.each(backs)('are told to %s@%s', (name, dialect) => {
    const codec = codecs[name]!
    const drive = driveBack(codec, { dialect, options: optionsOf(codec) })
    drive.start('go on', { historyMode: 'complete', history: history(args) })
    expect(written(drive.sent.map(frameText))).not.toContain(undefined)
    expect(drive.faults).toEqual([])
  })

  test.each(PROMPTS)('are shown by %s', async (_name, front) => {
    const drive = await prompted(front)
    drive.play(events(args))
    expect(written(drive.sent.map(frameText))).not.toContain(undefined)
    expect(drive.faults).toEqual([])
  })
})

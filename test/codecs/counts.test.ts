import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec as agentproc } from '../../codecs/agentproc/index.ts'
import { codec as openharness } from '../../codecs/openharness/index.ts'
import { codec as qwen } from '../../codecs/qwen/index.ts'
import { codec as zene } from '../../codecs/zene/index.ts'
import { readCounts } from '../../src/codec-kit/index.ts'
import type { Loss, Usage } from '../../src/model/index.ts'
import { type BackDrive, driveBack } from '../kit/drive.ts'
import { runningBack as nativeBack } from './native/kit.ts'
import { running as qwenCodeBack } from './qwen-code/kit.ts'
import { runningBack as zotBack } from './zot/kit.ts'

/** What an agent says of its tokens is passed on when it can be a count, and is a loss otherwise; nothing else is lost. */

interface Kind {
  /** The wire's names of the counts that it has. */
  names: Partial<Record<keyof Usage, string>>
  /** A turn whose answer is `Hi`, with these members of its usage object as JSON. */
  turn(usage: string): BackDrive
}

/** A back link whose agent has a turn and says nothing yet. */
function begun(drive: BackDrive): BackDrive {
  drive.start('hello')
  return drive
}

function fed(drive: BackDrive, ...lines: string[]): BackDrive {
  drive.feed(...lines)
  drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
  return drive
}

const openAi = { input: 'prompt_tokens', output: 'completion_tokens', total: 'total_tokens' }
const anthropic = { input: 'input_tokens', output: 'output_tokens', total: 'total_tokens' }

const KINDS: Readonly<Record<string, Kind>> = {
  zene: { names: openAi, turn: (usage) => fed(begun(driveBack(zene)), `{"ok":true,"text":"Hi","usage":{${usage}}}`) },
  zot: {
    names: { input: 'input', output: 'output', costUsd: 'cost_usd' },
    turn: (usage) =>
      fed(
        zotBack(),
        '{"type":"turn_start","step":1}',
        '{"type":"assistant_start"}',
        '{"type":"text_delta","delta":"Hi"}',
        `{"type":"usage",${usage}}`,
        '{"type":"turn_end","stop":"end"}',
        '{"type":"done"}',
      ),
  },
  'qwen, a completion': {
    names: openAi,
    turn: (usage) =>
      fed(
        begun(driveBack(qwen)),
        `{"object":"chat.completion","id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{${usage}}}`,
      ),
  },
  'qwen-code': {
    names: anthropic,
    turn: (usage) =>
      fed(
        qwenCodeBack(),
        `{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hi"}],"usage":{${usage}}}}`,
        '{"type":"result","subtype":"success","is_error":false,"result":"Hi"}',
      ),
  },
  'agentproc 0.4': {
    names: { ...anthropic, costUsd: 'cost_usd' },
    turn: (usage) =>
      fed(begun(driveBack(agentproc, { dialect: '0.4' })), `{"type":"result","text":"Hi","usage":{${usage}}}`),
  },
  openharness: {
    names: { ...anthropic, costUsd: 'cost_usd' },
    turn: (usage) =>
      fed(
        begun(driveBack(openharness)),
        `{"protocol_version":"1.0.0","response":{"status":"success","action_directives":[{"action_type":"render_message","payload":{"text":"Hi"}}],"extensions":{"urn:turnpike:turn":{"usage":{${usage}}}}}}`,
      ),
  },
  native: {
    names: { input: 'input', output: 'output', total: 'total', costUsd: 'costUsd' },
    turn: (usage) =>
      fed(
        nativeBack(),
        '{"type":"message-start","turn":"t1","message":"m1","role":"assistant"}',
        '{"type":"text-delta","turn":"t1","message":"m1","text":"Hi"}',
        '{"type":"message-end","turn":"t1","message":"m1"}',
        `{"type":"usage","turn":"t1","scope":"turn","usage":{${usage}}}`,
        '{"type":"turn-end","turn":"t1","outcome":"completed"}',
      ),
  },
}

/** What was said: deltas, else the parts of whole messages. */
function said({ events }: BackDrive): string {
  const deltas = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
  const parts = events.flatMap((event) => (event.type === 'message-end' ? (event.parts ?? []) : []))
  return deltas.join('') || parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

const dropped = (kind: Kind, key: keyof Usage): Loss => ({
  kind: 'dropped',
  item: `usage.${key}`,
  field: kind.names[key]!,
  why: 'precision',
  count: 1,
})

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test.each(['-1', '1.5', '1e300', '1000000000001'])('%s is no count of tokens', (odd) => {
    const drive = kind.turn(`"${kind.names.input}":${odd},"${kind.names.output}":7`)
    const usages = drive.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))
    expect(usages.length).toBeGreaterThan(0)
    for (const usage of usages) expect(usage).toEqual({ output: 7 })
    expect(drive.losses.filter(({ item }) => item !== 'notice')).toEqual([dropped(kind, 'input')])
    expect(said(drive)).toBe('Hi')
  })

  test('a usage that is nothing but odd is none', () => {
    const drive = kind.turn(`"${kind.names.input}":-3,"${kind.names.output}":0.25`)
    expect(drive.events.flatMap((event) => (event.type === 'usage' ? Object.keys(event.usage) : []))).toEqual([])
    expect(said(drive)).toBe('Hi')
  })
})

test.each(Object.entries(KINDS).filter(([, { names }]) => names.costUsd))(
  '%s: a cost may have fractions, but is not negative',
  (_name, { names, turn }) => {
    const counts = (cost: string): Usage[] =>
      turn(`"${names.output}":7,"${names.costUsd}":${cost}`).events.flatMap((event) =>
        event.type === 'usage' ? [event.usage] : [],
      )
    for (const usage of counts('0.0125')) expect(usage).toEqual({ output: 7, costUsd: 0.0125 })
    for (const usage of counts('-0.5')) expect(usage).toEqual({ output: 7 })
  },
)

test('whatever a member is, it is a count that anybody can add up, or a loss', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('in', 'out', 'cost'), fc.oneof(fc.anything(), fc.double())), (fields) => {
      const losses: Loss[] = []
      const usage = readCounts(fields, { input: 'in', output: 'out', costUsd: 'cost' }, (loss) => losses.push(loss))
      for (const tokens of [usage.input, usage.output]) {
        if (tokens !== undefined) expect(Number.isInteger(tokens) && tokens >= 0 && tokens <= 1e12).toBe(true)
      }
      const told = Object.values(fields).filter((value) => value != null).length
      expect(Object.keys(usage).length + losses.length).toBe(told)
    }),
  )
})

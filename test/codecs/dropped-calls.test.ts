/**
 * A call whose arguments were still coming when its turn was cancelled or failed was never made: the agent dropped it.
 * No front makes one up, neither the call nor its result, and no back reads one out of what was shown by then.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { type Party, plainWire, translate } from '../../src/translate/index.ts'
import { optionsOf } from '../kit/mirror.ts'

const codecs = await loadCodecs()

function partyOf(name: string): Party {
  const [protocol, dialect] = name.split('@') as [string, string | undefined]
  const codec = codecs[protocol]!
  return { codec, dialect: dialect ?? Object.keys(codec.dialects)[0]!, options: optionsOf(codec) }
}

const DIALECTS = ['native', 'zot', 'qwen', 'qwen-code', 'openharness', 'zene', 'agentproc', 'agentproc@0.4']

const FAULTS = {
  cancelled: { outcome: 'cancelled', stop: 'aborted' },
  failed: { outcome: 'failed', stop: 'error', fault: { code: 'provider-down', message: 'M', retryable: true } },
} as const

/** What an agent says of a turn with a whole call and one that it drops, in the words of native. */
function agentSays(pieces: readonly string[], wholeFirst: boolean, outcome: keyof typeof FAULTS): string {
  const turn = 't1'
  const whole = [
    { type: 'tool-start', turn, tool: 'c1', name: 'ls', executor: 'agent' },
    { type: 'tool-call', turn, tool: 'c1', name: 'ls', args: { path: '.' }, executor: 'agent' },
    { type: 'tool-end', turn, tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'a' }] },
  ]
  const lines = [
    { type: 'agent-ready' },
    { type: 'turn-started', turn },
    { type: 'step-start', turn, step: 1 },
    ...(wholeFirst ? whole : []),
    { type: 'message-start', turn, message: 'm1', role: 'assistant' },
    { type: 'text-delta', turn, message: 'm1', text: 'Looking.' },
    { type: 'message-end', turn, message: 'm1' },
    { type: 'tool-start', turn, tool: 'c2', name: 'read', executor: 'agent' },
    ...pieces.map((text) => ({ type: 'tool-args-delta', turn, tool: 'c2', text })),
    { type: 'turn-end', turn, ...FAULTS[outcome] },
  ]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

interface Said {
  type: string
  tool?: string
  status?: string
  outcome?: string
}

/** What the target's own back reads in what its front has written. */
function readBack(wire: string, target: Party): Said[] {
  const { out, faults } = translate([plainWire('agent', wire)], { from: partyOf('native'), to: target, of: 'agent' })
  expect(faults).toEqual([])
  const again = translate([plainWire('agent', out)], { from: target, to: 'canonical', of: 'agent' })
  return again.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Said)
}

describe.each(DIALECTS)('%s', (name) => {
  test('a call that was dropped is none', () => {
    const target = partyOf(name)
    const shows = target.codec.dialects[target.dialect]!.front!.capabilities['tool-call'] !== 'none'
    const pieces = fc.constantFrom<readonly string[]>(
      [],
      ['{"pa'],
      ['{"pa', 'th":"'],
      ['{}'],
      ['{"path":"x"}'],
      ['nonsense'],
    )
    const outcomes = fc.constantFrom<keyof typeof FAULTS>('cancelled', 'failed')
    fc.assert(
      fc.property(pieces, fc.boolean(), outcomes, (args, wholeFirst, outcome) => {
        const said = readBack(agentSays(args, wholeFirst, outcome), target)
        const whole = wholeFirst && shows && name !== 'openharness' ? ['c1'] : []
        const calls = said.filter(({ type }) => type === 'tool-call')
        expect(calls.map(({ tool }) => tool)).toEqual(whole)
        const results = said.filter(
          ({ type, status }) => type === 'tool-end' && status !== 'cancelled' && status !== 'error',
        )
        expect(results.map(({ tool }) => tool)).toEqual(whole)
        expect(said.find(({ type }) => type === 'turn-end')?.outcome).toMatch(/cancelled|failed/)
      }),
    )
  })
})

/** What the conformance rules say of this codec's own answers: whatever a run ends with, at whatever moment. */
import { describe, expect, test } from 'vitest'
import type { AgentRun } from '../../../src/conformance/kit/index.ts'
import { seenLine } from '../../../src/conformance/lines.ts'
import { ERROR_CODES, fault, type TurnEvent } from '../../../src/model/index.ts'
import { suiteOf } from '../../kit/conformance.ts'
import { plainTurn } from '../../kit/drive.ts'
import { end, MINIMAL, oneshot, PUBLISHED } from './front-kit.ts'

const ENDINGS: [string, TurnEvent[]][] = [
  ['completed', plainTurn('hi')],
  ['cancelled', end({ outcome: 'cancelled' })],
  ...ERROR_CODES.map((code): [string, TurnEvent[]] => [
    `failed: ${code}`,
    end({ outcome: 'failed', fault: fault(code, 'no') }),
  ]),
]

/** These ask what the words of the ending are, not what the scenario was about. */
const RULES = ['zene.4.one-answer', 'zene.4.fields', 'zene.4.success', 'zene.4.failure', 'zene.6.error-code']

describe.each([
  ['flat', PUBLISHED],
  ['final', ['host', '--protocol', 'v1']],
])('an answer in the shape %s', (_shape, argv) => {
  test.each(ENDINGS)('%s breaks no rule', async (_name, turn) => {
    const drive = oneshot(argv)
    drive.feed(MINIMAL)
    drive.play(turn)
    const lines = drive.sent.map((text) => seenLine(String(text), true, 1))
    const run: AgentRun = { scenario: 'terminate', id: 'x', transport: 'stdio', lines, output: '', end: 'exited' }
    const { agent } = await suiteOf('zene')
    const judged = agent.filter(({ id }) => RULES.includes(id)).map(({ id, judge }) => [id, judge(run, [run])])
    expect(judged).toEqual(RULES.map((id) => [id, undefined]))
  })
})

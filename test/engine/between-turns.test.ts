import { expect, test } from 'vitest'
import { BetweenTurns, type Notice } from '../../src/engine/session/between-turns.ts'
import { keepsContent } from '../../src/engine/turn/privacy.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'

function notice(text: string): Notice {
  return { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text }
}

/** What a turn is told of it. */
function told(between: BetweenTurns): { notices: string[]; losses: unknown[] } {
  const notices: string[] = []
  const losses: unknown[] = []
  const turn: Pick<Turn, 'notice' | 'loss'> = {
    notice: (severity, code, text) => notices.push(`${severity} ${code} ${text}`),
    loss: (loss) => losses.push(loss),
  }
  between.tell(turn as Turn)
  return { notices, losses }
}

const lost = (count: number) => ({ kind: 'dropped', item: 'notice', field: 'between-turns', why: 'policy', count })

test('what was kept is told once, in order', () => {
  const between = new BetweenTurns()
  expect([between.add(notice('a')), between.add(notice('b'))]).toEqual([true, true])
  expect(told(between)).toEqual({ notices: ['info unasked-output a', 'info unasked-output b'], losses: [] })
  expect(told(between)).toEqual({ notices: [], losses: [] })
})

test('20 notices are kept between two turns, and 65,536 characters', () => {
  const between = new BetweenTurns()
  for (let at = 0; at < 23; at += 1) between.add(notice('x'))
  expect(told(between).losses).toEqual([lost(3)])
  expect(between.add(notice('x'.repeat(65_536)))).toBe(true)
  expect(between.add(notice('x'))).toBe(false)
  expect(told(between).losses).toEqual([lost(1)])
})

test('after a turn that is not written down the text of it is not kept', () => {
  const between = new BetweenTurns()
  between.mayBeKept = false
  between.add(notice('canary'))
  expect(told(between).notices).toEqual([
    'info unasked-output The agent said something between two turns (6 characters); it is not kept.',
  ])
})

test.each([
  ['full', undefined, true],
  ['full', 'restricted', true],
  ['full', 'secret', false],
  ['shape', undefined, false],
] as const)('with journal %s and privacy %s the content of a turn is kept: %s', (journal, privacy, kept) => {
  const environment = privacy && { privacy, json: '{}' }
  const turn = { route: { journal }, command: { ...(environment && { environment }) } } as Parameters<
    typeof keepsContent
  >[0]
  expect(keepsContent(turn)).toBe(kept)
})

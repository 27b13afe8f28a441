import { expect, test } from 'vitest'
import { BetweenTurns, isBetweenTurns, type Notice } from '../../src/engine/session/between-turns.ts'
import { keepsContent } from '../../src/engine/turn/privacy.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { notingLog, plainAgent, plainTurn } from '../kit/plain.ts'

function notice(text: string): Notice {
  return { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text }
}

/** What a turn is told of it. */
function told(between: BetweenTurns, offers: unknown[] = []): { notices: string[]; losses: unknown[] } {
  const notices: string[] = []
  const losses: unknown[] = []
  const turn: Pick<Turn, 'notice' | 'loss' | 'audience'> = {
    audience: { tell: (event) => void offers.push(event) } as Pick<Turn['audience'], 'tell'> as Turn['audience'],
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

test('what the agent has come to offer is told once, as it is then', () => {
  const between = new BetweenTurns()
  const offers: unknown[] = []
  for (const json of ['{"mode":"a","title":"t"}', '{"mode":"b"}']) between.offer(json)
  told(between, offers)
  told(between, offers)
  expect(offers).toEqual([{ turn: null, type: 'session-changed', json: '{"title":"t","mode":"b"}' }])
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

/** What becomes of a notice: what the running turn's client is shown, and what is written down and logged. */
function keeping(said: Notice, { runs = false, mayBeKept = true } = {}) {
  const heard: unknown[][] = []
  const between = new BetweenTurns()
  between.mayBeKept = mayBeKept
  const { turn, host } = plainTurn()
  const agent = plainAgent('')
  between.keep(
    said,
    { session: turn.session.record, agent, running: runs ? turn : undefined },
    {
      recorder: {
        bind() {},
        transcript: async () => [],
        origin: async () => undefined,
        copied() {},
        unasked: ({ id }, text, at) => void heard.push([id, text, at]),
      },
      log: notingLog((message, fields) => void heard.push([message, fields])),
      now: () => 9,
    },
  )
  const shown = host.events.map((event) => event.type === 'notice' && event.text)
  return { heard, shown, later: told(between).notices }
}

const LOGGED = [
  'an agent spoke between turns',
  { agent: 'plain', session: 'kept', severity: 'info', code: 'unasked-output', characters: 7 },
]

test('what an agent said is told later, written down and, without its text, logged', () => {
  expect(keeping(notice('the key'))).toEqual({
    heard: [LOGGED, ['kept', 'the key', 9]],
    shown: [],
    later: ['info unasked-output the key'],
  })
})

test('a turn that waits for its agent tells it at once', () => {
  expect(keeping(notice('the key'), { runs: true })).toEqual({
    heard: [LOGGED, ['kept', 'the key', 9]],
    shown: ['the key'],
    later: [],
  })
})

test('after a turn that is not written down it is neither', () => {
  const hidden = 'The agent said something between two turns (7 characters); it is not kept.'
  expect(keeping(notice('the key'), { mayBeKept: false })).toEqual({
    heard: [LOGGED],
    shown: [],
    later: [`info unasked-output ${hidden}`],
  })
  expect(keeping(notice('the key'), { mayBeKept: false, runs: true }).shown).toEqual([hidden])
})

test('another notice is no part of the conversation', () => {
  expect(keeping({ ...notice('the key'), code: 'other' }).heard).toHaveLength(1)
})

test('a notice is between two turns unless a turn runs; unasked output always is', () => {
  const { turn } = plainTurn()
  const other = { ...notice('x'), code: 'other' }
  const cases = [undefined, turn].flatMap((running) =>
    [notice('x'), other].map((said) => isBetweenTurns(said, running)),
  )
  expect(cases).toEqual([true, true, true, false])
  turn.cancel()
  expect(isBetweenTurns(other, turn)).toBe(true)
})

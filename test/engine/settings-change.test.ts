import { expect, test } from 'vitest'
import {
  applyChange,
  changeFor,
  refusalOfChange,
  reportExt,
  reportSettings,
} from '../../src/engine/dispatch/settings-change.ts'
import type { CommandOf } from '../../src/model/index.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

const ANSWER: CommandOf<'ask-reply'> = {
  exchange: 'y',
  type: 'ask-reply',
  target: { continuation: 't.k' },
  reply: { kind: 'tool', status: 'ok', parts: [] },
}
const warmer = { ...ANSWER, settings: { options: { temperature: 1 } } }

/** A turn that has asked, with a temperature; `takes`: its agent takes other settings. */
function asking(takes: boolean, loss: 'report' | 'strict' = 'report') {
  const agent = plainAgent('')
  const { dialect } = agent
  const back = { ...dialect.back, ...(takes && { takesSettings: true as const }) }
  const command = start({ options: { temperature: 0 } })
  const { turn, run } = plainTurn({ agent: { ...agent, dialect: { ...dialect, back } }, command, route: { loss } })
  // The questions are there from the first one on.
  return { turn, asks: run.asks, losses: () => turn.losses.list.map(({ item, field, why }) => [item, field, why]) }
}

test('an agent that takes other settings has them from then on', () => {
  const { turn, asks, losses } = asking(true, 'strict')
  const change = changeFor(turn, warmer)!
  expect([refusalOfChange(turn, change), asks.settings.options]).toEqual([undefined, { temperature: 0 }])
  applyChange(turn, change)
  expect([asks.settings.options, losses()]).toEqual([{ temperature: 1 }, []])
  expect(changeFor(turn, warmer)).toEqual({ losses: [], said: warmer.settings })
})

test('one that does not keeps those before, and what it does not get is a loss or a refusal', () => {
  const { turn, asks, losses } = asking(false)
  const change = changeFor(turn, warmer)!
  expect(refusalOfChange(turn, change)).toBeUndefined()
  applyChange(turn, change)
  expect([asks.settings.options, losses()]).toEqual([{ temperature: 0 }, [['option.temperature', undefined, 'policy']]])
  const strict = asking(false, 'strict').turn
  expect(refusalOfChange(strict, changeFor(strict, warmer))).toMatchObject({ code: 'lossy-refused' })
  expect(refusalOfChange(strict, changeFor(strict, ANSWER))).toBeUndefined()
})

test('an answer while the turn runs changes nothing', () => {
  const { turn, asks, losses } = asking(true)
  reportSettings(turn, ANSWER)
  reportExt(turn, ANSWER)
  expect(losses()).toEqual([])
  reportSettings(turn, warmer)
  reportExt(turn, { ...ANSWER, ext: { protocol: 'p', json: '{}' } })
  expect(asks.settings.options).toEqual({ temperature: 0 })
  expect(losses()).toEqual([
    ['option.temperature', undefined, 'policy'],
    ['ext', 'p', 'no-place'],
  ])
})

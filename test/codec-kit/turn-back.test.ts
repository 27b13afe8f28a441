import { expect, test } from 'vitest'
import { type CallTurn, TurnBack } from '../../src/codec-kit/index.ts'
import type { Command } from '../../src/model/index.ts'

type Start = Extract<Command, { type: 'turn-start' }>

const start = (turn: string): Start => ({
  exchange: 'x',
  type: 'turn-start',
  turn,
  task: 'prompt',
  input: [],
  options: {},
})
const steer: Command = { exchange: 'x', type: 'turn-steer', target: { turn: 'a' }, input: [] }
const cancel: Command = { exchange: 'x', type: 'turn-cancel', target: { turn: 'a' } }
const reply: Command = {
  exchange: 'x',
  type: 'ask-reply',
  target: { turn: 'a' },
  ask: 'q',
  reply: { kind: 'approval', option: 'allow' },
}

const WIRE = { text: 'lines', at: 0, before: '', after: '\n' }

/** A link whose turns note what reaches them. */
function link(has: 'all' | 'least' = 'all'): { back: TurnBack; log: string[] } {
  const log: string[] = []
  const back = new TurnBack(({ turn }): CallTurn => {
    log.push(`open ${turn}`)
    return {
      begin: () => void log.push(`begin ${turn}`),
      cancel: () => void log.push(`cancel ${turn}`),
      ...(has === 'all' && {
        reply: ({ ask }) => void log.push(`reply ${turn} ${ask}`),
        steer: () => void log.push(`steer ${turn}`),
        head: ({ status }) => void log.push(`head ${turn} ${status}`),
        texts: ({ text }) => void log.push(`texts ${turn} ${text}`),
      }),
      frame: (frame) => void log.push(`frame ${turn} ${String(frame)}`),
      callEnd: ({ why }) => void log.push(`end ${turn} ${why}`),
    }
  })
  return { back, log }
}

test('each turn has its own calls, and the newest one gets what comes', () => {
  const { back, log } = link()
  for (const command of [start('a'), steer, reply, cancel]) back.encode(command)
  back.decodeHead({ status: 200, headers: {} })
  back.decode('line')
  back.decodeTexts(WIRE)
  back.decodeEnd({ why: 'closed' })
  back.encode(start('b'))
  back.decode('more')
  expect(log).toEqual([
    'open a',
    'begin a',
    'steer a',
    'reply a q',
    'cancel a',
    'head a 200',
    'frame a line',
    'texts a lines',
    'end a closed',
    'open b',
    'begin b',
    'frame b more',
  ])
})

test('without a turn nothing happens, whatever comes', () => {
  const { back, log } = link()
  for (const command of [steer, reply, cancel, { exchange: 'x', type: 'query', what: 'models' } as const]) {
    back.encode(command)
  }
  back.decodeHead({ status: 500, headers: {} })
  back.decode('line')
  expect(back.decodeTexts(WIRE)).toBeUndefined()
  back.decodeEnd({ why: 'failed' })
  expect(log).toEqual([])
})

test('a turn ignores what its protocol does not have', () => {
  const { back, log } = link('least')
  for (const command of [start('a'), steer, reply]) back.encode(command)
  back.decodeHead({ status: 200, headers: {} })
  expect(log).toEqual(['open a', 'begin a'])
})

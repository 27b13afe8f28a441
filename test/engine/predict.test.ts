import { describe, expect, test } from 'vitest'
import { type Capabilities, capabilities } from '../../src/contract/index.ts'
import { predictAnswer, predictPair, predictRequest, strictRefusal } from '../../src/engine/carry/predict.ts'
import { type Command, ITEMS, type Item, type TurnStart } from '../../src/model/index.ts'

const half = (full: readonly Item[], partial: readonly Item[] = []): Capabilities => capabilities({ full, partial })

const start = (more: Partial<TurnStart> = {}): Command & TurnStart => ({
  exchange: 'x',
  session: { id: 's' },
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
  ...more,
})

const TEXT: readonly Item[] = ['turn-start', 'part.text', 'text-delta', 'message-start', 'message-end', 'turn-end']

describe('a pair', () => {
  test.each<[Item, Capabilities, Capabilities, string]>([
    ['option.model', half(['option.model']), half(['option.model']), 'kept'],
    ['option.model', half(['option.model']), half([], ['option.model']), 'weakened'],
    ['option.model', half(['option.model']), half([]), 'lost'],
    ['option.model', half([]), half(['option.model']), 'absent'],
    ['start.once', half(['start.once']), half([]), 'served'],
    ['turn-cancel', half(['turn-cancel']), half([]), 'served'],
    ['directive', half([]), half(['directive']), 'lost'],
    ['directive', half(['directive']), half([]), 'absent'],
    ['directive', half(['directive']), half([], ['directive']), 'weakened'],
    ['part.image', half(['part.image']), half([]), 'lost'],
    ['part.image', half([]), half(['part.image']), 'absent'],
    ['part.image', half([]), half(['part.image', 'tool-end']), 'lost'],
    ['part.image', half(['part.image']), half(['tool-end'], ['part.image']), 'weakened'],
    ['part.reasoning', half([]), half(['part.reasoning', 'reasoning-delta']), 'lost'],
    ['part.reasoning', half([]), half([]), 'absent'],
    ['turn-parked', half([]), half([]), 'absent'],
    ['turn-end', half([]), half([]), 'kept'],
    ['agent-ready', half([]), half(['agent-ready']), 'served'],
    ['command-reply', half([]), half(['command-reply']), 'absent'],
    ['ext', half([], ['ext']), half([], ['ext']), 'lost'],
    ['ext', half(['ext']), half([], ['ext']), 'lost'],
    ['foreign', half(['foreign']), half(['foreign']), 'kept'],
    ['foreign', half([]), half([]), 'absent'],
  ])('%s is carried as both halves say (%#)', (item, front, back, way) => {
    expect(predictPair(front, back)[item]).toBe(way)
  })

  test('within one dialect loses only what one half has no place for', () => {
    const front = half(['directive'], ['ext', 'part.text', 'part.data', 'option.effort'])
    const back = half(['notice'], ['ext', 'part.text', 'directive'])
    expect(predictPair(front, back, true)).toMatchObject({
      directive: 'kept',
      ext: 'kept',
      'part.text': 'kept',
      'part.data': 'kept',
      'option.effort': 'lost',
      notice: 'lost',
    })
  })

  test('of full halves keeps all', () => {
    const ways = Object.values(predictPair(half(ITEMS), half(ITEMS)))
    expect(ways.every((way) => way === 'kept' || way === 'absent')).toBe(true)
  })
})

describe('a turn', () => {
  const back = half(
    [...TEXT, 'usage', 'usage.total', 'usage.costUsd', 'ask', 'ask.approval', 'ask-settled'],
    ['option.systemPrompt'],
  )

  test('loses what its request holds and its answer may', () => {
    const image = { type: 'image', url: 'u' } as const
    const command = start({
      input: [image, image],
      options: { systemPrompt: 's', effort: 'high', totalMs: 9 },
      once: { key: 'k', duplicate: 'join', replay: 'never' },
      task: 'compact',
    })
    expect([
      ...predictRequest(back, command, false),
      ...predictAnswer(half([...TEXT, 'usage', 'usage.total']), back),
    ]).toEqual([
      { kind: 'dropped', item: 'start.compact', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 2 },
      { kind: 'weakened', item: 'option.systemPrompt', why: 'too-narrow', count: 1 },
      { kind: 'dropped', item: 'option.effort', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ask', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.costUsd', why: 'no-place', count: 1 },
    ])
  })

  test('what is gone with its event is not lost twice', () => {
    expect(predictAnswer(half(TEXT), back).map(({ item }) => item)).toEqual(['usage', 'ask'])
  })

  test('within one dialect loses no member of its own', () => {
    const ext = { protocol: 'p', json: '{}' }
    expect(predictRequest(half(TEXT, ['ext']), { ...start(), ext }, true)).toEqual([])
    expect(predictRequest(half(TEXT, ['ext']), { ...start(), ext }, false)).toEqual([
      { kind: 'dropped', item: 'ext', why: 'no-place', count: 1 },
    ])
  })
})

describe('a route without losses', () => {
  test('refuses what would be lost, and says what', () => {
    const refusal = strictRefusal(half(TEXT), half([...TEXT, 'notice']), start({ options: { model: 'm' } }), false)
    expect(refusal).toEqual({
      code: 'lossy-refused',
      message:
        'This route takes no losses, and between these two protocols some would be lost: option.model, notice. ' +
        'Leave them out, choose another agent, or set "loss: report" on the route.',
      retryable: false,
    })
  })

  test('takes what the client’s protocol has every request say, and nothing else for it', () => {
    const asked = start({ options: { maxTokens: 5 } })
    const refusal = (command = asked) => strictRefusal(half(TEXT), half(TEXT), command, false, ['option.maxTokens'])
    expect(refusal()).toBeUndefined()
    expect(strictRefusal(half(TEXT), half(TEXT), asked, false)).toMatchObject({ code: 'lossy-refused' })
    expect(refusal(start({ options: { maxTokens: 5, topP: 1 } }))!.message).toContain('be lost: option.topP. ')
  })

  test('names a dozen at most', () => {
    const { message } = strictRefusal(half(TEXT), half(ITEMS), start(), false)!
    expect(message).toMatch(/: part\.image, part\.audio, .*, message-retract and 15 more\. /)
    expect(/lost: (.*) and 15 more/.exec(message)![1]!.split(', ')).toHaveLength(12)
  })

  test('takes the rest: what is only weakened in an answer, and all within one dialect', () => {
    expect(strictRefusal(half(TEXT, ['notice']), half([...TEXT, 'notice']), start(), false)).toBeUndefined()
    expect(strictRefusal(half(TEXT), half([...TEXT, 'notice']), start(), true)).toBeUndefined()
  })
})

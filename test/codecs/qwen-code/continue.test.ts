import { describe, expect, test } from 'vitest'
import type { TurnEvent } from '../../../src/model/index.ts'
import {
  assistant,
  control,
  controlError,
  controlSuccess,
  endOf,
  greeted,
  requestId,
  say,
  sentObjects,
  streamClient,
  success,
  turnEvents,
} from './kit.ts'

const CANCELLED: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'cancelled', stop: 'aborted' }
const ext = { protocol: 'qwen-code', json: '{"continue_last_turn":true}' }

/** A client whose turn had these events, and which then asks to go on with it. */
function continued(events: readonly TurnEvent[]) {
  const front = streamClient()
  front.feed(say('hi'))
  front.play(events)
  front.feed(control('c', { subtype: 'continue_last_turn' }))
  return front
}

describe('a client that goes on with its last turn', () => {
  test.each([
    ['interrupted_prompt', []],
    ['interrupted_turn', [{ type: 'message-start', turn: 't1', message: 'm', role: 'assistant' }]],
    ['interrupted_turn', [{ type: 'tool-start', turn: 't1', tool: 'c', name: 'f', executor: 'agent' }]],
    ['interrupted_prompt', [{ type: 'message-start', turn: 't1', message: 'm', role: 'user' }]],
  ] as const)('%s: a turn of its own', (interruption, before) => {
    const front = continued([...before, CANCELLED])
    expect(front.commands.at(-1)).toMatchObject({
      type: 'turn-start',
      input: [{ type: 'text', text: 'Continue.' }],
      ext,
    })
    expect(sentObjects(front).findLast(({ type }) => type === 'control_response')).toEqual({
      type: 'control_response',
      response: {
        subtype: 'success',
        request_id: 'c',
        response: { subtype: 'continue_last_turn', accepted: true, interruption },
      },
    })
    front.feed(control('d', { subtype: 'continue_last_turn' }))
    expect(front.commands).toHaveLength(2)
  })

  test('has nothing to go on with where the turn was not interrupted', () => {
    const front = continued([{ type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' }])
    expect(front.commands).toHaveLength(1)
    expect(sentObjects(front).at(-1)).toMatchObject({ response: { response: { accepted: false } } })
  })
})

describe('an agent that is to go on with its last turn', () => {
  function goingOn() {
    const drive = greeted()
    drive.start('Continue.', { ext })
    return { drive, id: requestId(drive, 'continue_last_turn') }
  }

  test('is asked by its own request, not by a prompt', () => {
    const { drive, id } = goingOn()
    expect(sentObjects(drive).some(({ type }) => type === 'user')).toBe(false)
    drive.feed(controlSuccess(id, { subtype: 'continue_last_turn', accepted: true, interruption: 'interrupted_turn' }))
    drive.feed(assistant([{ type: 'text', text: 'more' }]), success('more'))
    expect(turnEvents(drive).at(-1)).toMatchObject({ type: 'turn-end', outcome: 'completed' })
  })

  test.each([
    ['it has nothing to go on with', (id: string) => controlSuccess(id, { accepted: false, interruption: 'none' })],
    ['Unknown subtype', (id: string) => controlError(id, 'Unknown subtype')],
  ])('and does not: %s', (why, answer) => {
    const { drive, id } = goingOn()
    drive.feed(answer(id))
    expect(endOf(drive.events).fault).toEqual({
      code: 'invalid-request',
      message: `The agent does not continue its last turn: ${why}.`,
      retryable: false,
    })
  })

  test('and is cancelled or gone first', () => {
    const { drive, id } = goingOn()
    drive.link.decodeEnd({ why: 'cancelled' })
    drive.feed(controlSuccess(id, { accepted: false }))
    expect(endOf(drive.events).outcome).toBe('cancelled')
  })
})

import { describe, expect, test } from 'vitest'
import { type ControlReply, ControlRequests, controlErrorText, controlResponse } from '../../src/codec-kit/index.ts'
import type { BackPorts } from '../../src/contract/index.ts'

function requests(recorded?: 'agent' | 'both') {
  const sent: unknown[] = []
  const replies: ControlReply[] = []
  const noted = (): void => {}
  let ids = 0
  const newId = (): string => {
    ids += 1
    return `b${ids}`
  }
  const send = (frame: unknown): void => void sent.push(JSON.parse(String(frame)))
  const ports: BackPorts = { emit: noted, open: noted, end: noted, broken: noted, report: noted, send, newId }
  const made = new ControlRequests(ports, recorded)
  const answer = (response: unknown): string => {
    const json = JSON.stringify({ type: 'control_response', response })
    return made.answer(JSON.parse(json) as Record<string, unknown>, json)
  }
  return { made, sent, replies, answer, take: (reply: ControlReply): void => void replies.push(reply) }
}

describe('control requests', () => {
  test('are answered once, by their ids', () => {
    const { made, sent, replies, answer, take } = requests()
    made.send('set_model', { model: '"m"' }, take)
    made.send('interrupt', {}, take)
    expect(sent).toEqual([
      { type: 'control_request', request_id: 'turnpike-b1', request: { subtype: 'set_model', model: 'm' } },
      { type: 'control_request', request_id: 'turnpike-b2', request: { subtype: 'interrupt' } },
    ])
    expect(answer({ subtype: 'success', request_id: 'turnpike-b2', response: { a: 1 } })).toBe('read')
    expect(answer({ subtype: 'success', request_id: 'turnpike-b2' })).toBe('misfit')
    expect(answer({ subtype: 'error', request_id: 'turnpike-b1' })).toBe('read')
    expect(replies).toEqual([
      { success: true, raw: '{"a":1}' },
      { success: false, error: 'The agent refused the request.' },
    ])
  })

  test.each([[undefined], [3], [{ request_id: 7 }]])('an answer %j is none', (response) => {
    expect(requests().answer(response)).toBe('misfit')
  })

  test('without an answer are told so', () => {
    const { made, replies, take } = requests()
    made.send('interrupt', {}, take)
    made.forget()
    made.forget()
    expect(replies).toEqual([undefined])
  })

  test.each([
    ['agent', 'foreign'],
    ['both', 'read'],
  ] as const)('of a recording (%s) are answered by their subtype, and one too many is %s', (recorded, stray) => {
    const { made, replies, answer, take } = requests(recorded)
    made.send('initialize', {}, take)
    made.send('interrupt', {}, take)
    expect(answer({ subtype: 'success', request_id: 'other', response: {} })).toBe('read')
    expect(answer({ subtype: 'success', request_id: 'other', response: {} })).toBe(stray)
    expect(answer({ subtype: 'success', request_id: 'x', response: { subtype: 'initialize' } })).toBe('read')
    expect(replies).toEqual([
      { success: true, raw: '{}' },
      { success: true, raw: '{"subtype":"initialize"}' },
    ])
  })

  test('are written as lines', () => {
    expect(controlResponse('7', { payload: '{"a":\n1}' })).toBe(
      '{"type":"control_response","response":{"subtype":"success","request_id":7,"response":{"a": 1}}}',
    )
    expect(controlResponse('"x"', { error: 'no' })).toBe(
      '{"type":"control_response","response":{"subtype":"error","request_id":"x","error":"no"}}',
    )
    expect([controlErrorText('a'), controlErrorText({ message: 'b' }), controlErrorText(3)]).toEqual([
      'a',
      'b',
      undefined,
    ])
  })
})

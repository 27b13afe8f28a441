import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'

const BODY = { agent: 'a', prompt: 'hello', channel_id: 'qq', session_id: 's' }
const respond = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) => {
  const drive = driveFront(codec, {
    dialect: 'clawrun',
    transport: 'http',
    method: 'POST',
    path: '/v1/respond',
    headers,
  })
  drive.feed(typeof body === 'string' ? body : JSON.stringify(body))
  return drive
}
const end = (more: Partial<TurnEvent>): TurnEvent[] => [
  { type: 'turn-accepted', turn: 't1', how: 'new', session: 's1' },
  { type: 'turn-end', turn: 't1', outcome: 'failed', ...more } as TurnEvent,
]

describe('POST /v1/respond', () => {
  test('a request becomes a turn that ends before the client gives up', () => {
    const drive = respond({ ...BODY, system_prompt: 'be brief' })
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        agent: 'a',
        input: [{ type: 'text', text: 'hello' }],
        options: { totalMs: 28_000, systemPrompt: 'be brief' },
        session: { id: 's', channel: 'qq' },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'whole',
      framing: 'body',
      headers: { 'content-type': 'application/json' },
      onDisconnect: 'cancel',
      asks: 'never',
    })
    drive.play(plainTurn('  the answer\n'))
    expect(drive.sent).toEqual(['{"text":"  the answer\\n"}'])
    expect([drive.exitCode, drive.losses]).toEqual([0, []])
  })

  test('a blank or null system prompt is none; unknown members are a loss', () => {
    for (const system_prompt of ['  ', null]) {
      expect(respond({ ...BODY, system_prompt }).commands[0]).toMatchObject({ options: { totalMs: 28_000 } })
    }
    const drive = respond({ ...BODY, stream: true })
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })

  const refused: [body: unknown, headers: Record<string, string> | undefined, http: number, message: string][] = [
    ['{nope', undefined, 400, 'the body is not valid JSON'],
    ['', undefined, 400, 'the body is not valid JSON'],
    [BODY, { 'content-type': 'text/plain' }, 415, 'send content-type application/json'],
    ['[]', undefined, 422, 'the body must be a JSON object'],
    [{ ...BODY, agent: undefined }, undefined, 422, 'agent must be a string that is not blank'],
    [{ ...BODY, prompt: 3 }, undefined, 422, 'prompt must be a string that is not blank'],
    [{ ...BODY, prompt: ' ' }, undefined, 422, 'prompt must be a string that is not blank'],
    [{ ...BODY, channel_id: '' }, undefined, 422, 'channel_id must be a string that is not blank'],
    [{ ...BODY, session_id: null }, undefined, 422, 'session_id must be a string that is not blank'],
    [{ ...BODY, system_prompt: 1 }, undefined, 422, 'system_prompt must be a string'],
  ]
  test.each(refused)('%j %j is %i', (body, headers, http, message) => {
    const drive = respond(body, headers)
    expect(drive.faults).toEqual([{ fault: fault('invalid-request', message), http }])
    expect(drive.sent).toEqual([JSON.stringify({ error: message })])
    expect(drive.exitCode).toBe(0)
  })

  test.each([
    [fault('timeout', 'too slow'), 504],
    [fault('agent-unavailable', 'not there'), 502],
    [fault('internal', 'it timed out'), 502],
    [fault('provider-rate-limit', 'slow down'), 429],
    [fault('agent-not-found', 'who?'), 404],
  ])('a failed turn (%j) is %i', (failed, http) => {
    const drive = respond(BODY)
    drive.play(end({ fault: failed }))
    expect(drive.faults).toEqual([{ fault: failed, exchange: 'f1', http }])
    expect(drive.sent).toEqual([JSON.stringify({ error: failed.message.replace('timed out', 'ran out of time') })])
  })

  test('blank, cancelled and unexplained ends are errors, and a partial text is dropped', () => {
    const blank = respond(BODY)
    blank.play(plainTurn(' '))
    expect(blank.faults[0]).toMatchObject({ http: 502, fault: { code: 'internal' } })
    const cancelled = respond(BODY)
    cancelled.play(end({ outcome: 'cancelled' } as Partial<TurnEvent>))
    expect(cancelled.faults[0]).toMatchObject({ http: 499, fault: { code: 'cancelled' } })
    const partial = respond(BODY)
    partial.play([...plainTurn('half').slice(0, -1), { type: 'turn-end', turn: 't1', outcome: 'failed' }])
    expect(partial.faults[0]).toMatchObject({ http: 502 })
    expect(partial.losses).toEqual([{ kind: 'dropped', item: 'text-delta', field: 'text', why: 'policy', count: 1 }])
    const missing = respond(BODY)
    missing.play(end({}))
    expect(missing.losses).toEqual([])
  })

  test('half a surrogate pair is replaced', () => {
    const drive = respond(BODY)
    drive.play(plainTurn('a\udc00'))
    expect(drive.sent).toEqual(['{"text":"a\ufffd"}'])
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'part.text', field: 'text', why: 'too-narrow', count: 1 }])
  })
})

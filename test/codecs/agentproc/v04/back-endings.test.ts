import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replyTo } from './replies.ts'
import { error, OK, open, outcome, partial, request, result, run } from './runs.ts'

describe('endings', () => {
  test('an error fails the turn on any exit code; the first one counts, an empty one does not', () => {
    const back = run([
      partial('before'),
      error(''),
      error('first', { code: 7 }),
      error('second'),
      partial('after'),
      result('late'),
    ])
    expect(outcome(back.events)).toMatchObject({
      deltas: ['before'],
      said: undefined,
      outcome: 'failed',
      fault: { code: 'agent-crashed', message: 'first' },
      ext: { json: '{"code":7}' },
    })
    expect(back.losses.map(({ item }) => item)).toEqual(['turn-end', 'text-delta', 'message-end'])
    expect(outcome(run([error('bad')], { why: 'closed', exitCode: 3 }).events).fault?.ext?.json).toBe('{"exit_code":3}')
  })

  test('a result ends the turn at once, whatever the process does or says after it', () => {
    const back = open()
    back.start('hi')
    back.feed(partial('who'), result('whole', { session_id: 's9', usage: { input_tokens: 2 } }))
    const { events } = back
    expect(outcome(events)).toEqual({
      deltas: ['who'],
      said: 'whole',
      session: 's9',
      usage: [{ input: 2 }],
      outcome: 'completed',
      fault: undefined,
      ext: undefined,
    })
    const told = [...events]
    back.feed(partial('late'), result('second'), error('third'), request('p1'), 'bye')
    back.link.decodeEnd({ why: 'closed', exitCode: 2, stderr: 'boom' })
    expect([back.events, back.losses]).toEqual([told, []])
  })

  test('a failure waits for the exit, which says more of it, but not for ever', () => {
    const back = open()
    back.start('hi')
    back.feed(error('no'))
    expect([back.events.at(-1)?.type, back.left]).toEqual(['turn-started', [undefined]])
    back.link.decodeEnd({ why: 'closed', signal: 'SIGTERM' })
    expect(outcome(back.events)).toMatchObject({ outcome: 'failed', fault: { code: 'agent-crashed', message: 'no' } })
  })

  test('an answer that was cut off in the middle of an event is no success, whatever the exit code', () => {
    const half = '{"type":"partial","te'
    expect(outcome(run([partial('a'), half]).events)).toMatchObject({
      deltas: ['a'],
      outcome: 'failed',
      fault: {
        code: 'agent-crashed',
        message: 'The agent ended in the middle of an event; see its stderr in the gateway log.',
      },
    })
    // Before other events, or as no event at all, such a line is only malformed.
    for (const lines of [
      [half, partial('a')],
      [partial('a'), 'bye'],
      [partial('a'), '{"a":1}'],
    ]) {
      expect(outcome(run(lines).events).outcome).toBe('completed')
    }
  })

  test('lines that are all no events are no answer, whatever the exit code', () => {
    expect(outcome(run(['\u001b[32mdone\u001b[0m', '{"type":"note","text":"hi"}']).events)).toMatchObject({
      outcome: 'failed',
      fault: {
        code: 'protocol-violation',
        message:
          'The agent printed lines, and none of them is an AgentProc 0.4 event; check its `protocol` and its command.',
      },
    })
    expect(outcome(run(['words', partial('')]).events).outcome).toBe('completed')
    expect(outcome(run(['words'], { why: 'closed', exitCode: 2 }).events).fault?.code).toBe('agent-crashed')
  })

  test('what was asked to cancel is cancelled', () => {
    const back = open()
    back.start('hi')
    back.feed(partial('a'))
    back.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    back.link.decodeEnd(OK)
    expect(outcome(back.events)).toMatchObject({ outcome: 'cancelled', fault: { code: 'cancelled' } })
    const answered = open()
    answered.start('hi')
    answered.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    answered.feed(result('a'))
    expect(outcome(answered.events)).toMatchObject({ said: 'a', outcome: 'cancelled', fault: { code: 'cancelled' } })
  })

  test('an agent of wire 0.1 is told by its first line', () => {
    const back = run(['AGENT_SESSION:x', result('y')])
    expect(outcome(back.events).fault).toMatchObject({
      code: 'protocol-violation',
      message: 'The agent speaks AgentProc 0.1, its configuration says 0.4; set `protocol: agentproc` for it.',
    })
    expect(outcome(run([partial('a'), 'AGENT_ERROR:"x"']).events).outcome).toBe('completed')
  })

  test('nothing is said outside a turn', () => {
    const back = run([result('x')])
    const { length } = back.events
    back.feed(partial('late'))
    back.link.decodeEnd(OK)
    back.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    back.link.encode({ exchange: 'x', type: 'session-close' })
    back.link.encode(replyTo('a1', { kind: 'approval', option: 'allow' }))
    expect(back.events).toHaveLength(length)
  })
})

test('whatever an agent prints, its turn ends once and last', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())
  const event = fc.record(
    {
      type: fc.constantFrom('partial', 'result', 'error', 'permission_request', 'other'),
      text: value,
      message: value,
      role: value,
      session_id: value,
      usage: value,
      request_id: fc.oneof(fc.constant('p'), value),
      tool_name: value,
      input: value,
    },
    { requiredKeys: ['type'] },
  )
  const line = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    event.map((one) => JSON.stringify(one)),
  )
  fc.assert(
    fc.property(fc.array(line), fc.boolean(), fc.nat({ max: 2 }), (lines, permission, exitCode) => {
      const { events, sent } = run(lines, { why: 'closed', exitCode }, { permission })
      expect(events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
      expect(events.at(-1)?.type).toBe('turn-end')
      for (const frame of sent) expect(String(frame)).toMatch(/^[\x20-\x7e]+$/)
    }),
  )
})

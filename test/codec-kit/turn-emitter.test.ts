import { describe, expect, test } from 'vitest'
import { failedWith, TurnEmitter, UnaskedTurn } from '../../src/codec-kit/index.ts'
import type { BackPorts } from '../../src/contract/index.ts'
import { type AgentEvent, fault, type Loss } from '../../src/model/index.ts'

/** Ports that note what is emitted and reported. */
function noting() {
  const events: AgentEvent[] = []
  const losses: [Loss, string][] = []
  let ids = 0
  const ports: Partial<BackPorts> = {
    emit: (event) => void events.push(event),
    report: (loss, turn) => void losses.push([loss, turn]),
    newId: () => `m${++ids}`,
  }
  return { events, losses, ports: ports as BackPorts }
}

describe('the emitter of a turn', () => {
  test('opens a message for text, and ends it before the next', () => {
    const { events, ports } = noting()
    const out = new TurnEmitter(ports, 't')
    out.started()
    out.started()
    out.text('a')
    out.text('b', { protocol: 'p', json: '{}' })
    expect(out.message).toBe('m1')
    out.openMessage()
    out.closeMessage([{ type: 'text', text: 'c' }])
    out.closeMessage()
    expect(out.message).toBeUndefined()
    expect(events).toEqual([
      { turn: 't', type: 'turn-started' },
      { turn: 't', type: 'message-start', message: 'm1', role: 'assistant' },
      { turn: 't', type: 'text-delta', message: 'm1', text: 'a' },
      { turn: 't', type: 'text-delta', message: 'm1', text: 'b', ext: { protocol: 'p', json: '{}' } },
      { turn: 't', type: 'message-end', message: 'm1' },
      { turn: 't', type: 'message-start', message: 'm2', role: 'assistant' },
      { turn: 't', type: 'message-end', message: 'm2', parts: [{ type: 'text', text: 'c' }] },
    ])
  })

  test('gives every event the lane of its sub-agent, and a message the id that it is given', () => {
    const { events, ports } = noting()
    const out = new TurnEmitter(ports, 't', 'l')
    expect(out.openMessage(undefined, 'final', 'own')).toBe('own')
    out.text('a')
    out.wholeText('user', 'b', { protocol: 'p', json: '1' }, { protocol: 'p', json: '2' })
    out.closeMessage()
    const parts = [{ type: 'text', text: 'b' }]
    expect(events).toEqual([
      { turn: 't', lane: 'l', type: 'message-start', message: 'own', role: 'assistant', phase: 'final' },
      { turn: 't', lane: 'l', type: 'text-delta', message: 'own', text: 'a' },
      { turn: 't', lane: 'l', type: 'message-start', message: 'm1', role: 'user', ext: { protocol: 'p', json: '2' } },
      { turn: 't', lane: 'l', type: 'message-end', message: 'm1', parts, ext: { protocol: 'p', json: '1' } },
      { turn: 't', lane: 'l', type: 'message-end', message: 'own' },
    ])
  })

  test('gives notices, losses and ends to its turn', () => {
    const { events, losses, ports } = noting()
    const out = new TurnEmitter(ports, 't')
    out.notice('warning', 'code', 'text')
    out.report({ kind: 'unparsed', item: 'plan', why: 'unknown', count: 1 })
    const why = fault('internal', 'No.')
    out.emit({ type: 'turn-end', ...failedWith(why) })
    expect(events).toEqual([
      { turn: 't', type: 'notice', severity: 'warning', code: 'code', text: 'text' },
      { turn: 't', type: 'turn-end', outcome: 'failed', stop: 'error', fault: why },
    ])
    expect(losses).toEqual([[{ kind: 'unparsed', item: 'plan', why: 'unknown', count: 1 }, 't']])
  })
})

describe('a turn that nobody asked for', () => {
  test('is opened once, and tells what it said at its end', () => {
    const { events, ports } = noting()
    const unasked = new UnaskedTurn(ports, (own) => new TurnEmitter(own, ''))
    expect(unasked.decoder).toBeUndefined()
    unasked.open().text('A job ')
    unasked.open().text('is done.')
    unasked.end()
    unasked.end()
    expect(unasked.decoder).toBeUndefined()
    const notice = { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text: 'A job is done.' }
    expect(events).toEqual([notice])
  })

  test.each([false, true])('holds back the next step until its end when it has one: %s', (began) => {
    const steps: string[] = []
    const unasked = new UnaskedTurn(noting().ports, (own) => new TurnEmitter(own, ''))
    unasked.open()
    unasked.began = began
    unasked.before(() => steps.push('next'))
    expect(steps).toEqual(began ? [] : ['next'])
    unasked.end()
    unasked.end()
    expect([steps, unasked.began]).toEqual([['next'], false])
  })
})

describe('events of the emitter', () => {
  const ext = { protocol: 'p', json: '{"a":1}' }

  test.each(['commentary', 'final', 'refusal'] as const)('say the phase %s of a message', (phase) => {
    const { events, ports } = noting()
    const out = new TurnEmitter(ports, 't')
    expect(out.openMessage(ext, phase)).toBe('m1')
    out.closeMessage()
    expect(events).toEqual([
      { turn: 't', type: 'message-start', message: 'm1', role: 'assistant', phase, ext },
      { turn: 't', type: 'message-end', message: 'm1' },
    ])
  })

  test('have no member without a value', () => {
    const { events, ports } = noting()
    const out = new TurnEmitter(ports, 't')
    out.openMessage()
    out.text('a')
    out.closeMessage()
    out.notice('info', 'code', 'text')
    out.emit({ type: 'step-start', step: 1 })
    for (const event of events) {
      expect(Object.values(event)).not.toContain(undefined)
      expect(event).not.toHaveProperty('ext')
    }
  })

  test('have what they are given, with the turn and the extension', () => {
    const { events, ports } = noting()
    const out = new TurnEmitter(ports, 't')
    out.openMessage()
    out.closeMessage([{ type: 'text', text: 'a' }], ext, true)
    out.notice('error', 'code', 'text', ext)
    out.emit({ type: 'step-start', step: 1 }, ext)
    expect(events.slice(1)).toEqual([
      { turn: 't', type: 'message-end', message: 'm1', parts: [{ type: 'text', text: 'a' }], revised: true, ext },
      { turn: 't', type: 'notice', severity: 'error', code: 'code', text: 'text', ext },
      { turn: 't', type: 'step-start', step: 1, ext },
    ])
  })
})

describe('the end of a turn that nobody asked for', () => {
  test('makes a new decoder for the next one, which has what it says alone', () => {
    const { events, ports } = noting()
    let made = 0
    const unasked = new UnaskedTurn(ports, (own) => {
      made += 1
      return new TurnEmitter(own, '')
    })
    const first = unasked.open()
    expect([unasked.open(), unasked.decoder]).toEqual([first, first])
    first.text('one')
    unasked.end()
    unasked.open().text('two')
    unasked.end()
    expect([made, events.map((event) => event.type === 'notice' && event.text)]).toEqual([2, ['one', 'two']])
  })

  test('runs the step that waits after its output, and only the last one', () => {
    const { events, ports } = noting()
    const unasked = new UnaskedTurn(ports, (own) => new TurnEmitter(own, ''))
    unasked.open().text('said')
    unasked.began = true
    const steps: string[] = []
    unasked.before(() => steps.push('replaced'))
    unasked.before(() => steps.push(`next after ${events.length}`))
    unasked.end()
    expect(steps).toEqual(['next after 1'])
    // A step of a later turn does not wait for one that is over.
    unasked.before(() => steps.push('at once'))
    expect(steps).toEqual(['next after 1', 'at once'])
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Handshake } from '../../src/codec-kit/index.ts'
import type { CallEnd } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'

const CRASHED = 'The agent exited with code 3 before it had answered; see its stderr in the gateway log.'

/** A handshake, and the steps that have run. */
function handshake(recorded?: 'agent' | 'both') {
  const made = new Handshake({ ...(recorded && { recorded }) }, 'hello')
  const ran: string[] = []
  return { made, ran, wait: (step: string) => made.whenDone(() => void ran.push(step)) }
}

test('steps run in their order when it is done, and later ones at once', () => {
  const { made, ran, wait } = handshake()
  wait('a')
  wait('b')
  expect([made.done, ran]).toEqual([false, []])
  made.end()
  expect([made.done, ran]).toEqual([true, ['a', 'b']])
  wait('c')
  expect(ran).toEqual(['a', 'b', 'c'])
  made.end()
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('a step may add steps: they run at once, because it is done', () => {
  const { made, ran, wait } = handshake()
  made.whenDone(() => {
    ran.push('outer')
    wait('inner')
  })
  wait('last')
  made.end()
  expect(ran).toEqual(['outer', 'inner', 'last'])
})

test('a recorded agent needs none', () => {
  for (const recorded of ['agent', 'both'] as const) {
    const { made, ran, wait } = handshake(recorded)
    wait('a')
    expect([made.done, ran]).toEqual([true, ['a']])
  }
})

test('another process has another one, and what waits goes on waiting', () => {
  const { made, ran, wait } = handshake()
  wait('a')
  made.again()
  expect(ran).toEqual([])
  made.end()
  made.again()
  wait('b')
  expect([made.done, ran]).toEqual([false, ['a']])
  made.end()
  expect(ran).toEqual(['a', 'b'])
})

test('every step runs exactly once, in the order in which it came, whatever happens between', () => {
  const action = fc.constantFrom('wait', 'end', 'again')
  fc.assert(
    fc.property(fc.array(action), (actions) => {
      const { made, ran, wait } = handshake()
      let count = 0
      for (const what of actions) {
        if (what === 'end') made.end()
        else if (what === 'again') made.again()
        else wait(String(count++))
      }
      made.end()
      expect(ran).toEqual(Array.from({ length: count }, (_, at) => String(at)))
    }),
  )
})

test.each<[string, CallEnd, boolean, object]>([
  [
    'before it',
    { why: 'closed', exitCode: 3 },
    false,
    fault(
      'agent-unavailable',
      'The zot agent "z" ended before it answered hello: check its arguments (its stderr is in the gateway log).',
      { retryable: false },
    ),
  ],
  ['after it', { why: 'closed', exitCode: 3 }, true, fault('agent-crashed', CRASHED)],
  [
    'for a reason that is known',
    { why: 'closed', fault: fault('overloaded', 'Full.') },
    false,
    fault('overloaded', 'Full.'),
  ],
  ['at a time limit', { why: 'timeout' }, false, fault('timeout', 'The agent did not answer within its time limit.')],
])('the fault of a process that ends %s', (_, end, done, reason) => {
  const { made } = handshake()
  if (done) made.end()
  expect(made.reasonOf(end, 'zot agent "z"', 'its arguments')).toEqual(reason)
})

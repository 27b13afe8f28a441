import { describe, expect, test } from 'vitest'
import { StreamJsonProcess, type StreamJsonProgram } from '../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, CallEnd } from '../../src/contract/index.ts'
import { type Fault, fault } from '../../src/model/index.ts'

const PROGRAM: StreamJsonProgram = {
  name: 'Some',
  check: 'its login',
  pinning: ['--session', '-s'],
  flags: [{ add: ['--format', 'json'] }],
  env: { SOME: '1' },
  greeting: { hooks: 'null' },
}
const CLOSED: CallEnd = { why: 'closed', exitCode: 1 }

class SomeProcess extends StreamJsonProcess {
  readonly log: string[] = []

  protected began(resumes: boolean): void {
    this.log.push(resumes ? 'resumes' : 'begins')
  }

  protected greeted(answer: string): void {
    this.log.push(`greeted ${answer}`)
  }
}

/** A process, and what reached its ports. */
function drive({ args, recorded }: { args?: readonly string[]; recorded?: 'agent' | 'both' } = {}) {
  const calls: unknown[] = []
  const broken: Fault[] = []
  let ids = 0
  const ports: BackPorts = {
    emit() {},
    report() {},
    open: (call) => void calls.push(call),
    send: (frame) => void calls.push(JSON.parse(String(frame))),
    end: (call) => void calls.push(`end ${call}`),
    broken: (reason) => void broken.push(reason),
    newId() {
      ids += 1
      return String(ids)
    },
  }
  const context: BackContext<unknown> = {
    options: {},
    agent: 'a',
    env: {},
    folder: '/',
    process: { command: 'some', env: {}, cwd: '/', ...(args && { args }) },
    ...(recorded && { recorded }),
  }
  const made = new SomeProcess(PROGRAM, context, ports)
  const answer = (id: number, response: object): string => {
    const value = { response: { request_id: `turnpike-${id}`, ...response } }
    return made.controls.answer(value, JSON.stringify(value))
  }
  return { made, calls, broken, answer, greet: (id = 1) => answer(id, { subtype: 'success', response: { x: 1 } }) }
}

/** The start of a process, and its greeting. */
function start(id: number, args: readonly string[], call?: string): unknown[] {
  return [
    { kind: 'process', stdin: 'open', args, env: { SOME: '1' }, ...(call !== undefined && { call }) },
    { type: 'control_request', request_id: `turnpike-${id}`, request: { subtype: 'initialize', hooks: null } },
  ]
}

describe('the start', () => {
  test('has the flags of the protocol and says hello', () => {
    const { made, calls, greet } = drive({ args: ['-q'] })
    made.open()
    expect(calls).toEqual(start(1, ['-q', '--format', 'json']))
    expect(made.handshake.done).toBe(false)
    expect(greet()).toBe('read')
    expect(made.log).toEqual(['begins', 'greeted {"x":1}'])
    expect(made.handshake.done).toBe(true)
  })

  test('goes on with a session, unless the arguments name one', () => {
    const one = drive()
    one.made.open('old')
    expect(one.calls[0]).toEqual(start(1, ['--format', 'json', '--resume', 'old'])[0])
    expect(one.made.log).toEqual(['resumes'])
    const pinned = drive({ args: ['--session=mine'] })
    pinned.made.open('old')
    expect(pinned.calls[0]).toEqual(start(1, ['--session=mine', '--format', 'json'])[0])
    expect(pinned.made.log).toEqual(['begins'])
  })

  test('that the agent refuses breaks the wire, after everything that waits was told', () => {
    const { made, broken, answer } = drive()
    const reason = fault('agent-unavailable', 'The agent refused initialize: No.', { retryable: false })
    made.open()
    const seen: unknown[] = []
    made.handshake.whenDone(() => seen.push(made.dead, broken.length))
    answer(1, { subtype: 'error', error: 'No.' })
    expect(seen).toEqual([reason, 0])
    expect(broken).toEqual([reason])
    expect(made.log).toEqual(['begins'])
    expect(made.isCurrent(undefined)).toBe(false)
  })
})

describe('the session', () => {
  test.each<[string, Parameters<typeof drive>[0], string | undefined, boolean]>([
    ['none that is remembered', {}, undefined, false],
    ['the one that it resumes', {}, 'old', false],
    ['the one that it is in', {}, 'now', false],
    ['another one', {}, 'other', true],
    ['another one, but its arguments name one', { args: ['-s', 'x'] }, 'other', false],
    ['another one, in a recording', { recorded: 'agent' }, 'other', false],
  ])('of a turn is %s', (_, given, bound, elsewhere) => {
    const { made } = drive(given)
    made.open('old')
    made.session = 'now'
    expect(made.isElsewhere(bound)).toBe(elsewhere)
  })

  test('moves to another process: the first one is left, and only the second is heard', () => {
    const { made, calls, greet } = drive()
    made.open()
    greet()
    made.session = 'one'
    const seen: unknown[] = []
    made.controls.send('interrupt', {}, (reply) => seen.push(reply))
    calls.length = 0
    made.restart('two')
    expect(seen).toEqual([undefined])
    expect(calls).toEqual(['end undefined', ...start(3, ['--format', 'json', '--resume', 'two'], 'process-2')])
    expect([made.session, made.handshake.done]).toEqual([undefined, false])
    expect([made.isCurrent(undefined), made.isCurrent('process-2')]).toEqual([false, true])
    calls.length = 0
    made.restart(undefined)
    expect(calls).toEqual(['end process-2', ...start(4, ['--format', 'json'], 'process-3')])
  })

  test('that cannot be gone on with begins anew, once, and only then', () => {
    const { made, calls, greet } = drive()
    made.open('old')
    expect(made.startedAnew({ why: 'timeout' })).toBe(false)
    calls.length = 0
    expect(made.startedAnew(CLOSED)).toBe(true)
    expect(calls).toEqual(start(2, ['--format', 'json'], 'process-2'))
    expect(made.log).toEqual(['resumes', 'begins'])
    expect(made.startedAnew(CLOSED)).toBe(false)
    const late = drive()
    late.made.open('old')
    late.greet()
    expect(late.made.startedAnew(CLOSED)).toBe(false)
    expect(greet(2)).toBe('read')
  })
})

test('its end before the greeting says what to check, later it is a crash', () => {
  const { made, greet } = drive()
  made.open()
  expect(made.reasonOf(CLOSED)).toEqual(
    fault(
      'agent-unavailable',
      'The Some agent "a" ended before it answered initialize: check its login (its stderr is in the gateway log).',
      { retryable: false },
    ),
  )
  greet()
  expect(made.reasonOf(CLOSED).code).toBe('agent-crashed')
})

test('its death is told to everything that waits', () => {
  const { made } = drive()
  const reason = fault('agent-crashed', 'Gone.')
  const seen: unknown[] = []
  made.open()
  made.controls.send('set_model', {}, (reply) => seen.push(reply))
  made.handshake.whenDone(() => seen.push(made.dead))
  made.die(reason)
  expect(seen).toEqual([undefined, reason])
  expect(made.recorded).toBeUndefined()
})

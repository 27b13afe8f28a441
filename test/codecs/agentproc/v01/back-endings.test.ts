import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import { driveBack } from '../../../kit/drive.ts'
import { OK, outcome, run } from './runs.ts'

describe('endings', () => {
  const failure = (lines: string[], end: CallEnd, options = {}) => outcome(run(lines, end, options).events)

  test('a non-zero exit keeps the body as a partial answer', () => {
    expect(failure(['body'], { why: 'closed', exitCode: 3 })).toMatchObject({
      outcome: 'failed',
      texts: ['body'],
      fault: {
        code: 'agent-crashed',
        message: 'The agent failed (exit code 3); its stderr is in the gateway log.',
        ext: { protocol: 'agentproc', json: '{"exit_code":3}' },
      },
    })
  })

  test('send_error_reply: false gives the bare code', () => {
    const options = { send_error_reply: false }
    expect(failure([], { why: 'closed', exitCode: 4 }, options).fault?.message).toBe('exit code 4')
    expect(failure([], { why: 'closed', signal: 'SIGKILL' }, options).fault?.message).toBe('signal SIGKILL')
    expect(failure(['AGENT_ERROR:"why"'], { why: 'closed', exitCode: 4 }, options).fault?.message).toBe('why')
  })

  test('the error text with the own exit code', () => {
    expect(failure(['AGENT_ERROR:"bad key"'], { why: 'closed', exitCode: 3 }).fault).toEqual({
      code: 'agent-crashed',
      message: 'bad key',
      retryable: false,
      ext: { protocol: 'agentproc', json: '{"exit_code":3}' },
    })
  })

  test('an unknown exit is never a success', () => {
    expect(failure(['body'], { why: 'closed' }).fault?.message).toBe(
      'The agent failed (exit code unknown); its stderr is in the gateway log.',
    )
  })

  test('an agent that timed itself out', () => {
    expect(failure([], { why: 'closed', exitCode: 124 }).fault).toMatchObject({ code: 'timeout', retryable: true })
  })

  test('a time limit weighs more than an error', () => {
    const end: CallEnd = { why: 'timeout', exitCode: 0 }
    expect(failure(['AGENT_PARTIAL:"p"', 'late body'], end)).toMatchObject({
      texts: ['p', 'late body'],
      fault: { code: 'timeout', message: 'The agent did not answer within its time limit.' },
    })
    expect(failure(['AGENT_ERROR:"upstream"'], end).fault).toMatchObject({
      code: 'timeout',
      message: 'The agent did not answer within its time limit. Before that it reported: upstream',
    })
  })

  test('a process that never started', () => {
    const fault = { code: 'agent-unavailable' as const, message: 'No such command.', retryable: true }
    expect(failure([], { why: 'failed', fault }).fault).toEqual(fault)
  })

  test('what was asked to cancel is cancelled, however it ends', () => {
    const cancelled = { outcome: 'cancelled', fault: { code: 'cancelled', message: 'The turn was cancelled.' } }
    expect(failure(['body'], { why: 'cancelled', signal: 'SIGTERM' })).toMatchObject(cancelled)
    const back = driveBack(codec)
    back.start('hi')
    back.feed('AGENT_SESSION:kept', 'body')
    back.link.encode({ exchange: 'x2', type: 'turn-cancel', target: { turn: 't1' } })
    back.link.decodeEnd(OK)
    expect(outcome(back.events)).toMatchObject({ ...cancelled, session: 'kept', texts: ['body'] })
  })

  test('an agent of wire 0.4 is told by its first line', () => {
    const back = run(['', '{"type":"partial","text":"x"}', 'more'])
    expect(outcome(back.events)).toMatchObject({
      outcome: 'failed',
      fault: {
        code: 'protocol-violation',
        message: 'The agent speaks AgentProc 0.4, its configuration says 0.1; set `protocol: agentproc@0.4` for it.',
      },
    })
    expect(outcome(run(['AGENT_SESSION:s', '{"type":"partial","text":"x"}']).events)).toMatchObject({
      outcome: 'completed',
      texts: ['{"type":"partial","text":"x"}'],
    })
  })
})

describe('include_stderr_in_reply', () => {
  const message = (stderr: string | undefined, lines: string[] = [], options = {}) =>
    outcome(
      run(
        lines,
        { why: 'closed', exitCode: 1, ...(stderr !== undefined && { stderr }) },
        {
          include_stderr_in_reply: true,
          send_error_reply: false,
          ...options,
        },
      ).events,
    ).fault?.message

  test('appends the tail without secrets', () => {
    expect(message('boom\n')).toBe('exit code 1\n\nboom')
    expect(message(undefined)).toBe('exit code 1')
    expect(message('  ', ['AGENT_ERROR:"why"'])).toBe('why')
    expect(message('key hunter2-hunter2 x', ['AGENT_ERROR:"why"'])).toBe('why\n\nkey *** x')
    expect(message('Authorization: Bearer abc.def\nAPI_KEY="q1" password: p2 sk-abcdefghijklmnop')).toBe(
      'exit code 1\n\nAuthorization: Bearer ***\nAPI_KEY=*** password: *** ***',
    )
    expect(message('saw allowed-value', [], { env_allowlist: ['ALLOWED', 'NOPE'] })).toBe('exit code 1\n\nsaw ***')
  })

  test('is at most a thousand characters of whole lines', () => {
    expect(message(`${'x'.repeat(800)}\n${'y'.repeat(900)}`)).toBe(`exit code 1\n\n${'y'.repeat(900)}`)
  })

  test('is off by default', () => {
    expect(outcome(run([], { why: 'closed', exitCode: 1, stderr: 'boom' }).events).fault?.message).not.toContain('boom')
  })
})

describe('max_reply_chars', () => {
  const deltas = (lines: string[], options: Record<string, unknown>) => {
    const back = run(lines, OK, options)
    return [outcome(back.events).deltas, back.losses.length]
  }

  test.each([
    [['AGENT_PARTIAL:"hello "', 'AGENT_PARTIAL:"world!!"'], { max_reply_chars: 10 }, [['hello ', 'worl'], 1]],
    [['AGENT_PARTIAL:"hello"', 'AGENT_PARTIAL:"world"'], { max_reply_chars: 3 }, [['hel'], 2]],
    [['0123456789ABC', 'more'], { max_reply_chars: 10, streaming: false }, [['0123456789'], 2]],
    [['AGENT_PARTIAL:"abcd"', 'abcd'], { max_reply_chars: 3, truncation_suffix: '!' }, [['abc', '!', 'abc', '!'], 2]],
    [['AGENT_PARTIAL:"abcd"'], { truncation_suffix: '!' }, [['abcd'], 0]],
    [['123456789😀abc'], { max_reply_chars: 10 }, [['123456789😀'], 1]],
    [['12345678\ud83d9'], { max_reply_chars: 9 }, [['12345678\ud83d'], 1]],
    [['abc', 'd'], { max_reply_chars: 4 }, [['abc', '\n'], 1]],
    [['abc', 'd'], { max_reply_chars: 5 }, [['abc', '\nd'], 0]],
  ])('%j under %j', (lines, options, expected) => {
    expect(deltas(lines, options)).toEqual(expected)
  })

  test('the default cap marks the cut once, also when it was reached exactly', () => {
    const full = 'a'.repeat(8000)
    expect(deltas([`AGENT_PARTIAL:"${full}"`, 'AGENT_PARTIAL:"b"', 'AGENT_PARTIAL:"c"'], {})).toEqual([
      [full, '\n\n…(truncated)'],
      2,
    ])
    expect(deltas([`${full}b`], {})).toEqual([[full, '\n\n…(truncated)'], 1])
  })

  test('what is cut is a loss', () => {
    expect(run(['abc'], OK, { max_reply_chars: 1 }).losses).toEqual([
      { kind: 'dropped', item: 'text-delta', field: 'max_reply_chars', why: 'policy', count: 1 },
    ])
  })

  test('any text keeps its first code points', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.integer({ min: 1, max: 20 }), (texts, limit) => {
        const lines = texts.map((text) => `AGENT_PARTIAL:${JSON.stringify(text)}`)
        const { deltas: shown } = outcome(run(lines, OK, { max_reply_chars: limit }).events)
        const points = texts.flatMap((text) => [...text])
        expect(shown.join('')).toBe(points.slice(0, limit).join(''))
      }),
    )
  })
})

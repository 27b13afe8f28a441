import { describe, expect, test } from 'vitest'
import { driveBack } from '../../kit/drive.ts'
import { codec } from './kit.ts'

/** A back link that reads a recording, with its greeting on the way. */
function recordedBack(recorded: 'agent' | 'both') {
  const drive = driveBack(codec, { recorded })
  drive.link.open!()
  return drive
}

const answer = (payload: object): string =>
  JSON.stringify({
    type: 'control_response',
    response: { subtype: 'success', request_id: 'theirs', response: payload },
  })

const types = (sent: readonly unknown[]): unknown[] =>
  sent.map((line) => {
    const { type, request } = JSON.parse(String(line)) as { type: string; request?: { subtype: string } }
    return request?.subtype ?? type
  })

describe('a recording of the agent', () => {
  test('needs no greeting, and nothing is set before a turn', () => {
    const drive = recordedBack('agent')
    drive.start('hi', { options: { model: 'another', effort: 'high' }, session: { bound: 'elsewhere' } })
    expect(types(drive.sent)).toEqual(['initialize', 'user'])
  })

  test('may greet all the same', () => {
    const drive = recordedBack('both')
    drive.feed(answer({ subtype: 'initialize', session_id: 's' }))
    expect(drive.events).toMatchObject([{ type: 'agent-ready' }])
  })

  test('an answer is of the request that it names, or of the oldest', () => {
    const drive = recordedBack('both')
    drive.link.encode({ exchange: 'a', type: 'config-set', model: 'm' })
    drive.link.encode({ exchange: 'b', type: 'query', what: 'models' })
    drive.feed(answer({ subtype: 'get_available_models', models: [{ id: 'm' }] }), answer({}))
    expect(drive.events).toMatchObject([
      { type: 'command-reply', exchange: 'b', data: '{"models":[{"id":"m"}]}' },
      { type: 'command-reply', exchange: 'a' },
    ])
  })

  test('answers what only its client asked: told when that is not recorded', () => {
    const line = answer({ subtype: 'get_context_usage' })
    const alone = recordedBack('agent')
    alone.feed(line)
    expect(alone.events).toEqual([{ turn: null, type: 'foreign', protocol: 'qwen-code', frame: line }])
    const both = recordedBack('both')
    both.feed(line)
    expect([both.events, both.losses]).toEqual([[], []])
  })
})

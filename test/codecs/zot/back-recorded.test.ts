import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { response, sentLines } from './kit.ts'

/** A back link that reads a recording, with its greeting on the way. */
function recordedBack(recorded: 'agent' | 'both') {
  const drive = driveBack(codec, { recorded })
  drive.link.open!()
  return drive
}

describe('a recording of the agent', () => {
  test('needs no greeting, and its answers have ids of another client', () => {
    const drive = recordedBack('agent')
    drive.start('hi', { options: { model: 'another' } })
    expect(sentLines(drive).map(({ type }) => type)).toEqual(['hello', 'prompt'])
    drive.feed(response('theirs', 'prompt', { data: { started: true } }), '{"type":"done"}')
    expect(drive.events).toMatchObject([
      { type: 'turn-started' },
      { type: 'notice', code: 'empty-answer' },
      { type: 'turn-end', outcome: 'completed' },
    ])
  })

  test('may greet all the same', () => {
    const drive = recordedBack('both')
    drive.feed(response('theirs', 'hello', { data: { protocol_version: 1, model: 'm' } }))
    expect(drive.events).toMatchObject([{ type: 'agent-ready', model: 'm' }])
  })

  test('answers what only its client asked: told when that is not recorded', () => {
    const line = response('9', 'ping', { data: { pong: true } })
    const alone = recordedBack('agent')
    alone.feed(line)
    expect(alone.events).toEqual([{ turn: null, type: 'foreign', protocol: 'zot', frame: line }])
    const both = recordedBack('both')
    both.feed(line)
    expect([both.events, both.losses]).toEqual([[], []])
  })

  test('a response that is none is not understood', () => {
    const drive = recordedBack('agent')
    drive.start('hi')
    drive.feed('{"type":"response","id":7}')
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'command-reply', why: 'unknown', count: 1 }])
  })
})

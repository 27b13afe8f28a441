import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'
import { codec, SESSION, say, sentObjects, settled, streamClient } from './kit.ts'

describe('a message that clears the conversation', () => {
  test.each(['/clear', ' /Clear\n', '/reset', '/new'])(
    '%j is a command, and its result counts no model call',
    (text) => {
      const front = streamClient()
      front.feed(say(text), say('next'))
      expect(front.commands).toEqual([{ exchange: 'f2', session: { id: SESSION }, type: 'session-clear' }])
      settled(front)
      expect(sentObjects(front)).toMatchObject([
        { type: 'system', subtype: 'init', session_id: SESSION },
        { type: 'result', is_error: false, num_turns: 0, result: 'The conversation was cleared.' },
      ])
      expect(front.commands[1]).toMatchObject({ type: 'turn-start', input: [{ type: 'text', text: 'next' }] })
    },
  )

  test.each([
    '/clear all',
    '/cleared',
    'please /clear',
    [
      { type: 'text', text: '/clear' },
      { type: 'text', text: 'x' },
    ],
  ])('%j is none', (content) => {
    const front = streamClient()
    front.feed(say(content))
    expect(front.commands).toMatchObject([{ type: 'turn-start' }])
  })

  test('is refused where it is not cleared', () => {
    const front = streamClient()
    front.feed(say('/clear'))
    settled(front, fault('session-busy', 'A turn runs.'))
    expect(sentObjects(front).at(-1)).toMatchObject({
      type: 'result',
      is_error: true,
      error: { message: 'A turn runs.' },
    })
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f2' })
    expect(sentObjects(front)).toHaveLength(1)
  })

  test.each([
    [['-p', '/clear'], 'The conversation was cleared.'],
    [
      ['-p', '/clear', '-o', 'json'],
      expect.stringMatching(/^\[\{"type":"system".*"result":"The conversation was cleared\.".*\}\]$/),
    ],
  ])('of a program for one prompt is answered in its form: %j', (argv, sent) => {
    const front = driveFront(codec, { argv })
    front.link.decodeEnd!('eof')
    settled(front)
    expect([front.sent, front.exitCode]).toEqual([[sent], 0])
  })
})

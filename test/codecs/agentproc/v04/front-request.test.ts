import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { driveFront, plainTurn } from '../../../kit/drive.ts'
import { given } from './fronts.ts'

describe('the turn object', () => {
  test('all members', () => {
    const front = given({
      message: 'look',
      session_id: 'a=002fb',
      session_name: 'Chat',
      protocol_version: '0.4',
      permission: true,
      from_user: 'mira',
      attachments: [
        { kind: 'image', url: 'u1', filename: 'n', mime_type: 'image/png', size: 3 },
        { kind: 'video', url: 'u2' },
        { kind: 'video', url: 'u3', mime_type: 'video/mp4' },
        { kind: 'other', url: 'u4', mime_type: 'x/y', extra: 1 },
        { kind: 'file' },
      ],
    })
    expect(front.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        input: [
          { type: 'text', text: 'look' },
          { type: 'image', url: 'u1', name: 'n', mime: 'image/png', bytes: 3 },
          { type: 'file', url: 'u2', mime: 'video/*' },
          { type: 'file', url: 'u3', mime: 'video/mp4' },
          { type: 'file', url: 'u4', mime: 'x/y' },
        ],
        options: {},
        session: { id: 'a/b', name: 'Chat' },
        ext: { protocol: 'agentproc@0.4', json: '{"from_user":"mira"}' },
      },
    ])
    expect(front.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
      onDisconnect: 'cancel',
      asks: 'inline',
    })
    expect(front.losses.map(({ kind, item, field }) => [kind, item, field])).toEqual([
      ['dropped', 'ext', 'extra'],
      ['weakened', 'part.file', 'kind'],
      ['unparsed', 'part.file', 'attachments'],
    ])
  })

  test('the least', () => {
    const front = given('\ufeff {"type":"turn","message":"hi","attachments":[],"session_id":""} ')
    expect(front.commands).toMatchObject([{ input: [{ type: 'text', text: 'hi' }], session: {} }])
    expect(front.commands[0]).not.toHaveProperty('ext')
    expect(front.answers.get('f1')?.asks).toBe('never')
  })

  test.each([
    ['words', 'The first line is no turn; write one {"type":"turn",…} line.'],
    ['{"type":"run"}', 'The first line is no turn; write one {"type":"turn",…} line.'],
    ['{"type":"turn"}', 'turn.message is required, or turn.attachments; send one of them.'],
    [
      '{"type":"turn","message":7,"attachments":{}}',
      'turn.message is required, or turn.attachments; send one of them.',
    ],
  ])('%s is an error', (line, message) => {
    const front = given(line)
    front.link.decodeEnd?.('eof')
    expect(front.commands).toEqual([])
    expect(front.sent.map((frame) => JSON.parse(String(frame)))).toEqual([{ type: 'error', message }])
    expect(front.exitCode).toBe(1)
  })

  test('an error has the session id', () => {
    expect(given({ session_id: 's' }).sent).toEqual([
      '{"type":"error","message":"turn.message is required, or turn.attachments; send one of them.","session_id":"s"}',
    ])
  })

  test('no turn at all is an error, whatever dialect was asked first', () => {
    const { accepts } = codec.dialects['0.4']!.front!
    const context = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} } as const
    const lines = [undefined, 'x', '{"type":"result"}', '\ufeff {"type":"turn"} ']
    expect(lines.map((first) => accepts?.(first, context))).toEqual([false, false, false, true])
    for (const dialect of ['0.1', '0.4']) {
      const front = driveFront(codec, { dialect })
      front.link.decodeEnd?.('eof')
      expect(front.sent[0]).toContain('"message":"There is no turn on stdin;')
      expect(front.exitCode).toBe(1)
    }
  })

  test('over HTTP nobody can be asked, and the type must be JSON', () => {
    const front = driveFront(codec, { dialect: '0.4', transport: 'http' })
    front.feed('{"type":"turn","message":"hi","permission":true}')
    expect(front.answers.get('f1')?.asks).toBe('never')
    front.play(plainTurn('hello'))
    expect(front.sent.at(-1)).toBe(
      '{"type":"result","text":"hello","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}',
    )
    const wrong = driveFront(codec, { dialect: '0.4', transport: 'http', headers: { 'content-type': 'text/plain' } })
    wrong.feed('{"type":"turn","message":"hi"}')
    expect(wrong.faults).toMatchObject([{ fault: { code: 'invalid-request' }, http: 415 }])
    expect(wrong.sent[0]).toContain('"type":"error"')
  })
})

test('whatever a runner writes, there is one turn or one error', () => {
  const member = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())
  const object = fc.record(
    {
      type: fc.constant('turn'),
      message: member,
      session_id: member,
      attachments: member,
      permission: member,
      x: member,
    },
    { requiredKeys: ['type'] },
  )
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    object.map((one) => JSON.stringify(one)),
  )
  fc.assert(
    fc.property(line, fc.array(line), (first, more) => {
      const front = given(first)
      front.feed(...more)
      front.link.decodeEnd?.('eof')
      expect(front.commands.length + front.faults.length).toBe(1)
    }),
  )
})

import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import { type BackDrive, driveBack } from '../../../kit/drive.ts'
import { codes, outcome } from '../v04/runs.ts'

const OK: CallEnd = { why: 'closed', exitCode: 0 }
const json = (value: unknown): string => JSON.stringify(value)
const partial = (text: unknown, more: object = {}): string => json({ type: 'partial', text, ...more })
const text = (said: unknown, more: object = {}): string => json({ type: 'text', text: said, ...more })
const session = (id: unknown, more: object = {}): string => json({ type: 'session', id, ...more })
const error = (message: unknown, more: object = {}): string => json({ type: 'error', message, ...more })

function open(options: Record<string, unknown> = {}): BackDrive {
  return driveBack(codec, { dialect: '0.3', options, process: { command: 'my agent', env: {}, cwd: '/work' } })
}

/** A turn from its stdout and the end of its process. */
function run(lines: readonly string[], end: CallEnd = OK, options: Record<string, unknown> = {}): BackDrive {
  const back = open(options)
  back.start('hello')
  back.feed(...lines)
  back.link.decodeEnd(end)
  return back
}

/** The messages of a turn: their deltas, and their whole text where it was said. */
function messages({ events }: BackDrive): [deltas: string, whole: string | undefined, revised?: true][] {
  const found = new Map<string, [string, string | undefined, true?]>()
  for (const event of events) {
    if (event.type === 'message-start') found.set(event.message, ['', undefined])
    else if (event.type === 'text-delta') found.get(event.message)![0] += event.text
    else if (event.type === 'message-end') {
      const [part] = event.parts ?? []
      if (part?.type === 'text') found.get(event.message)![1] = part.text
      if (event.revised) found.get(event.message)!.push(true)
    }
  }
  return [...found.values()]
}

describe('the turn', () => {
  test('names its version and its sender', () => {
    const back = open({ permission: true })
    back.start('grüß', { session: { bound: 's1', name: 'Chat' } })
    expect(back.sent).toEqual([
      '{"type":"turn","message":"gr\\u00fc\\u00df","session_id":"s1","session_name":"Chat","from_user":"","protocol_version":"0.3","permission":true}',
    ])
  })

  test.each([
    [{ protocol: 'agentproc', json: '{"AGENT_FROM_USER":"mira"}' }, '"from_user":"mira"', ''],
    [{ protocol: 'agentproc@0.4', json: '{"from_user":"mira","tier":1.0}' }, '"from_user":"mira"', '"tier":1.0}'],
    [{ protocol: 'agentproc@0.4', json: '{"tier":1.0}' }, '"from_user":""', '"tier":1.0}'],
  ])('the sender of %j', (ext, sender, end) => {
    const back = open()
    back.start('hi', { ext })
    expect(back.sent[0]).toContain(sender)
    expect(String(back.sent[0]).endsWith(end)).toBe(true)
    expect(String(back.sent[0]).split('from_user')).toHaveLength(2)
    expect(back.losses).toEqual([])
  })
})

describe('the answer', () => {
  test.each<[string, string[], [string, string | undefined, true?][]]>([
    ['text events are one body', [text('a'), text('b'), text('c')], [['', 'abc']]],
    ['partials alone', [partial('a '), partial('b')], [['a b', undefined]]],
    ['the whole reply again', [partial('a '), partial('b'), text('a b')], [['a b', 'a b']]],
    ['the last partial again', [partial('a '), partial('b'), text('b')], [['a b', 'a b']]],
    ['the whole reply, without the space at its end', [partial('a b\n'), text('a b')], [['a b\n', 'a b\n']]],
    ['more than the partials', [partial('b'), text('a b')], [['b', 'a b', true]]],
    [
      'something else than the partials',
      [partial('chunk'), text('done')],
      [
        ['chunk', undefined],
        ['', 'done'],
      ],
    ],
    ['thinking and a body', [partial('hm', { role: 'thinking' }), text('a')], [['', 'a']]],
    ['nothing', [text('')], []],
    ['no text that is a string', [text(7), partial({})], []],
  ])('%s', (_, lines, wanted) => {
    const back = run(lines)
    expect(messages(back)).toEqual(wanted)
    expect(outcome(back.events).outcome).toBe('completed')
    expect(back.losses).toEqual([])
  })

  test('an empty one is a success that says so', () => {
    expect(codes(run([]).events)).toEqual(['empty-answer'])
    expect(codes(run([partial(' '), text('a')]).events)).toEqual([])
  })

  test('the last valid session id counts', () => {
    const lines = [session('first'), session('a/b'), session(7), text('x'), session('second', { extra: 1 })]
    const back = run(lines)
    expect(outcome(back.events).session).toBe('second')
    expect(codes(back.events)).toEqual(['invalid-session-id', 'invalid-session-id'])
    expect(back.losses).toMatchObject([{ kind: 'dropped', item: 'ext', field: 'session' }])
  })

  test('unknown members of the body travel', () => {
    expect(outcome(run([text('a', { cost: 1.5 }), text('b')]).events).ext).toEqual({
      protocol: 'agentproc@0.4',
      json: '{"cost":1.5}',
    })
  })

  test('caps: partials and body are counted on their own', () => {
    const lines = [partial('abcdef'), partial('g'), text('0123456789'), text('x')]
    const back = run(lines, OK, { max_reply_chars: 4, truncation_suffix: '…' })
    expect(messages(back)).toEqual([
      ['abcd…', undefined],
      ['', '0123…'],
    ])
    expect(back.losses.map(({ item, field }) => [item, field])).toEqual([
      ['text-delta', 'max_reply_chars'],
      ['text-delta', 'max_reply_chars'],
      ['message-end', 'max_reply_chars'],
      ['message-end', 'max_reply_chars'],
    ])
    expect(messages(run([partial('x'.repeat(9000), { role: 'thinking' })]))).toEqual([['', undefined]])
  })

  test('without streaming the body is the reply', () => {
    const back = run([partial('a'), text('b')], OK, { streaming: false })
    expect(messages(back)).toEqual([['', 'b']])
    expect(back.losses).toMatchObject([{ item: 'text-delta', field: 'partial' }])
  })
})

describe('failures', () => {
  test('an error takes the body away and leaves the partials; the last one counts; ids still do', () => {
    const lines = [
      text('body'),
      partial('a'),
      error(''),
      error('one'),
      partial('b'),
      text('c'),
      error('two', { at: 1 }),
    ]
    const back = run([...lines, session('s')], { why: 'closed', exitCode: 3 })
    expect(messages(back)).toEqual([['a', undefined]])
    expect(outcome(back.events)).toMatchObject({
      outcome: 'failed',
      session: 's',
      fault: { code: 'agent-crashed', message: 'two' },
      ext: { json: '{"at":1}' },
    })
    expect(back.losses.map(({ item, field }) => [item, field])).toEqual([
      ['text-delta', 'partial'],
      ['message-end', 'text'],
      ['turn-end', 'error'],
      ['message-end', 'text'],
    ])
  })

  test('an error before anything else', () => {
    const back = run([error('bad', { usage: { input_tokens: 1 } })])
    expect(outcome(back.events)).toMatchObject({ outcome: 'failed', fault: { message: 'bad' } })
    expect(back.losses).toMatchObject([{ kind: 'dropped', item: 'usage', field: 'usage' }])
  })

  test('a process that fails keeps its body as a partial answer', () => {
    const back = run([text('half')], { why: 'closed', exitCode: 2 })
    expect(messages(back)).toEqual([['', 'half']])
    expect(outcome(back.events)).toMatchObject({ outcome: 'failed' })
  })

  test('an event that is cut off', () => {
    expect(outcome(run([partial('a'), '{"type":"text","te']).events)).toMatchObject({ outcome: 'failed' })
  })

  test('lines that are no events, and those of other wires', () => {
    const words = run(['hello', 'words', text('ok')])
    expect(codes(words.events)).toEqual(['malformed-line'])
    expect(messages(words)).toEqual([['', 'ok']])
    expect(outcome(run(['hello']).events).fault?.message).toBe(
      'The agent printed lines, and none of them is an AgentProc 0.3 event; check its `protocol` and its command.',
    )
    const newer = run(['hello', '{"type":"result","text":"x"}', '{"type":"result","text":"y"}'])
    expect(codes(newer.events)).toEqual(['malformed-line', 'other-wire'])
    expect(outcome(newer.events).fault).toMatchObject({
      code: 'protocol-violation',
      message: 'The agent speaks AgentProc 0.4, its configuration says 0.3; set `protocol: agentproc@0.4` for it.',
    })
    expect(outcome(run(['AGENT_PARTIAL:"x"']).events).fault?.message).toContain('set `protocol: agentproc` for it')
  })
})

test('questions are asked and answered as in 0.4', () => {
  const back = open({ permission: true })
  back.start('hi')
  back.feed(json({ type: 'permission_request', request_id: '1', tool_name: 'Bash', input: {} }))
  back.link.encode({
    exchange: 'x',
    type: 'ask-reply',
    target: 'running',
    ask: '1',
    reply: { kind: 'approval', option: 'allow' },
  })
  expect(back.sent[1]).toBe('{"type":"permission_response","request_id":"1","behavior":"allow"}')
})

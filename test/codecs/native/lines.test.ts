import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/native/index.ts'
import { fault, type TurnView } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'
import { json } from './arbitrary.ts'
import { linesOf, lossyFront } from './kit.ts'

const PROMPT = '{"type":"turn-start","input":"hi"}'

describe('a client on lines', () => {
  test('is told first that we are ready', () => {
    expect(linesOf(driveFront(codec))).toEqual([{ type: 'agent-ready', turn: null }])
  })

  test('starts a turn with as little as a prompt', () => {
    const drive = driveFront(codec)
    drive.feed(PROMPT)
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        input: [{ type: 'text', text: 'hi' }],
        options: {},
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'inline',
    })
  })

  test('follows a turn by its own name of it, or by another', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"turn-start","turn":"mine","input":"hi"}')
    for (const after of ['mine', 'other']) drive.feed(`{"type":"turn-start","input":"on","after":"${after}"}`)
    expect(drive.commands.map((command) => command.type === 'turn-start' && command.after)).toEqual([
      undefined,
      'f2',
      'other',
    ])
  })

  test.each(['', '0', '__proto__', 'running'])('means the turn that it calls %j only where it says so', (name) => {
    const drive = driveFront(codec)
    const said = JSON.stringify(name)
    drive.feed(`{"type":"turn-start","turn":${said},"input":"hi"}`)
    drive.feed(PROMPT)
    drive.feed('{"type":"turn-cancel"}')
    drive.feed(`{"type":"turn-start","input":"on","after":${said}}`)
    drive.feed(`{"type":"turn-cancel","target":{"turn":${said}}}`)
    drive.feed(`{"type":"query","what":"turn","args":{"turn":${said}}}`)
    const meant = drive.commands.map((command) => {
      if ('target' in command) return command.target
      return command.type === 'query' ? command.args : command.type === 'turn-start' && command.after
    })
    expect(meant).toEqual([undefined, undefined, 'running', 'f2', { turn: 'f2' }, '{"turn":"f2"}'])
  })

  test('reads every event with its number, and what was lost with the end', () => {
    const drive = driveFront(codec)
    drive.feed(PROMPT)
    drive.play(plainTurn('yes', 'f2'))
    expect(linesOf(drive).slice(1)).toEqual([
      { type: 'turn-accepted', turn: 'f2', seq: 1, how: 'new', session: 's1' },
      { type: 'turn-started', turn: 'f2', seq: 2 },
      { type: 'message-start', turn: 'f2', seq: 3, message: 'm1', role: 'assistant' },
      { type: 'text-delta', turn: 'f2', seq: 4, message: 'm1', text: 'yes' },
      { type: 'message-end', turn: 'f2', seq: 5, message: 'm1' },
      { type: 'usage', turn: 'f2', seq: 6, scope: 'turn', usage: { input: 3, output: 4, total: 7 } },
      { type: 'turn-end', turn: 'f2', seq: 7, outcome: 'completed', stop: 'end' },
    ])
  })

  test('that follows all turns is answered again and again under its own name', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"query","exchange":"e1","what":"turns","args":{"follow":true}}')
    const reply = { turn: null, type: 'command-reply', exchange: 'f1', data: '{"turns":[]}' } as const
    for (const answer of [{ ...reply, more: true } as const, { ...reply, more: true } as const, reply]) {
      drive.link.encodeLink!(answer)
    }
    const line = { type: 'command-reply', turn: null, exchange: 'e1', data: { turns: [] } }
    expect(linesOf(drive).slice(1)).toEqual([{ ...line, more: true }, { ...line, more: true }, line])
  })

  test('reads the losses of the turn with its end, or with the fault in its place', () => {
    const lost = { kind: 'dropped', item: 'plan', why: 'no-place', count: 2 } as const
    const { link, sent } = lossyFront('lines', [lost])
    link.encode({ turn: 't1', type: 'turn-end', outcome: 'completed' }, 'x1', { seq: 3 } as TurnView)
    link.encodeFault(fault('timeout', 'Late.'), 'x1', 'continues')
    expect(linesOf({ sent })).toEqual([
      { type: 'turn-end', turn: 't1', seq: 3, outcome: 'completed', losses: [lost] },
      { type: 'fault', exchange: 'x1', fault: { code: 'timeout', message: 'Late.', retryable: true }, losses: [lost] },
    ])
  })

  test('gives names of its own to exchange and turn, and is told them back', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"turn-start","exchange":"e1","turn":"mine","input":"hi"}')
    expect(drive.commands[0]).toMatchObject({ exchange: 'f1', turn: 'f2' })
    drive.play(plainTurn('yes', 'f2').slice(0, 2))
    drive.feed('{"type":"turn-cancel","exchange":"e2","target":{"turn":"mine"}}')
    expect(drive.commands[1]).toEqual({ exchange: 'f3', type: 'turn-cancel', target: { turn: 'f2' } })
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f3' })
    drive.play([{ turn: 'f2', type: 'turn-end', outcome: 'cancelled' }], 'f1')
    expect(linesOf(drive).slice(1)).toEqual([
      { type: 'turn-accepted', turn: 'mine', seq: 1, how: 'new', session: 's1', exchange: 'e1' },
      { type: 'turn-started', turn: 'mine', seq: 2 },
      { type: 'command-reply', turn: null, exchange: 'e2' },
      { type: 'turn-end', turn: 'mine', seq: 3, outcome: 'cancelled' },
    ])
  })

  test('its names of turns are good for as long as the wire, also when the turns have ended', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"turn-start","turn":"mine","input":"hi"}')
    drive.play(plainTurn('yes', 'f2'), 'f1')
    const shown = drive.sent.length
    drive.feed('{"type":"turn-follow","exchange":"e2","target":{"turn":"mine"}}')
    expect(drive.commands[1]).toEqual({ exchange: 'f3', type: 'turn-follow', target: { turn: 'f2' } })
    drive.play([{ turn: 'f2', type: 'turn-started' }], 'f3')
    expect(linesOf(drive).slice(shown)).toMatchObject([{ type: 'turn-started', turn: 'mine' }])
    drive.feed('{"type":"query","what":"turn","args":{"turn":"mine"}}')
    expect(drive.commands[2]).toMatchObject({ type: 'query', what: 'turn', args: '{"turn":"f2"}' })
    for (const args of ['{"turn":"f9"}', '{"turn":1}', '[]']) {
      drive.feed(`{"type":"query","what":"turn","args":${args}}`)
      expect(drive.commands.at(-1)).toMatchObject({ args })
    }
    drive.feed('{"type":"query","what":"turn"}')
    expect(drive.commands.at(-1)).not.toHaveProperty('args')
  })

  test('of its names the last thousand are known, each by its newest turn', () => {
    const drive = driveFront(codec)
    const cancelled = (turn: string): unknown => {
      drive.feed(`{"type":"turn-cancel","target":{"turn":"${turn}"}}`)
      return drive.commands.at(-1)
    }
    for (let n = 0; n <= 1000; n += 1) drive.feed(`{"type":"turn-start","turn":"t${n}","input":"hi"}`)
    drive.feed('{"type":"turn-start","turn":"t1","input":"hi"}')
    expect(cancelled('t0')).toMatchObject({ target: { turn: 't0' } })
    expect(cancelled('t1')).toMatchObject({ target: { turn: 'f2004' } })
    expect(cancelled('t2')).toMatchObject({ target: { turn: 'f6' } })
  })

  test.each([
    ['{"type":"turn-cancel"}', { type: 'turn-cancel', target: 'running' }],
    ['{"type":"turn-follow","target":{"turn":"t9"}}', { type: 'turn-follow', target: { turn: 't9' } }],
    [
      '{"type":"turn-steer","target":{"request":"r"},"input":"left"}',
      { type: 'turn-steer', target: { request: 'r' }, input: [{ type: 'text', text: 'left' }] },
    ],
    [
      '{"type":"ask-reply","ask":"a","reply":{"kind":"input","values":{"n":1.0}}}',
      { type: 'ask-reply', target: 'running', ask: 'a', reply: { kind: 'input', values: '{"n":1.0}' } },
    ],
    ['{"type":"query","what":"state","session":{"id":"s"}}', { type: 'query', what: 'state', session: { id: 's' } }],
    ['{"type":"config-set","model":"m"}', { type: 'config-set', model: 'm' }],
    ['{"type":"session-clear","session":{"id":"s"}}', { type: 'session-clear', session: { id: 's' } }],
    [
      '{"type":"turn-start","task":"compact"}',
      { type: 'turn-start', turn: 'f2', task: 'compact', input: [], options: {} },
    ],
    [
      '{"type":"turn-start","invocation":{"kind":"slash","path":["go"],"args":""}}',
      {
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        input: [],
        options: {},
        invocation: { kind: 'slash', path: ['go'], args: '' },
      },
    ],
    [
      '{"type":"query","what":"turn","args":{"turn":"t"},"why":1}',
      { type: 'query', what: 'turn', args: '{"turn":"t"}', ext: { protocol: 'native', json: '{"why":1}' } },
    ],
  ])('says %s', (line, command) => {
    const drive = driveFront(codec)
    drive.feed(line)
    expect(drive.commands).toEqual([{ exchange: 'f1', ...command }])
    expect(drive.faults).toEqual([])
  })

  test('cannot say what the agent calls the session', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"turn-start","input":"hi","session":{"id":"s","bound":"of another"}}')
    expect(drive.commands).toMatchObject([{ session: { id: 's' } }])
    expect(drive.commands[0]!.session).not.toHaveProperty('bound')
  })

  test.each([
    ['hello', 'the line is not a JSON object'],
    ['{}', 'type is missing'],
    ['{"type":7}', expect.stringMatching(/^type must be one of: turn-start, turn-cancel, /)],
    ['{"type":"constructor"}', expect.stringMatching(/^type must be one of: /)],
    ['{"type":"turn-start","turn":7,"input":""}', 'turn must be a string'],
    ['{"type":"turn-cancel","exchange":7}', 'exchange must be a string'],
    ['{"type":"turn-start"}', 'input is missing'],
    ['{"type":"turn-start","input":7}', 'input must be a string or an array of parts'],
    ['{"type":"turn-start","input":[{"type":"text"}]}', 'input.0.text is missing'],
    ['{"type":"turn-start","input":"x","options":{"model":7}}', 'options.model must be a string'],
    [
      '{"type":"turn-follow","target":"all"}',
      'target must be "running", or an object with turn, request or continuation',
    ],
    ['{"type":"ask-reply","reply":{"kind":"approval"}}', 'reply.option is missing'],
    ['{"type":"query"}', 'what is missing'],
  ])('is told what is wrong with %s', (line, problem) => {
    const drive = driveFront(codec)
    drive.feed(line, PROMPT)
    expect(drive.commands).toHaveLength(1)
    const { fault: found } = linesOf(drive)[1] as { fault: { code: string; message: string } }
    expect(found.code).toBe('invalid-request')
    expect(found.message.replace(/^The command cannot be read: (.*)\.$/, '$1')).toEqual(problem)
    expect(linesOf(drive)[1]).not.toHaveProperty('exchange')
  })

  test('is told under its own name that a command was refused', () => {
    const drive = driveFront(codec)
    drive.feed('{"type":"query","exchange":"e1"}', '{"exchange":"e2"}', '{"type":"x","exchange":"e3"}')
    expect(linesOf(drive).slice(1)).toMatchObject([{ exchange: 'e1' }, { exchange: 'e2' }, { exchange: 'e3' }])
    drive.feed('{"type":"turn-start","input":"x"}', '{"type":"turn-start","input":"x","exchange":"e4"}')
    drive.link.encodeFault(fault('session-busy', 'Busy.'), 'f1', 'continues')
    drive.link.encodeFault(fault('session-busy', 'Busy.'), 'f3', 'continues')
    expect(linesOf(drive).slice(4)).toEqual([
      { type: 'fault', exchange: 'f1', fault: { code: 'session-busy', message: 'Busy.', retryable: true } },
      { type: 'fault', exchange: 'e4', fault: { code: 'session-busy', message: 'Busy.', retryable: true } },
    ])
  })

  test('is told that nothing more of its input can be read', () => {
    const drive = driveFront(codec)
    drive.link.encodeFault(fault('payload-too-large', 'Too long.'), undefined, 'ends')
    const found = { code: 'payload-too-large', message: 'Too long.', retryable: false, fatal: true }
    expect(linesOf(drive).slice(1)).toEqual([{ type: 'fault', fault: found }])
  })

  test('is told what happens beside its turns', () => {
    const drive = driveFront(codec)
    drive.link.encodeLink!({ turn: null, type: 'session-changed', json: '{"model":"m"}' })
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'other', data: '[1]' })
    expect(linesOf(drive).slice(1)).toEqual([
      { type: 'session-changed', turn: null, json: { model: 'm' } },
      { type: 'command-reply', turn: null, exchange: 'other', data: [1] },
    ])
  })

  test.each(['messages', 'session', 'turn'])('reads the arguments in the answer to %s as JSON', (what) => {
    const drive = driveFront(codec)
    drive.feed(`{"type":"query","exchange":"e1","what":"${what}"}`, '{"type":"query","exchange":"e2","what":"state"}')
    const data = '{"messages":[{"parts":[{"type":"tool-call","args":"{\\"n\\":1e400}"}]}]}'
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', data })
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f2', data })
    expect(drive.sent.slice(1)).toEqual([
      '{"type":"command-reply","turn":null,"exchange":"e1","data":{"messages":[{"parts":[{"type":"tool-call","args":{"n":1e400}}]}]}}',
      `{"type":"command-reply","turn":null,"exchange":"e2","data":${data}}`,
    ])
  })

  test('may write anything', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), json)), (said) => {
        const drive = driveFront(codec)
        drive.feed(...said)
        expect(drive.faults.length + drive.commands.length).toBe(said.length)
      }),
    )
  })
})

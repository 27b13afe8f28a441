import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventJson } from '../../../codecs/native/index.ts'
import { commandLine, eventLine } from '../../../codecs/native/lines.ts'
import { readCommand, readLine } from '../../../codecs/native/read.ts'
import { frameDecoder } from '../../../src/framing/index.ts'
import type { AgentEvent, Command } from '../../../src/model/index.ts'
import { command, event, json, loss } from './arbitrary.ts'

function reread(line: string): AgentEvent {
  const read = readLine(line)
  if (read.is !== 'event') throw new Error(`${JSON.stringify(read)} of ${line}`)
  return read.event
}

function recommand(line: string): Command {
  const read = readCommand(line, JSON.parse(line))
  if ('wrong' in read) throw new Error(`${read.wrong} of ${line}`)
  return read.command(read.exchange!, read.turn ?? '')
}

describe('what is written is read again', () => {
  test('every event', () => {
    fc.assert(
      fc.property(event, fc.option(fc.nat(), { nil: undefined }), (said, seq) => {
        const line = eventJson(said, seq)
        expect(line).not.toMatch(/[\n\r\u2028\u2029\u0085]/)
        expect((JSON.parse(line) as { seq?: number }).seq).toBe(seq)
        expect(reread(line)).toEqual(said)
      }),
      { numRuns: 1000 },
    )
  })

  test('every command', () => {
    fc.assert(
      fc.property(command, (said) => {
        expect(recommand(commandLine(said))).toEqual(said)
      }),
      { numRuns: 1000 },
    )
  })

  test('the losses of a turn, beside its end', () => {
    fc.assert(
      fc.property(fc.array(loss, { minLength: 1, maxLength: 3 }), (losses) => {
        const end = { turn: 't', type: 'turn-end', outcome: 'completed' } as const
        expect(readLine(eventLine(end, { seq: 3, losses }))).toEqual({ is: 'event', event: end, losses })
      }),
    )
  })

  test('in any chunks of the bytes', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), fc.array(fc.nat(40)), (said, cuts) => {
        const wire = said.map((one) => `${eventJson(one)}\n`).join('')
        const heard: AgentEvent[] = []
        const decoder = frameDecoder('ndjson', 1e9, {
          frame: (frame) => heard.push(reread(String(frame))),
          fault: (broken) => {
            throw new Error(broken.message)
          },
        })
        let at = 0
        for (const cut of cuts) {
          decoder.push(wire.slice(at, at + cut))
          at += cut
        }
        decoder.push(wire.slice(at))
        decoder.end()
        expect(heard).toEqual(said)
      }),
    )
  })
})

describe('JSON of others', () => {
  const call = (args: string): AgentEvent => ({
    turn: 't',
    type: 'tool-call',
    tool: 'c',
    name: 'run',
    args,
    executor: 'agent',
  })

  test('is JSON on the wire, digit for digit', () => {
    expect(eventJson(call('{"a":1e400,"a":2.0}'), 7)).toBe(
      '{"type":"tool-call","turn":"t","seq":7,"tool":"c","name":"run","args":{"a":1e400,"a":2.0},"executor":"agent"}',
    )
  })

  test('is one line, whatever it was', () => {
    expect(eventJson(call(' {\r\n"a": "\u2028"}\n'))).toContain('"args":{  "a": "\\u2028"}')
  })

  test('is a string when it is no JSON', () => {
    expect(reread(eventJson(call('{"broken":')))).toEqual(call('"{\\"broken\\":"'))
  })

  test('is not looked for where the model has strings of these names', () => {
    const said = {
      exchange: 'x',
      type: 'turn-start',
      turn: 't',
      task: 'prompt',
      input: [{ type: 'reasoning', text: '', seal: { provider: 'p', data: '{}' } }],
      options: {},
      invocation: { kind: 'slash', path: ['go'], args: '{}' },
    } as const
    expect(commandLine(said)).toContain('"seal":{"provider":"p","data":"{}"}')
    expect(commandLine(said)).toContain('"args":"{}"')
    expect(recommand(commandLine(said))).toEqual(said)
  })
})

describe('unknown fields', () => {
  const roundTrip = (line: string): string => eventJson(reread(line))

  test('of an event and of what it holds come out again, at their place', () => {
    const line =
      '{"type":"usage","turn":"t","scope":"turn","usage":{"input":1,"audio":2e400},"at":1.0,"ext":{"protocol":"zot","json":{"x":1}}}'
    expect(reread(line).ext).toEqual({
      protocol: 'native',
      json: '{"usage":{"input":1,"audio":2e400},"at":1.0,"ext":{"protocol":"zot","json":{"x":1}}}',
    })
    expect(JSON.parse(roundTrip(line))).toEqual(JSON.parse(line))
    expect(roundTrip(line)).toContain('"audio":2e400')
  })

  test('of parts too, but never within what is JSON of others', () => {
    const line =
      '{"type":"message-end","turn":"t","message":"m","parts":[{"type":"data","json":{"a":1,"a":2},"unit":"m"},{"type":"text","text":"x"}]}'
    expect(roundTrip(line)).toBe(line)
  })

  test('do not say what the message itself says', () => {
    const said = {
      turn: 't',
      type: 'message-end',
      message: 'm',
      parts: [{ type: 'text', text: 'x' }],
      ext: { protocol: 'native', json: '{"type":"turn-end","turn":"u","seq":9,"message":"n","parts":[],"more":1}' },
    } as const
    expect(eventJson(said, 1)).toBe(
      '{"type":"message-end","turn":"t","seq":1,"message":"m","parts":[{"type":"text","text":"x"}],"more":1}',
    )
    const twisted = { ...said, ext: { protocol: 'native', json: '{"parts":{"0":{}}}' } }
    expect(eventJson(twisted)).toContain('"parts":[{"type":"text","text":"x"}]')
    expect(eventJson({ ...said, ext: { protocol: 'native', json: '{"seq":1}' } })).not.toContain('seq')
  })

  test('of a delta', () => {
    const line = '{"type":"text-delta","turn":"t","seq":1,"message":"m","text":"x","late":true}'
    expect(reread(line)).toEqual({
      turn: 't',
      type: 'text-delta',
      message: 'm',
      text: 'x',
      ext: { protocol: 'native', json: '{"late":true}' },
    })
  })
})

describe('messages of unknown types', () => {
  test('go on as they came', () => {
    const frame = '{"type":"weather","turn":"t","sun":1e400}'
    expect(readLine(frame)).toEqual({ is: 'foreign', turn: 't' })
    expect(eventJson({ turn: 't', type: 'foreign', protocol: 'native', frame })).toBe(frame)
    expect(commandLine({ exchange: 'x', type: 'foreign', protocol: 'native', frame })).toBe(frame)
  })

  test.each([
    ['{"type":"turn-end","turn":"t","outcome":"completed"}', '{"type":"turn-cancel"}'],
    ['{"type":"fault","fault":{}}', '{"type":"fault"}'],
    ['no object', '[]'],
  ])('but nothing that is known, or no message, goes on so: %s', (said, asked) => {
    const event = { turn: 't', type: 'foreign', protocol: 'native', frame: said } as const
    expect(reread(eventJson(event))).toEqual(event)
    const command = { exchange: 'x', type: 'foreign', protocol: 'native', frame: asked } as const
    expect(recommand(commandLine(command))).toEqual(command)
  })

  test('of other protocols are told as such', () => {
    const event = { turn: 't', type: 'foreign', protocol: 'zot', frame: '{"type":"weather"}' } as const
    expect(reread(eventJson(event))).toEqual(event)
  })
})

describe('errors', () => {
  test('with an unknown code are internal, and keep their code', () => {
    expect(readLine('{"type":"fault","fault":{"code":"moon","message":"Full."},"exchange":"x"}')).toEqual({
      is: 'fault',
      fatal: false,
      exchange: 'x',
      fault: {
        code: 'internal',
        message: 'Full.',
        retryable: false,
        ext: { protocol: 'native', json: '{"code":"moon"}' },
      },
    })
    expect(readLine('{"type":"fault","fault":{"code":"moon","message":"","retryable":true}}')).toMatchObject({
      fault: { retryable: true },
    })
  })

  test('that do not say it are retryable as their code is', () => {
    expect(readLine('{"type":"fault","fault":{"code":"timeout","message":"Late."}}')).toEqual({
      is: 'fault',
      fatal: false,
      fault: { code: 'timeout', message: 'Late.', retryable: true },
    })
  })

  test('say whether they are the end of their wire, and nothing else', () => {
    expect(readLine('{"type":"fault","fault":{"code":"internal","message":"Gone.","fatal":true}}')).toEqual({
      is: 'fault',
      fatal: true,
      fault: { code: 'internal', message: 'Gone.', retryable: false },
    })
    expect(readLine('{"type":"fault","fault":{"code":"internal","message":"Gone.","fatal":false}}')).toMatchObject({
      is: 'wrong',
      why: 'fault.fatal must be true',
    })
  })
})

describe('what cannot be read', () => {
  test.each([
    ['[1]', 'foreign', 'the line is not a JSON object'],
    ['{"type":"turn-started"}', 'turn-started', 'turn is not what this event needs'],
    ['{"type":"turn-started","turn":7}', 'turn-started', 'turn is not what this event needs'],
    ['{"type":"agent-ready","turn":"t"}', 'agent-ready', 'turn is not what this event needs'],
    ['{"type":"notice","turn":7}', 'notice', 'turn is not what this event needs'],
    ['{"type":"text-delta","turn":"t","message":"m","text":7}', 'text-delta', 'text must be a string'],
    ['{"type":"reasoning-delta","turn":"t"}', 'reasoning-delta', 'text is missing'],
    [
      '{"type":"usage","turn":"t","scope":"turn","usage":{"input":1e400}}',
      'usage',
      'usage.input must be a finite number',
    ],
    [
      '{"type":"turn-end","turn":"t","outcome":"good"}',
      'turn-end',
      'outcome must be one of: completed, failed, cancelled',
    ],
    [
      '{"type":"message-end","turn":"t","message":"m","parts":[{"type":"song"}]}',
      'message-end',
      'parts.0.type must be a part of a known type',
    ],
    ['{"type":"plan","turn":"t","json":1,"ext":{"protocol":"zot","json":[]}}', 'plan', 'ext.json must be an object'],
    ['{"type":"fault","fault":7}', 'foreign', 'fault must be an object'],
  ])('%s', (line, item, why) => {
    const read = readLine(line)
    expect(read).toMatchObject({ is: 'wrong', item, why })
  })

  test.each(['-1', '-0.5', '-1e300', '1e300', '9007199254740992'])('is an amount or a count of %s', (n) => {
    const range = 'must be from 0 to 9007199254740991'
    const failed = `{"code":"overloaded","message":"Later.","retryAfterMs":${n}}`
    expect(readLine(`{"type":"fault","fault":${failed}}`)).toMatchObject({ why: `fault.retryAfterMs ${range}` })
    const once = `{"key":"k","duplicate":"join","replay":"never","ttlMs":${n}}`
    for (const [more, name] of [
      [`"options":{"totalMs":${n}}`, 'options.totalMs'],
      [`"once":${once}`, 'once.ttlMs'],
    ]) {
      const line = `{"type":"turn-start","turn":"t","task":"prompt","input":[],${more}}`
      expect(readCommand(line, JSON.parse(line))).toMatchObject({ wrong: `${name} ${range}` })
    }
  })

  test('is half a thing, though not half a millisecond', () => {
    const line =
      '{"type":"message-end","turn":"t","message":"m","parts":[{"type":"image","mime":"image/png","bytes":0.5}]}'
    expect(readLine(line)).toMatchObject({ why: expect.stringMatching(/bytes must be a whole number$/) })
    const half = '{"type":"fault","fault":{"code":"overloaded","message":"Later.","retryAfterMs":0.5}}'
    expect(readLine(half)).toMatchObject({ is: 'fault', fault: { retryAfterMs: 0.5 } })
  })

  test('is anything deeper than messages are; JSON of others may be as deep as it likes', () => {
    const deep = (open: string, close: string): string => open.repeat(10_000) + close.repeat(10_000)
    const list = deep('[', ']')
    expect(readLine(`{"type":"plan","turn":"t","json":${list}}`)).toEqual({
      is: 'event',
      event: { turn: 't', type: 'plan', json: list },
    })
    const object = `{"type":"usage","turn":"t","scope":"turn","usage":${deep('{"input":', '}').replace('}', '1}')}}`
    expect(readLine(object)).toMatchObject({ is: 'wrong', why: 'usage.input must be a number' })
    const unknown = `{"type":"usage","turn":"t","scope":"turn","usage":{"new":${list}}}`
    expect(eventJson(reread(unknown))).toBe(unknown)
  })

  test('never throws', () => {
    const known = fc.constantFrom('usage', 'turn-end', 'ask', 'turn-start', 'query', 'fault', 'message-end')
    fc.assert(
      fc.property(known, fc.dictionary(fc.string(), json), (type, members) => {
        const line = `{"type":"${type}",${Object.entries(members)
          .map(([k, v]) => `${JSON.stringify(k)}:${v},`)
          .join('')}"turn":"t"}`
        readLine(line)
        readCommand(line, JSON.parse(line))
      }),
    )
    fc.assert(fc.property(fc.string(), (line) => void readLine(line)))
  })
})

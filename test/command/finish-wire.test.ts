import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { Wiretap } from '../../src/cli/wiretap.ts'
import { type FinishedWire, finishWire } from '../../src/translate/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/** What is still to be said when a gateway goes away, whatever the moment: each step of a wire, and nothing behind it. */

const codecs = await loadCodecs()
const WHY = 'The gateway is gone.'

/** `<` and `>` are what the client wrote and was told; `<` alone is the end of its input. */
function saidAfter(protocol: string, argv: readonly string[], ...wire: string[]): FinishedWire {
  const heard = new Wiretap()
  for (const step of wire) {
    const text = step.slice(1)
    if (step[0] === '>') heard.agent(`${text}\n`)
    else heard.client(text === '' ? undefined : `${text}\n`)
  }
  const codec = codecs[protocol]!
  const wireId = { link: 'wire', now: 1_767_225_600_000, written: true }
  return finishWire(
    { codec, options: optionsOf(codec), argv, env: {}, steps: heard.steps!, ...wireId },
    'agent-unavailable',
    WHY,
  )
}

const objects = (out: string): { type: string }[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { type: string })
const types = ({ out }: FinishedWire): unknown[] => objects(out).map(({ type }) => type)

const PROMPT = '<{"id":"1","type":"prompt","message":"hi"}'
const STARTED = '>{"type":"response","id":"1","command":"prompt","success":true,"data":{"started":true}}'
const FAILED = ['error', 'done']

describe('zot', () => {
  test.each([
    ['nothing was asked', [], []],
    ['a prompt that it was not told of', [PROMPT], ['response', 'user_message', ...FAILED]],
    ['a prompt that was taken', [PROMPT, STARTED], ['user_message', ...FAILED]],
    [
      'an answer that was begun',
      [PROMPT, STARTED, '>{"type":"turn_start","step":1}', '>{"type":"text_delta","delta":"Hel"}'],
      ['assistant_message', 'turn_end', ...FAILED],
    ],
    ['an answer that was given', [PROMPT, STARTED, '>{"type":"text_delta","delta":"Hello"}', '>{"type":"done"}'], []],
    ['a question', ['<{"id":"1","type":"get_state"}'], ['response']],
    [
      'a question that was answered',
      [
        '<{"id":"1","type":"ping"}',
        '>{"type":"response","id":"1","command":"ping","success":true,"data":{"pong":true}}',
      ],
      [],
    ],
  ])('%s', (_name, wire, expected) => {
    const words = saidAfter('zot', ['rpc'], ...wire)
    expect(types(words)).toEqual(expected)
    expect(words.exitCode).toBeUndefined()
  })
})

describe('zene', () => {
  const RUN = '<{"request_id":"r1","session_id":"s1","prompt":"hi"}'
  const OTHER = '<{"request_id":"r2","session_id":"s2","prompt":"hi"}'
  const ACK =
    '>{"protocol_version":1,"type":"ack","request_id":"r1","session_id":"s1","ts_ms":5,"status":"ACCEPTED","request_ts_ms":5}'
  const FINAL =
    '>{"protocol_version":1,"type":"final","request_id":"r1","session_id":"s1","ts_ms":6,"status":"OK","text":"x",' +
    '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"error":null,"latency_ms":1}'
  const stream = ['host', '--protocol', 'v1', '--single-request', 'false']

  test.each([
    ['a run that it was not told of', [RUN], ['ack', 'event', 'event', 'final']],
    ['a run that was taken', [RUN, ACK], ['event', 'final']],
    ['a run that has its end', [RUN, ACK, FINAL], []],
    ['one of two', [RUN, OTHER, ACK, FINAL], ['ack', 'event', 'event', 'final']],
    ['a ping', ['<{"type":"ping","request_id":"p1","session_id":"s1"}'], []],
  ])('%s', (_name, wire, expected) => {
    expect(types(saidAfter('zene', stream, ...wire))).toEqual(expected)
  })

  test('one request ends with its answer, and with the exit code of that', () => {
    expect(saidAfter('zene', ['host'], RUN)).toMatchObject({
      out: expect.stringContaining(WHY),
      ended: true,
      exitCode: 0,
    })
    const told = '>{"ok":true,"request_id":"r1","session_id":"s1","text":"x","error_code":null,"error_message":null}'
    expect(saidAfter('zene', ['host'], RUN, told)).toEqual({ out: '', warned: [], ended: false, exitCode: 0 })
  })
})

describe('native', () => {
  const START = '<{"type":"turn-start","input":"hi"}'
  const ACCEPTED = '>{"type":"turn-accepted","turn":"wire-2","seq":1,"how":"new","session":"s9"}'
  const end = (seq: number): object => ({ type: 'turn-end', turn: 'wire-2', seq, outcome: 'failed' })

  test('a turn that was taken ends under the name that the gateway gave it', () => {
    const { out } = saidAfter('native', [], START, '>{"type":"agent-ready","turn":null}', ACCEPTED)
    expect(JSON.parse(out)).toMatchObject(end(2))
  })

  test('of two turns the one that has no end yet gets it', () => {
    const other = '>{"type":"turn-accepted","turn":"wire-4","seq":1,"how":"new","session":"s8"}'
    const ended = '>{"type":"turn-end","turn":"wire-2","seq":2,"outcome":"completed"}'
    const { out } = saidAfter('native', [], START, ACCEPTED, START, other, ended)
    expect(objects(out)).toMatchObject([{ type: 'turn-end', turn: 'wire-4', outcome: 'failed' }])
  })

  describe('who follows a turn of another client', () => {
    const FOLLOW = '<{"type":"turn-follow","exchange":"f1","target":{"turn":"far-7"}}'
    const SEEN = '>{"type":"turn-accepted","turn":"far-7","seq":1,"how":"new","session":"s9","exchange":"f1"}'
    const END = '>{"type":"turn-end","turn":"far-7","seq":2,"outcome":"completed"}'
    const lost = { type: 'fault', exchange: 'f1', fault: { code: 'agent-unavailable', message: WHY } }

    test.each([
      ['before it was told anything', [FOLLOW], [lost]],
      ['in the middle', [FOLLOW, SEEN], [lost]],
      [
        'by the name of its request',
        ['<{"type":"turn-follow","exchange":"f1","target":{"request":"r"}}', SEEN],
        [lost],
      ],
      ['when it had its end', [FOLLOW, SEEN, END], []],
      [
        'when it was refused',
        [FOLLOW, '>{"type":"fault","exchange":"f1","fault":{"code":"session-not-found","message":"No."}}'],
        [],
      ],
      [
        'beside a turn of its own that has its end',
        [
          FOLLOW,
          SEEN,
          START,
          ACCEPTED.replace('wire-2', 'wire-3'),
          '>{"type":"turn-end","turn":"wire-3","seq":2,"outcome":"completed"}',
        ],
        [lost],
      ],
      [
        'that has its end, beside a turn of its own',
        [FOLLOW, SEEN, START, ACCEPTED.replace('wire-2', 'wire-3'), END],
        [{ type: 'turn-end', turn: 'wire-3', outcome: 'failed' }],
      ],
      [
        'and all turns',
        ['<{"type":"query","exchange":"q1","what":"turns","args":{"follow":true}}'],
        [{ ...lost, exchange: 'q1' }],
      ],
    ])('%s', (_name, wire, expected) => {
      const told = objects(saidAfter('native', [], ...wire).out)
      expect(told).toHaveLength(expected.length)
      expect(told).toMatchObject(expected)
    })
  })

  test('a turn that its client was not told of is told first', () => {
    const { out } = saidAfter('native', [], START)
    const [accepted, ended] = out.trimEnd().split('\n')
    expect(JSON.parse(accepted!)).toMatchObject({ type: 'turn-accepted', turn: 'wire-2', seq: 1 })
    expect(JSON.parse(ended!)).toMatchObject(end(2))
  })
})

test('what a wire that said too much still has to say is not known', () => {
  const heard = new Wiretap()
  heard.agent('x'.repeat(20 * 1024 * 1024))
  expect(heard.steps).toHaveLength(1)
  heard.client('y'.repeat(20 * 1024 * 1024))
  expect(heard.steps).toBeUndefined()
})

describe('an answer that is a text', () => {
  test.each([
    ['zot', ['-p', 'hi'], `zot: ${WHY}`],
    ['qwen-code', ['-p', 'hi'], WHY],
  ])('%s: the failure is a line on stderr', (protocol, argv, line) => {
    const { out, warned, exitCode } = saidAfter(protocol, argv, '<')
    expect([out, warned, exitCode]).toEqual(['', [expect.stringContaining(line)], 1])
  })

  test('what was on stderr before is not repeated', () => {
    expect(saidAfter('zot', ['rpc', '--no-yolo'], PROMPT, STARTED).warned).toEqual([])
  })
})

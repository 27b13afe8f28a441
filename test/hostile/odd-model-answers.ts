/** How a server of a model answers that does not answer well, in any of the protocols of models. */
import type { Call, Json, ModelProtocol, Piece, Script } from '../kit/models/index.ts'
import { ANSWER } from './kit.ts'
import { FRAMINGS, HEADS, RESETS, TIMES } from './odd-engine-answers.ts'
import { type Asked, reply } from './odd-engine-wire.ts'

/** A request to a server, with the frames of a sound answer; together they are its body. */
export interface AskedModel extends Asked {
  protocol: ModelProtocol
  frames: readonly string[]
}

type Behaviour = (asked: AskedModel) => void

const MIB = 1024 * 1024
const json = 'application/json'
const TEXT: readonly Piece[] = [{ text: 'One ' }, { text: 'two three.' }]
/** What every server answers that answers at all. */
export const SOUND: Script = { pieces: [...TEXT], stop: 'end', usage: { input: 3, output: 2 } }
const call = (id: string, args: string, name = 'add'): { call: Call } => ({ call: { id, name, args } })
const calling = (...calls: readonly { call: Call }[]): Script => ({ ...SOUND, pieces: [...calls], stop: 'tools' })

/** The stream of another script. */
const stream =
  (script: Script): Behaviour =>
  (asked) =>
    reply(asked, { body: asked.protocol.frames(script).join('') })
/** The stream of a script with changes to its text. */
const changed =
  (script: Script, change: (body: string) => string): Behaviour =>
  (asked) =>
    reply(asked, { body: change(asked.protocol.frames(script).join('')) })
/** Other frames than the sound ones. */
const framed =
  (change: (frames: readonly string[]) => readonly string[]): Behaviour =>
  (asked) =>
    reply(asked, { body: change(asked.frames).join('') })
/** An answer in one piece. */
const whole =
  (script: Script, type = json): Behaviour =>
  (asked) =>
    reply(asked, { type, body: JSON.stringify(asked.protocol.whole(script)) })
const failing =
  (status: string, code: string, headers: readonly string[] = []): Behaviour =>
  (asked) =>
    reply(asked, { status, type: json, headers, body: JSON.stringify(errorOf(asked, code)) })
const errorOf = ({ protocol }: AskedModel, code: string): Json =>
  protocol.errorBody({ status: 500, code, message: 'It broke.' })

/** The frames up to the last piece of text. */
const upToText = (frames: readonly string[]): readonly string[] =>
  frames.slice(0, frames.findLastIndex((frame) => frame.includes('"two three."')) + 1)
/** The frames that end an answer. */
const endOf = (frames: readonly string[]): readonly string[] => frames.slice(upToText(frames).length)
const textOf = (frames: readonly string[]): string => frames.find((frame) => frame.includes('"One "'))!
/** A frame with data of its own, under the name that the protocol's events have. */
const frameOf = (frames: readonly string[], data: string): string => textOf(frames).replace(/data: .*/, `data: ${data}`)
const inFront = (more: (frames: readonly string[]) => string) =>
  framed((frames) => [...upToText(frames), more(frames), ...endOf(frames)])
/** Places of the second call of a stream, in each protocol's words. */
const gap = (body: string): string => body.replaceAll(/("(?:output_)?index"):1\b/g, '$1:7')

/** What a stream says. */
const STREAMS: Readonly<Record<string, Behaviour>> = {
  'crlf-lines': (asked) => reply(asked, { body: asked.body.replaceAll('\n', '\r\n') }),
  'cr-lines': (asked) => reply(asked, { body: asked.body.replaceAll('\n', '\r') }),
  'byte-order-mark': (asked) => reply(asked, { body: `\ufeff${asked.body}` }),
  'invalid-utf-8': (asked) => reply(asked, { body: Buffer.from(asked.body.replace('three', '\u00ff'), 'latin1') }),
  'half-an-event': (asked) => reply(asked, { body: asked.body.slice(0, asked.body.indexOf('three')) }),
  'event-not-dispatched': (asked) => reply(asked, { body: asked.body.slice(0, -1) }),
  'empty-stream': framed(() => []),
  'comments-alone': framed(() => [': hello\n\n', ': bye\n\n']),
  'comments-between': framed((frames) => frames.map((frame) => `: still here\n\n${frame}`)),
  'a-million-comments': framed((frames) => [':\n\n'.repeat(1e6), ...frames]),
  'no-ending': framed(upToText),
  'no-last-frame': framed((frames) => frames.slice(0, -1)),
  'ending-alone': framed(endOf),
  'two-endings': framed((frames) => [...frames, ...endOf(frames)]),
  'text-after-the-end': framed((frames) => [...frames, textOf(frames)]),
  'garbage-after-the-end': framed((frames) => [...frames, '{{{ no event\n\n']),
  'two-answers': framed((frames) => [...frames, ...frames]),
  'frames-twice': framed((frames) => frames.flatMap((frame) => [frame, frame])),
  'frames-backwards': framed((frames) => frames.toReversed()),
  'open-after-the-end': (asked) => reply(asked, { length: null }),
  'open-after-the-text': (asked) => reply(asked, { body: upToText(asked.frames).join(''), length: null }),
  'event-is-no-json': inFront((frames) => frameOf(frames, '{{{')),
  'event-is-no-object': inFront((frames) => frameOf(frames, '[1]')),
  'event-is-null': inFront((frames) => frameOf(frames, 'null')),
  'event-is-empty': inFront((frames) => frameOf(frames, '')),
  'event-of-an-unknown-type': inFront((frames) => `event: x-odd\n${frameOf(frames, '{"type":"x-odd","n":1e400}')}`),
  'error-in-the-middle': stream({ pieces: [...TEXT], error: { status: 500, code: 'api_error', message: 'It broke.' } }),
  'error-and-then-more': (asked) => {
    const { frames, protocol } = asked
    const failed = protocol.frames({ error: { status: 500, code: 'api_error', message: 'It broke.' } })
    reply(asked, { body: [...upToText(frames), ...failed, ...endOf(frames)].join('') })
  },
  'line-of-100-mib': inFront((frames) => frameOf(frames, `"${'x'.repeat(100 * MIB)}"`)),
  'line-of-100-mib-without-an-end': (asked) =>
    reply(asked, { body: `${textOf(asked.frames).trimEnd()}${' '.repeat(100 * MIB)}` }),
  'many-tiny-pieces': stream({ ...SOUND, pieces: Array.from({ length: 20_000 }, () => ({ text: 'x' })) }),
  'no-text': stream({ ...SOUND, pieces: [] }),
  'text-of-control-characters': stream({ ...SOUND, pieces: [{ text: '\u0000\u001b[2J\u2028' }] }),
  'half-a-surrogate': changed(SOUND, (body) => body.replace('three', String.raw`\ud83d`)),
}

/** What an answer says of its tokens. */
const USAGES: Readonly<Record<string, Behaviour>> = {
  'usage-that-overflows': stream({ ...SOUND, usage: { input: 1e308, output: 2 ** 60 } }),
  'usage-beyond-json': changed(SOUND, (body) => body.replace(/_tokens":3/g, '_tokens":1e999')),
  'usage-below-zero': stream({ ...SOUND, usage: { input: -3, output: -1 } }),
  'usage-of-fractions': stream({ ...SOUND, usage: { input: 1.5, output: 2 } }),
  'usage-of-texts': changed(SOUND, (body) => body.replace(/_tokens":3/g, '_tokens":"many"')),
  'usage-that-is-a-list': changed(SOUND, (body) => body.replaceAll(/"usage":\{[^{}]*\}/g, '"usage":[1]')),
}

/** What an answer says of calls. */
const CALLS: Readonly<Record<string, Behaviour>> = {
  'arguments-that-are-no-json': stream(calling(call('c1', '{"a":'))),
  'arguments-that-are-no-object': stream(calling(call('c1', '[1]'))),
  'arguments-that-are-empty': stream(calling(call('c1', ''))),
  'arguments-beyond-json': stream(calling(call('c1', '{"a":1e400,"a":2,"__proto__":{}}'))),
  'arguments-of-1-mib': stream(calling(call('c1', `{"a":"${'x'.repeat(MIB)}"}`))),
  'ids-twice': stream(calling(call('c1', '{"a":1}'), call('c1', '{"a":2}'))),
  'ids-that-are-empty': stream(calling(call('', '{"a":1}'))),
  'ids-of-odd-characters': stream(calling(call('\u0000"/ 💥', '{"a":1}'))),
  'ids-that-are-numbers': changed(calling(call('c1', '{"a":1}')), (body) => body.replaceAll('"c1"', '7')),
  'names-that-are-empty': stream(calling(call('c1', '{"a":1}', ''))),
  'names-of-nobody': stream(calling(call('c1', '{"a":1}', '__proto__'))),
  'gaps-between-places': changed(calling(call('c1', '{"a":1}'), call('c2', '{"a":2}')), gap),
  'places-below-zero': changed(calling(call('c1', '{"a":1}'), call('c2', '{"a":2}')), (body) =>
    body.replaceAll(/("(?:output_)?index"):1\b/g, '$1:-1'),
  ),
  'calls-without-the-stop': stream({ ...calling(call('c1', '{"a":1}')), stop: 'end' }),
  'stop-without-calls': stream({ ...SOUND, stop: 'tools' }),
  'calls-that-are-cut': stream({ ...calling(call('c1', '{"a":')), stop: 'length' }),
  'calls-behind-the-end': (asked) => {
    const late = asked.protocol.frames(calling(call('c1', '{"a":1}')))
    reply(asked, { body: [...asked.frames, ...late].join('') })
  },
}

/** Answers that are no streams. */
const WHOLES: Readonly<Record<string, Behaviour>> = {
  'whole-answer': whole(SOUND),
  'whole-answer-named-a-stream': whole(SOUND, 'text/event-stream'),
  'stream-named-json': (asked) => reply(asked, { type: json }),
  'stream-named-html': (asked) => reply(asked, { type: 'text/html' }),
  'half-of-a-whole-answer': (asked) => {
    const body = JSON.stringify(asked.protocol.whole(SOUND))
    reply(asked, { type: json, body: body.slice(0, body.length / 2) })
  },
  'an-empty-object': (asked) => reply(asked, { type: json, body: '{}' }),
  'an-empty-body': (asked) => reply(asked, { type: json, body: '' }),
  'an-error-with-200': failing('200 OK', 'api_error'),
  'a-stream-with-500': (asked) => reply(asked, { status: '500 No' }),
  'a-whole-answer-with-400': (asked) =>
    reply(asked, { status: '400 No', type: json, body: JSON.stringify(asked.protocol.whole(SOUND)) }),
  'an-error-with-400': failing('400 No', 'invalid_request_error'),
  'an-error-with-401': failing('401 No', 'authentication_error'),
  'an-error-with-402': failing('402 No', 'billing_error'),
  'an-error-with-404': failing('404 No', 'not_found_error'),
  'an-error-with-413': failing('413 No', 'request_too_large'),
  'an-error-with-429': failing('429 No', 'rate_limit_error', ['retry-after: 7']),
  'an-error-with-503': failing('503 No', 'overloaded_error'),
  'an-error-with-529': failing('529 No', 'overloaded_error'),
  'a-body-of-100-mib': (asked) => reply(asked, { type: json, body: `"${'x'.repeat(100 * MIB)}"` }),
  'gzip-that-is-none': (asked) => reply(asked, { headers: ['content-encoding: gzip'] }),
}

/** Behaviours of any server over HTTP; those whose bodies are of another protocol, or that need a connection of their own, are not. */
const OTHERS: readonly string[] = ['closes-after-its-answer']
const GENERIC = Object.entries({ ...TIMES, ...FRAMINGS, ...HEADS, ...RESETS }).flatMap(([name, { answer, only }]) =>
  only === 'whole' || name.includes('envelope') || OTHERS.includes(name) ? [] : [[name, answer] as const],
)

/** By name. */
export const MODEL_BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ...STREAMS,
  ...USAGES,
  ...CALLS,
  ...WHOLES,
  ...Object.fromEntries(GENERIC),
}

/** The text of a sound answer is what all hostile agents answer. */
if (TEXT.map((piece) => ('text' in piece ? piece.text : '')).join('') !== ANSWER) throw new Error('another answer')

import { BAD_BYTE, DEEP_JSON, isWrite, MIB, ODD_JSON, splitCharacters, withBadBytes, withMember } from './bytes.ts'
import type { Behaviour, WireForm } from './kit/index.ts'
import {
  around,
  type BadAnswer,
  each,
  half,
  instead,
  only,
  PIECES,
  saying,
  stray,
  text,
  unreadable,
  withoutLastEnd,
} from './spoil.ts'

const ALL: readonly WireForm[] = ['objects', 'text', 'body']
const JSON_ONLY: readonly WireForm[] = ['objects', 'body']
const LINES: readonly WireForm[] = ['objects', 'text']
const OBJECTS: readonly WireForm[] = ['objects']
const BODY: readonly WireForm[] = ['body']
/** The text with any character of a client in place of invalid bytes. */
const ALMOST = /All\P{L}{0,6}is well\./u
const HTML = '<html><body>All well.</body></html>'
const STALL_MS = 1_000
const NOISE = 'noise '.repeat(MIB / 6)
const garbage = only({ write: 'garbage {{{ ]\n' })

/** The misbehaviours of stand-ins. A new row needs its name in `BEHAVIOURS`. */
export const BAD_ANSWERS: Readonly<Partial<Record<Behaviour, BadAnswer>>> = {
  'answers-well': { does: 'answers as it should', forms: ALL, demand: 'answer' },
  banner: {
    does: 'greets people before its answer',
    forms: JSON_ONLY,
    demand: 'advised',
    spoil: (answer) => [{ write: 'Welcome to Agent 1.0\n' }, ...answer.reactions],
  },
  'log-lines-everywhere': {
    does: 'logs on stdout before every frame',
    forms: OBJECTS,
    demand: 'advised',
    never: '[info]',
    spoil: text((frame) => `\n[info] working\n${frame}`),
  },
  'garbage-line': {
    does: 'has a line of garbage in its answer',
    forms: OBJECTS,
    demand: 'advised',
    never: '{{{',
    spoil: around(garbage),
  },
  'lost-boundary': {
    does: 'has half a frame and garbage on one line in its answer',
    forms: OBJECTS,
    demand: 'advised',
    spoil: around(({ first }) => [{ write: `${half(first)}garbage\u0007{{{ ]\n` }]),
  },
  'blank-lines-and-crlf': {
    does: 'writes blank lines, and CR before every LF',
    forms: ALL,
    demand: 'advised',
    spoil: text((frame) => `\r\n\n${frame.replace(/\n?$/, '\r\n')}`),
  },
  'byte-order-mark': {
    does: 'begins its answer with a byte order mark',
    forms: JSON_ONLY,
    demand: 'honest',
    spoil: ({ reactions, first }) =>
      reactions.map((one) => (isWrite(one) && one.write === first ? { write: `\ufeff${first}` } : one)),
  },
  'ansi-colours': {
    does: 'puts terminal colours around every frame',
    forms: JSON_ONLY,
    demand: 'honest',
    spoil: unreadable((frame) => `\u001b[32m${frame.trimEnd()}\u001b[0m\n`),
  },
  'raw-nul': {
    does: 'writes a NUL before every frame',
    forms: JSON_ONLY,
    demand: 'honest',
    spoil: unreadable((frame) => `\0${frame}`),
  },
  'nul-in-text': {
    does: 'says NUL, as JSON has it',
    forms: JSON_ONLY,
    demand: 'answer',
    says: ['All\0 is', PIECES[1]],
  },
  'invalid-utf-8': {
    does: 'says a byte that is no UTF-8',
    forms: ALL,
    demand: 'honest',
    says: [`All${BAD_BYTE} is`, PIECES[1]],
    shows: ALMOST,
    spoil: each(withBadBytes),
  },
  'split-characters': {
    does: 'writes characters of several bytes in several writes',
    forms: ALL,
    demand: 'answer',
    says: ['All €ä', ' 😀 well.'],
    spoil: each(splitCharacters),
  },
  'raw-separators': {
    does: 'says U+2028, U+2029 and U+0085, which end no line',
    forms: ALL,
    demand: 'answer',
    says: ['All\u2028', '\u2029\u0085well.'],
  },
  'lone-surrogate': {
    does: 'says half of a surrogate pair, as JSON has it',
    forms: JSON_ONLY,
    demand: 'honest',
    says: ['All\ud83d is', PIECES[1]],
    shows: ALMOST,
  },
  'line-of-1-mib': {
    does: 'says 1 MiB at once',
    forms: JSON_ONLY,
    demand: 'advised',
    says: [PIECES[0], ` ${'x'.repeat(MIB)} well.`],
  },
  'line-of-4-mib': {
    does: 'says 4 MiB at once',
    forms: JSON_ONLY,
    demand: 'advised',
    says: [PIECES[0], ` ${'x'.repeat(4 * MIB)} well.`],
  },
  'no-newline-at-the-end': {
    does: 'leaves without the LF of its last line',
    forms: LINES,
    demand: 'advised',
    spoil: withoutLastEnd,
  },
  'half-a-line-then-stalls': {
    does: 'stops in the middle of its last frame, and leaves a moment later',
    forms: LINES,
    demand: 'error',
    spoil: instead((last) => [{ write: half(last) }, { pause: STALL_MS }]),
  },
  'odd-numbers-and-keys': {
    does: 'has members with equal keys, `__proto__` and numbers that no double holds',
    forms: JSON_ONLY,
    demand: 'advised',
    spoil: text((frame) => withMember(frame, 'x-odd', ODD_JSON)),
  },
  'deep-json': {
    does: 'has a member that is 10 000 lists deep',
    forms: JSON_ONLY,
    demand: 'honest',
    spoil: text((frame) => withMember(frame, 'x-deep', DEEP_JSON)),
  },
  'unknown-messages-and-fields': {
    does: 'has unknown members and messages',
    forms: JSON_ONLY,
    demand: 'advised',
    spoil: (answer) => {
      const more = text((frame) => withMember(frame, 'x-new', '{"a":[1]}'))(answer)
      return answer.form === 'body' ? more : [{ write: '{"type":"x-unknown","id":"u9"}\n' }, ...more]
    },
  },
  'foreign-ids': {
    does: 'says something that belongs to another turn',
    forms: OBJECTS,
    demand: 'advised',
    never: 'stray',
    spoil: around(stray),
  },
  'answers-twice': {
    does: 'ends its answer twice',
    forms: ALL,
    demand: 'advised',
    spoil: around(
      () => [],
      ({ last }) => [{ write: last }],
    ),
  },
  'frames-after-the-end': {
    does: 'goes on after the end of its answer',
    forms: OBJECTS,
    demand: 'advised',
    never: 'late',
    spoil: around(
      () => [],
      (answer) => [{ write: saying('late', answer) }],
    ),
  },
  'exits-0-in-the-answer': {
    does: 'leaves before the end of its answer',
    forms: ALL,
    demand: 'error',
    spoil: instead(() => []),
    only: 'stdio',
  },
  'exits-1-without-answer': {
    does: 'leaves with exit code 1 instead of an answer',
    forms: ALL,
    demand: 'error',
    spoil: only({ exit: 1 }),
    only: 'stdio',
  },
  'dies-at-start': {
    does: 'leaves with exit code 3 before it has read anything',
    forms: ALL,
    demand: 'error',
    start: [{ exit: 3 }],
    only: 'stdio',
  },
  'stderr-before-stdout': {
    does: 'writes 1 MiB to stderr before its answer',
    forms: ALL,
    demand: 'answer',
    spoil: ({ reactions }) => [{ stderr: NOISE }, ...reactions],
    only: 'stdio',
  },
  'slow-first-byte': {
    does: 'thinks for a moment before its answer',
    forms: ALL,
    demand: 'answer',
    spoil: ({ reactions }) => [{ pause: STALL_MS }, ...reactions],
  },
  'cut-in-the-body': {
    does: 'leaves, or cuts the connection, in the middle of its answer',
    forms: BODY,
    demand: 'error',
    spoil: instead((last) => [{ write: half(last) }, { cut: true }]),
  },
  'closes-without-answer': {
    does: 'cuts the connection instead of an answer',
    forms: BODY,
    demand: 'error',
    spoil: only({ cut: true }),
    only: 'http',
  },
  'wrong-content-type': {
    does: 'calls its answer text/html',
    forms: BODY,
    demand: 'honest',
    spoil: ({ reactions }) => [{ contentType: 'text/html' }, ...reactions],
    only: 'http',
  },
  'status-200-without-envelope': {
    does: 'answers with a web page, as a success',
    forms: BODY,
    demand: 'error',
    spoil: ({ leave }) => [{ contentType: 'text/html' }, { write: HTML }, ...leave],
  },
  'status-500-without-envelope': {
    does: 'answers with a web page, as a failure',
    forms: BODY,
    demand: 'error',
    spoil: () => [{ status: 500 }, { contentType: 'text/html' }, { write: HTML }, { exit: 1 }],
  },
}

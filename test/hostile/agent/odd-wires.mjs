// Behaviours of the wire: what is wrong with the bytes, lines and messages of an answer. All begin with the prompt.
import { closeSync } from 'node:fs'
import { ANSWER, answer, answerAndLeave, forever, PIECES, pieces } from './answers.mjs'
import { writeAll } from './wire.mjs'

const MIB = 1024 * 1024

/** Answers on a wire that was made odd. */
const on = (spoil) => (talk, wire) => {
  spoil(wire)
  answerAndLeave(talk)
}

/** Answers with something else between the first piece and the others. */
const between = (what) => (talk, wire, prompt) => {
  talk.begin()
  pieces(talk, PIECES.slice(0, 1))
  what(talk, wire, prompt)
  pieces(talk, PIECES.slice(1))
  talk.finish(ANSWER)
  talk.done()
}

/** Answers with these pieces. */
const says = (some) => (talk) => {
  talk.begin()
  pieces(talk, some)
  talk.finish(some.join(''))
  talk.done()
}

/** Pieces of many characters, which the end of the answer does not say again. */
const amount = (some) => (talk) => {
  talk.begin()
  pieces(talk, some)
  talk.finish('')
  talk.done()
}

/** Every member that is an id, at any depth. */
const IDS = new Set([
  ...['id', 'request_id', 'session_id', 'prompt_id', 'uuid', 'turn', 'message', 'tool_use_id'],
  ...['sessionId', 'messageId', 'threadId', 'turnId', 'itemId'],
])
const withIds = (id) => (value) =>
  JSON.parse(JSON.stringify(value), (key, held) => (IDS.has(key) && typeof held === 'string' ? id(held) : held))

/** One message under ids that are not of this turn. */
const foreign = (talk, wire) => {
  wire.revise = withIds(() => 'foreign-9')
  talk.text('stray ')
  wire.revise = (value) => value
}

const ODD_JSON = `{"a":1,"a":2,"__proto__":{"x":1},"big":1234567890123456789,"huge":1e400,"zero":-0}`
const DEEP = 10_000

/** The last line has no end, and the process leaves. */
const withoutLastEnd = (then) => (talk, wire) => {
  talk.begin()
  pieces(talk)
  wire.shape = (text) => {
    // Of several lines at the end only the last one lacks its LF: each is ended by the next.
    const line = wire.pending === undefined ? text : `\n${text}`
    wire.pending = text
    return line
  }
  wire.after = ''
  talk.finish(ANSWER)
  then()
}

export const WIRES = {
  'log-lines-everywhere': (talk, wire) => {
    wire.before = '\n[info] working\n'
    answer(talk)
    wire.raw('[info] done\n\n')
    talk.done()
  },
  'byte-order-mark': answerAndLeave,
  'cr-alone': on((wire) => {
    wire.after = '\r'
  }),
  'ansi-colours': on((wire) => {
    wire.shape = (text) => `\u001b[32m${text}\u001b[0m`
  }),
  'nul-in-text': says(['One\u0000 ', 'two three.']),
  'raw-nul': on((wire) => {
    wire.before = '\0'
  }),
  'invalid-utf-8': on((wire) => {
    wire.write = (fd, text) =>
      writeAll(fd, Buffer.from(Buffer.from(text).toString('latin1').replaceAll('two', 'tw\xff'), 'latin1'))
  }),
  'split-characters': (talk, wire) => {
    wire.write = (fd, text) => {
      for (const byte of Buffer.from(text)) writeAll(fd, Buffer.of(byte))
    }
    says(['€ä', '😀 ', 'three.'])(talk)
  },
  'raw-separators': says(['One\u2028', 'two\u2029', 'three\u0085.']),
  'surrogate-halves': says(['One \ud83d', '\ude00 three.']),
  'lone-surrogate': says(['One \ud83d', 'two three.']),
  'line-of-1-mib': says(['x'.repeat(MIB)]),
  'line-of-4-mib': amount(['x'.repeat(4 * MIB)]),
  'line-of-16-mib': amount(['x'.repeat(16 * MIB - 4096)]),
  'line-over-the-limit': amount(['x'.repeat(17 * MIB)]),
  'thirty-lines-of-1-mib': amount(Array(30).fill('x'.repeat(MIB))),
  'no-newline-at-the-end': withoutLastEnd(() => process.exit(0)),
  'no-newline-then-closes-stdout': withoutLastEnd(() => {
    closeSync(1)
    forever()
  }),
  'no-newline-then-stays': withoutLastEnd(forever),
  'a-million-blank-lines': between((_talk, wire) => wire.raw('\n'.repeat(1_000_000))),
  'many-tiny-lines': amount(Array(20_000).fill('x')),
  'never-stops': (talk) => {
    talk.begin()
    for (;;) talk.text('x'.repeat(65_536))
  },
  'half-a-line-then-stalls': (talk, wire) => {
    talk.begin()
    pieces(talk, PIECES.slice(0, 1))
    wire.raw(talk.half)
    forever()
  },
  'lost-boundary': between((talk, wire) => wire.raw(`${talk.half}garbage\u0007{{{ ]\n`)),
  'odd-numbers-and-keys': on((wire) => {
    wire.shape = (text) => text.replace(/^\{/, `{"x-odd":${ODD_JSON},`)
  }),
  'deep-json': on((wire) => {
    wire.shape = (text) => text.replace(/^\{/, `{"x-deep":${'['.repeat(DEEP)}${']'.repeat(DEEP)},`)
  }),
  'duplicate-keys': on((wire) => {
    wire.shape = (text) => text.replace(/^\{/, '{"type":"x-first","text":"wrong","delta":"wrong",')
  }),
  'unknown-messages-and-fields': (talk, wire) => {
    wire.revise = (value) => ({ ...value, 'x-new': { a: [1] } })
    between(() => wire.send({ type: 'x-unknown', id: 'u9' }))(talk, wire)
  },
  'null-text': between((talk) => talk.text(null)),
  'missing-text': between((talk) => talk.text(undefined)),
  'empty-text': between((talk) => talk.text('')),
  'number-for-text': between((talk) => talk.text(7)),
  'null-answer': (talk) => {
    talk.begin()
    talk.finish(null)
    talk.done()
  },
  'frames-after-the-end': (talk) => {
    answer(talk)
    talk.text('late ')
    talk.done()
  },
  'foreign-ids': between(foreign),
  'repeats-every-line': on((wire) => {
    wire.shape = (text) => `${text}\n${text}`
  }),
  'ids-are-0': on((wire) => {
    wire.revise = withIds(() => 0)
  }),
  'ids-are-empty': on((wire) => {
    wire.revise = withIds(() => '')
  }),
  'ids-are-equal': on((wire) => {
    wire.revise = withIds(() => 'same')
  }),
}

/** What is done before the first prompt. */
export const PREPARE_WIRES = {
  'byte-order-mark': (wire) => {
    wire.shape = (text) => {
      wire.behave()
      return `\ufeff${text}`
    }
  },
}

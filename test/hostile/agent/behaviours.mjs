// What a hostile agent does with a prompt, in terms of a talk: `begin`, `text(delta)`, `finish(whole)`, `done` (the
// process of one turn leaves, that of a session stays), `half` (half a line), `tool`, `ask`, `cancelled`, and
// `onCancel`, called when the protocol's own word for it comes.
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { ANSWER, answer, answerAndLeave, forever, interrupted, PIECES, pieces } from './answers.mjs'
import { PREPARE_PROCESSES, PROCESSES } from './odd-processes.mjs'
import { PREPARE_WIRES, WIRES } from './odd-wires.mjs'
import { writeAll } from './wire.mjs'

const MARK = process.argv[4]

/** Where tests are told that a prompt has got so far, and tell when one is to go on. */
const SIGNS = process.env['HOSTILE_SIGNS'] ?? ''
const reached = (prompt) => appendFileSync(join(SIGNS, 'reached'), `${prompt}\n`)

/** Ends as its protocol wants it when it is cancelled by the protocol's word. */
function heedCancel(talk, _wire, prompt) {
  forever()
  talk.onCancel = () => {
    talk.cancelled()
    talk.done()
  }
  reached(prompt)
}

function finishLate(talk) {
  pieces(talk, PIECES.slice(1))
  talk.finish(ANSWER)
  talk.done()
}

/** Answers in full, as if nothing had been said, when it is cancelled. */
function answerWhenCancelled(talk, _wire, prompt) {
  forever()
  let told = false
  const finish = () => {
    if (!told) finishLate(talk)
    told = true
  }
  talk.onCancel = finish
  process.on('SIGTERM', finish)
  reached(prompt)
}

/** Goes on when there is a file named like its prompt. */
function awaitWord(talk, _wire, prompt) {
  const looking = setInterval(() => {
    if (!existsSync(join(SIGNS, prompt))) return
    clearInterval(looking)
    finishLate(talk)
  }, 20)
  reached(prompt)
}

function deaf() {
  process.on('SIGTERM', () => {})
  forever()
}

/** All prompts that this process has had. */
const heard = []

export const BEHAVIOURS = {
  ...WIRES,
  ...PROCESSES,
  'answers-well': answerAndLeave,
  'says-nothing': (talk) => {
    talk.begin()
    talk.finish('')
    talk.done()
  },
  'exits-0-without-answer': (talk) => {
    talk.begin()
    process.exit(0)
  },
  'exits-1-without-answer': (talk) => {
    talk.begin()
    process.exit(1)
  },
  killed: interrupted(() => process.kill(process.pid, 'SIGKILL')),
  'closes-stdout': interrupted(() => {
    closeSync(1)
    forever()
  }),
  'truncates-a-line': interrupted((talk, wire) => {
    wire.raw(talk.half)
    process.exit(0)
  }),
  stalls: interrupted(forever),
  'answers-twice': (talk) => {
    answer(talk)
    talk.finish(ANSWER)
    talk.done()
  },
  'answers-then-hangs': (talk) => {
    deaf()
    answer(talk)
  },
  'grandchild-holds-stdout': (talk) => {
    spawn('sleep', [MARK], { stdio: ['ignore', 'inherit', 'inherit'] }).unref()
    answerAndLeave(talk)
  },
  'garbage-line': interrupted((talk, wire) => {
    wire.line('garbage {{{ ]')
    pieces(talk, PIECES.slice(1))
    talk.finish(ANSWER)
    talk.done()
  }),
  banner: answerAndLeave,
  'blank-lines-and-crlf': answerAndLeave,
  'stderr-flood': interrupted((talk) => {
    for (let kilobytes = 0; kilobytes < 2048; kilobytes += 64) writeAll(2, `${'noise '.repeat(10_922)}\n`)
    pieces(talk, PIECES.slice(1))
    talk.finish(ANSWER)
    talk.done()
  }),
  // Those that wait, mostly for a cancel.
  'waits-before-text': heedCancel,
  'waits-in-text': interrupted(heedCancel),
  'waits-in-a-tool': interrupted((talk, wire, prompt) => {
    talk.tool()
    heedCancel(talk, wire, prompt)
  }),
  'waits-for-approval': interrupted((talk, wire, prompt) => {
    talk.ask()
    heedCancel(talk, wire, prompt)
  }),
  'answers-after-cancel': interrupted(answerWhenCancelled),
  'is-deaf': interrupted((_talk, _wire, prompt) => {
    deaf()
    reached(prompt)
  }),
  'waits-for-a-word': interrupted(awaitWord),
  /** Says all prompts that it has had, one a piece. */
  remembers: (talk, _wire, prompt) => {
    heard.push(prompt)
    talk.begin()
    const said = heard.map((text) => `${text} `)
    pieces(talk, said)
    talk.finish(said.join(''))
    talk.done()
  },
}

/** What is done before the first prompt. */
export const PREPARE = {
  ...PREPARE_PROCESSES,
  ...PREPARE_WIRES,
  banner: (wire) => wire.line('Welcome to Agent 1.0'),
  'blank-lines-and-crlf': (wire) => {
    wire.before = '\r\n\n'
    wire.after = '\r\n'
  },
}

// The bytes of an agent: lines in, lines out.
import { writeSync } from 'node:fs'

/** What every line is ended with. */
const LF = '\n'
const same = (value) => value

export class Wire {
  /** Put in front of and behind every line. */
  before = ''
  after = LF
  /** What becomes of a message before it is JSON, of a line before its end, and of the bytes of both. */
  revise = same
  shape = same
  write = writeAll

  /** From here on nothing is odd about the lines. */
  behave() {
    this.before = ''
    this.after = LF
    this.revise = same
    this.shape = same
    this.write = writeAll
  }

  /** A JSON line. */
  send(value) {
    this.line(JSON.stringify(this.revise(value)))
  }

  line(text) {
    this.raw(`${this.before}${this.shape(text)}${this.after}`)
  }

  /** Text or bytes as they are, on the wire when this returns. */
  raw(text) {
    this.write(1, text)
  }

  /** Calls back with every line of the input; keeps the process alive as long as the input is open. */
  lines(take) {
    let rest = ''
    process.stdin.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()
      for (const line of lines) if (line.trim() !== '') take(JSON.parse(line))
    })
  }
}

/** A pipe that is full for the moment is tried again; one without a reader is no reason to die. */
export function writeAll(fd, text) {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      if (error.code !== 'EAGAIN') return
    }
  }
}

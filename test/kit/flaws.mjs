/**
 * Makes a broken agent out of a good one: `node --import flaws.mjs?RULE agent.mjs`. The flaw of the rule (`flaw-table.mjs`)
 * changes what the agent writes, line by line, how it exits, or whether it ends.
 */
import { FLAWS } from './flaw-table.mjs'

const write = process.stdout.write.bind(process.stdout)

const tools = {
  write,
  /** Changes every line: `change(line, object, index)` gives what is written instead, line ends included. */
  lines(change) {
    let index = -1
    process.stdout.write = (chunk) => {
      let isOk = true
      for (const line of String(chunk).split(/(?<=\n)/)) {
        let object = {}
        try {
          object = JSON.parse(line)
        } catch {}
        index += 1
        isOk = write([change(line, object, index)].flat().join(''))
      }
      return isOk
    }
  },
  /** Changes the objects that match. */
  edit(match, change) {
    this.lines((line, object) => (match(object) ? `${JSON.stringify(change(object))}\n` : line))
  },
  /** Changes what the agent reads: `change(chunk)` gives what it gets instead, `rest` what it gets at the end. */
  input(change, rest = () => '') {
    const { stdin } = process
    const emit = stdin.emit.bind(stdin)
    stdin.emit = (name, ...args) => {
      const text = name === 'data' ? change(args[0]) : name === 'end' ? rest() : ''
      if (text !== '') emit('data', text)
      return name === 'data' || emit(name, ...args)
    }
  },
  /** Never ends by itself from now on. */
  hang() {
    setInterval(() => {}, 1e6)
  },
  exitWith(code) {
    process.on('exit', () => {
      process.exitCode = code
    })
  },
}

FLAWS[decodeURIComponent(new URL(import.meta.url).search.slice(1))](tools)

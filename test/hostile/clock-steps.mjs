// Loaded before a gateway: its wall clock is set by what the file CLOCK_FILE says (milliseconds beside the machine's own)
// whenever it gets SIGUSR2; the file is removed then.
import { readFileSync, rmSync } from 'node:fs'

const file = process.env.CLOCK_FILE
const own = Date.now
let beside = 0

class SteppedDate extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [own() + beside] : given))
  }

  static now() {
    return own() + beside
  }
}

globalThis.Date = SteppedDate
process.on('SIGUSR2', () => {
  beside = Number(readFileSync(file, 'utf8'))
  rmSync(file)
})

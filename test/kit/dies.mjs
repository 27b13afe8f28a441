// Loaded before a gateway: kills it before or after the n-th statement of its store, counted from the first one that
// names a session.
import { StatementSync } from 'node:sqlite'

const { DIES_IN: session, DIES_WHEN: when, DIES_AT: at } = process.env
let steps = 0

function step(now) {
  if (now === when && steps === Number(at)) process.kill(process.pid, 'SIGKILL')
}

if (process.argv.includes('serve')) {
  for (const method of ['run', 'get', 'all']) {
    const original = StatementSync.prototype[method]
    StatementSync.prototype[method] = function (...parameters) {
      if (steps > 0 || parameters.includes(session)) steps += 1
      step('before')
      const result = original.apply(this, parameters)
      step('after')
      return result
    }
  }
}

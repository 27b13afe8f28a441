// A native agent that plays what its prompt says: a JSON array of stages, each an array of events. The first stage is
// said at once, each next one when a command (a steer, an answer, a cancel) comes while the turn runs, or when the same
// turn is begun once more.
import { onLine } from './lines.mjs'

/** In one write, so that what belongs together comes together. */
const say = (events) => process.stdout.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
let turn
let stages = []

const next = () => say((stages.shift() ?? []).map((event) => ({ turn, ...event })))

say([{ type: 'agent-ready' }])
onLine((line) => {
  const command = JSON.parse(line)
  if (command.type === 'turn-start' && command.turn !== turn) {
    turn = command.turn
    stages = JSON.parse(command.input.at(-1).text)
  }
  if (['turn-start', 'turn-steer', 'turn-cancel', 'ask-reply'].includes(command.type)) next()
})

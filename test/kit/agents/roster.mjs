// A native agent that notes in the file $ROSTER when its process comes and goes, and the turns that it has. A prompt
// that begins with `wait` is answered when the turn is steered.
import { appendFileSync } from 'node:fs'
import { onLine } from './lines.mjs'

const note = (text) => appendFileSync(process.env.ROSTER, `${text}\n`)
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const leave = () => {
  note(`out ${process.pid}`)
  process.exit()
}
let turn

function answer() {
  say({ type: 'text-delta', turn, message: 'm', text: `pid ${process.pid}` })
  say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
}

note(`in ${process.pid}`)
process.on('SIGTERM', leave)
process.stdin.on('end', leave)
say({ type: 'agent-ready' })
onLine((line) => {
  const command = JSON.parse(line)
  if (command.type === 'turn-start') {
    turn = command.turn
    const [{ text }] = command.input
    note(`turn ${text}`)
    if (!text.startsWith('wait')) answer()
  } else if (command.type === 'turn-steer') answer()
  else if (command.type === 'turn-cancel') say({ type: 'turn-end', turn, outcome: 'cancelled' })
})

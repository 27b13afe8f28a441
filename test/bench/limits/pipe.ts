/** The limit of all: the bytes of an agent over its pipe, counted and thrown away. argv: milliseconds, command, arguments. */
import { spawn } from 'node:child_process'

const [ms = '500', command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const prompt = `${JSON.stringify({ id: '1', type: 'prompt', message: 'x' })}\n`
const DONE = '"type":"done"}\n'
let [tail, turns] = ['', 0]
const begin = performance.now()

child.stdout.setEncoding('latin1')
child.stdout.on('data', (text: string) => {
  tail = (tail + text).slice(-DONE.length)
  if (tail !== DONE) return
  turns += 1
  if (performance.now() - begin < Number(ms)) child.stdin.write(prompt)
  else {
    process.stdout.write(`${JSON.stringify({ turns, seconds: (performance.now() - begin) / 1000 })}\n`)
    child.kill()
  }
})
child.stdin.write(prompt)

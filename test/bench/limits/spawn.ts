/**
 * The limit of a process a turn: started directly, `n` at once. argv: milliseconds, n,
 * the input of each, command, arguments.
 */
import { spawn } from 'node:child_process'

const [ms = '500', width = '8', input = '', command = '', ...args] = process.argv.slice(2)
const begin = performance.now()
let turns = 0

function run(): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { PATH: process.env['PATH'], AGENT_MESSAGE: 'tick' }, detached: true })
    child.stdin.end(input === '' ? undefined : input)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', () => {})
    child.on('close', () => resolve())
  })
}

async function work(): Promise<void> {
  while (performance.now() - begin < Number(ms)) {
    await run()
    turns += 1
  }
}

await Promise.all(Array.from({ length: Number(width) }, work))
process.stdout.write(`${JSON.stringify({ turns, seconds: (performance.now() - begin) / 1000 })}\n`)

/**
 * The starter: a program that starts agents for its gateway. A process is started by a copy of the one that starts it,
 * and a small process is copied in a fraction of the time, in which a gateway would do nothing else. The gateway has made
 * the agent's pipes; their far ends are opened here through /proc and handed to the agent, so that nothing an agent says
 * goes through this process. The end of its input means that the gateway is gone: then it ends the agents that still run.
 */
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { errorCode, NO_ROOM } from './spawn-fault.ts'
import { messageReader, type StarterOrder, type StarterReport, type StarterSetup } from './starter-wire.ts'

/** How long agents of a gateway that is gone may take to end, in milliseconds: less than the reaper waits for us. */
const GRACE_MS = 800

let gateway = 0
let isOver = false
/** The process groups of the agents that run. */
const groups = new Set<number>()

function report(...message: StarterReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** Opens a descriptor of the gateway again: this one is nobody else's, and no flag of the gateway's own end is on it. */
function openEnd(fd: number, flags: number): number {
  try {
    return openSync(`/proc/${gateway}/fd/${fd}`, flags)
  } catch (error) {
    // Any other reason would be taken for one of the command.
    throw NO_ROOM.has(errorCode(error)) ? error : Object.assign(new Error('no such stream'), { code: 'ESTARTER' })
  }
}

function start({ id, ends, command, args, cwd, env }: StarterOrder): void {
  const stdio: number[] = []
  try {
    for (const [at, fd] of ends.entries()) stdio.push(openEnd(fd, at === 0 ? constants.O_RDONLY : constants.O_WRONLY))
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio })
    const { pid } = child
    child.on('error', (error) => {
      if (pid === undefined) report('failed', id, errorCode(error))
    })
    if (pid !== undefined) {
      groups.add(pid)
      report('started', id, pid)
    }
    child.on('exit', (exitCode, signal) => {
      if (pid !== undefined && !isOver) groups.delete(pid)
      report('exited', id, exitCode, signal)
    })
  } catch (error) {
    report('failed', id, errorCode(error))
  }
  for (const fd of stdio) closeSync(fd)
}

/** Takes orders once it has seen that the gateway's descriptors can be opened. */
function prepare(setup: StarterSetup): void {
  gateway = setup.gateway
  try {
    closeSync(openEnd(setup.probe, constants.O_RDONLY))
    report('ready')
  } catch {
    process.exit(1)
  }
}

/** The gateway is gone: its agents are told to end, then ended with all that is left of their groups. */
function end(): void {
  isOver = true
  if (groups.size === 0) process.exit()
  signal('SIGTERM')
  setTimeout(() => {
    signal('SIGKILL')
    process.exit()
  }, GRACE_MS)
}

function signal(name: NodeJS.Signals): void {
  for (const group of groups) {
    try {
      process.kill(-group, name)
    } catch {
      // Nothing is left of it.
    }
  }
}

// Only the end of its gateway ends it, so that no agent outlives both.
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => {})
process.stdout.on('error', () => {})
process.stdin.on('error', () => {})
process.stdin.on('close', end)
process.stdin.setEncoding('utf8').on(
  'data',
  messageReader<StarterSetup | StarterOrder>((message) => {
    if ('gateway' in message) prepare(message)
    else if (!isOver) start(message)
  }),
)

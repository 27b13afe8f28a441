/**
 * The starter: a program that starts agents for its gateway. Starting a process copies the starting one, and a small
 * process is copied in a fraction of the time that would block a gateway. The gateway makes the agent's pipes. This
 * process opens their far ends through /proc and passes them to the agent, so that no output of an agent goes through
 * it. The end of its input means that the gateway is gone: then it ends the agents that still run.
 */
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { errorCode, NO_ROOM } from './spawn-fault.ts'
import { messageReader, type StarterOrder, type StarterReport, type StarterSetup } from './starter-wire.ts'

/** Grace for the agents of a gateway that is gone, in milliseconds: less than the reaper gives this process. */
const GRACE_MS = 800

let gateway = 0
let isOver = false
/** The process groups of the agents that run. */
const groups = new Set<number>()

function report(...message: StarterReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** Opens a descriptor of the gateway again, so that it is not shared and has none of the gateway's flags. */
function openEnd(fd: number, flags: number): number {
  try {
    return openSync(`/proc/${gateway}/fd/${fd}`, flags)
  } catch (error) {
    // Any other error would be taken for an error of the command.
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
      if (isOver && !isAnyLeft()) process.exit()
    })
  } catch (error) {
    report('failed', id, errorCode(error))
  }
  for (const fd of stdio) closeSync(fd)
}

/** Reports that it takes orders, when the gateway's descriptors can be opened. */
function prepare(setup: StarterSetup): void {
  gateway = setup.gateway
  try {
    closeSync(openEnd(setup.probe, constants.O_RDONLY))
    report('ready')
  } catch {
    process.exit(1)
  }
}

/** The gateway is gone: its agents get SIGTERM, and what is left of their groups later SIGKILL. */
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

function isAnyLeft(): boolean {
  for (const group of groups) {
    try {
      process.kill(-group, 0)
      return true
    } catch {
      // Nothing is left of it.
    }
  }
  return false
}

// Signals do not end it, only the end of its gateway, so that no agent outlives both.
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

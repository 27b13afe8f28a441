/**
 * The starter: a program that starts agents for its gateway. A process is started by a copy of the one that starts it,
 * and a small process is copied in a fraction of the time, in which a gateway would do nothing else. It makes the
 * streams of an agent as connections to the gateway and hands their other ends to the agent, so that nothing an agent
 * says goes through it. The end of its input means that the gateway is gone: then it ends the agents that still run.
 */
import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import {
  type Channel,
  connectionHead,
  messageReader,
  NO_AGENT,
  removeFolder,
  type StarterOrder,
  type StarterReport,
  type StarterSetup,
} from './starter-wire.ts'

/** How long agents of a gateway that is gone may take to end, in milliseconds: less than the reaper waits for us. */
const GRACE_MS = 800

let setup: StarterSetup | undefined
/** A stdin at its end. Nothing can come through it, so one is enough for all agents without input. */
let noInput: Socket
let isOver = false
/** The process groups of the agents that run. */
const groups = new Set<number>()

function report(...message: StarterReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** A stream of an agent, paused: what comes on it is for the agent to read. `then` is told when it is connected. */
function stream(id: number, channel: Channel, then: (error?: Error) => void): Socket {
  const { path, secret } = setup!
  const connected = connect(path, () => {
    connected.write(connectionHead(secret, id, channel))
    // A line into an empty buffer goes at once, before anything of the agent.
    then(connected.writableLength === 0 ? undefined : new Error('The line was not taken.'))
  })
  connected.on('error', then)
  return connected.pause()
}

/** Connects the streams of an agent, then starts it. */
function take(order: StarterOrder): void {
  const { id, input } = order
  let missing = input ? 3 : 2
  const then = (error?: Error): void => {
    if (missing === 0) return
    missing = error ? 0 : missing - 1
    if (error) refuse(order, streams, error)
    else if (missing === 0) start(order, streams)
  }
  const streams: Socket[] = [
    ...(input ? [stream(id, 'in', then)] : []),
    stream(id, 'out', then),
    stream(id, 'err', then),
  ]
}

function start(order: StarterOrder, streams: readonly Socket[]): void {
  const { id, input, command, args, cwd, env } = order
  if (isOver) {
    release(streams)
    return
  }
  try {
    const stdio = input ? [...streams] : [noInput, ...streams]
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio })
    const { pid } = child
    child.on('error', (error) => {
      if (pid === undefined) report('failed', id, codeOf(error))
    })
    if (pid !== undefined) {
      groups.add(pid)
      report('started', id, pid)
    }
    child.on('exit', (exitCode, signal) => {
      if (pid !== undefined && !isOver) groups.delete(pid)
      report('exited', id, exitCode, signal)
    })
    release(streams)
  } catch (error) {
    refuse(order, streams, error)
  }
}

function refuse({ id }: StarterOrder, streams: readonly Socket[], error: unknown): void {
  release(streams)
  report('failed', id, codeOf(error))
}

function release(streams: readonly Socket[]): void {
  for (const stream of streams) stream.destroy()
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** The gateway is gone: its agents are told to end, then ended with all that is left of their groups. */
function end(): void {
  isOver = true
  if (setup) removeFolder(dirname(setup.path))
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
    if ('secret' in message) {
      setup = message
      noInput = stream(NO_AGENT, 'in', (error) => {
        if (error) process.exit(1)
        else report('ready')
      })
    } else if (!isOver) take(message)
  }),
)

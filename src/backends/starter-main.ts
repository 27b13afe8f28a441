/**
 * The starter: a program that starts agents for its gateway. A process is started by a copy of the one that starts it,
 * and a small process is copied in a fraction of the time, in which a gateway would do nothing else. It makes the
 * streams of an agent as connections to the gateway and hands their other ends to the agent, so that nothing an agent
 * says goes through it. The end of its input means that the gateway is gone: then it ends the agents that still run.
 */
import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import {
  type Channel,
  connectionHead,
  messageReader,
  NO_AGENT,
  removeSocket,
  type StarterMessage,
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

/** Agents whose streams the gateway does not have yet. */
const pending = new Map<number, { order: StarterOrder; streams: readonly Socket[] }>()

/** A connection to the gateway; `then` is told when it is made, or what went wrong with it until it is given away. */
function stream(id: number, channel: Channel, then: (error?: Error) => void): Socket {
  const { path, secret } = setup!
  const connected = connect(path, () => {
    connected.write(connectionHead(secret, id, channel))
    // A line into an empty buffer goes at once, before anything of the agent.
    then(connected.writableLength === 0 ? undefined : new Error('The line was not taken.'))
  })
  return connected.on('error', then)
}

/** Connects the streams of an agent, which is started when the gateway has them. It has not when it closes one. */
function take(order: StarterOrder): void {
  const { id, input } = order
  const then = (error?: Error): void => {
    if (error) refuse(id, error)
  }
  const channels: readonly Channel[] = input ? ['in', 'out', 'err'] : ['out', 'err']
  const streams = channels.map((channel) => stream(id, channel, then).resume())
  for (const one of streams) one.on('close', () => refuse(id, NOT_ACCEPTED))
  pending.set(id, { order, streams })
}

/** Why the gateway closes a connection that it has asked for: it has no descriptor for it, or does not want it any more. */
const NOT_ACCEPTED = Object.assign(new Error('The connection was closed.'), { code: 'EMFILE' })

function go(id: number): void {
  const ready = pending.get(id)
  pending.delete(id)
  if (ready) start(ready.order, ready.streams)
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
    release(streams)
    report('failed', id, codeOf(error))
  }
}

function refuse(id: number, error: NodeJS.ErrnoException): void {
  const refused = pending.get(id)
  if (!refused) return
  pending.delete(id)
  release(refused.streams)
  // A connection that is closed before its first line is read is reset.
  report('failed', id, error.code === 'ECONNRESET' || error.code === 'EPIPE' ? NOT_ACCEPTED.code : codeOf(error))
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
  if (setup) removeSocket(setup.path)
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
  messageReader<StarterSetup | StarterMessage>((message) => {
    if ('secret' in message) {
      setup = message
      noInput = stream(NO_AGENT, 'in', (error) => {
        if (error) process.exit(1)
        else report('ready')
      })
      noInput.pause()
    } else if ('go' in message) go(message.go)
    else if (!isOver) take(message)
  }),
)

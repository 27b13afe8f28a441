import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Backend, Call, CallSink, Carrier } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'
import { startDirectly } from './direct-process.ts'
import { agentEnvironment, processEnvironment } from './environment.ts'
import { failedCall } from './failed.ts'
import { serveFile } from './files.ts'
import { ProcessCall } from './process-call.ts'
import { gatewayReaper } from './reaper.ts'
import type { Launch } from './spawn-fault.ts'
import type { Starter } from './starter.ts'
import { isWithin } from './within.ts'

/** The settings of an agent that is a program. */
export interface ProcessConfig {
  /** Looked up on the agent's `PATH` when it has no slash; a relative path with one counts from `cwd`. */
  command: string
  args: readonly string[]
  /** A program with arguments that runs the command, which it gets as further arguments. */
  wrap?: readonly string[]
  /** Absolute folder that the process runs in. */
  cwd: string
  /** The agent's own variables. */
  env: Readonly<Record<string, string>>
  /** Names of the gateway's variables to pass on besides the minimal set. */
  inherit?: readonly string[]
  /** The gateway's environment. */
  hostEnv: Readonly<Record<string, string | undefined>>
  /** Absolute folders in which a call may choose its working directory. Absent: any. `cwd` itself is always allowed. */
  roots?: readonly string[]
  /** Starts the processes of a long-lived gateway; without it they are started directly. */
  starter?: Starter
}

type ProcessCallOf = Extract<Call, { kind: 'process' }>

/**
 * A backend of processes on this machine. Each is started from an argument list, never through a shell, leads its own
 * process group, and gets no more of the gateway's environment than the minimal set and `inherit`.
 */
export function processBackend(config: ProcessConfig): Backend {
  const running: ProcessCall[] = []
  const idle: (() => void)[] = []
  const cwd = resolve(config.cwd)
  const env = agentEnvironment({ host: config.hostEnv, inherit: config.inherit ?? [], configured: config.env })
  let closed = false
  const onEnd = (call: ProcessCall) => {
    const at = running.indexOf(call)
    if (at >= 0) running.splice(at, 1)
    if (running.length === 0) for (const resume of idle.splice(0)) resume()
  }
  return {
    open(call, sink, trace) {
      if (call.kind !== 'process') return failedCall(WRONG_KIND, sink, call.call)
      if (closed) return failedCall(CLOSED, sink, call.call)
      const launch = {
        command: call.command ?? config.command,
        cwd: call.cwd === undefined ? cwd : resolve(cwd, call.cwd),
      }
      const refused = refusal(launch, config)
      if (refused) return failedCall(refused, sink, call.call)
      const handle = start({ config, env, launch, onEnd }, call, sink, trace)
      running.push(handle)
      return handle
    },
    file: serveFile,
    isWithin: isReallyWithin,
    async close(graceMs) {
      closed = true
      if (running.length === 0) return
      const ended = new Promise<void>((done) => idle.push(done))
      for (const call of [...running]) call.stop('cancelled', graceMs)
      await ended
    },
  }
}

const WRONG_KIND = fault(
  'internal',
  'The agent is configured as a command, but its protocol asked for an HTTP call; configure a `url` for it.',
)
const CLOSED = fault('agent-unavailable', 'The gateway is shutting down; try again when it is back.')

/** The parts of a start that are not in the call. */
interface StartParts {
  config: ProcessConfig
  /** The environment that all processes of the agent have. */
  env: Readonly<Record<string, string>>
  launch: Launch
  onEnd(call: ProcessCall): void
}

function start(
  { config, env, launch, onEnd }: StartParts,
  call: ProcessCallOf,
  sink: CallSink,
  trace: Carrier,
): ProcessCall {
  const reaper = gatewayReaper()
  const cookie = reaper.cookie()
  const [command = '', ...args] = [...(config.wrap ?? []), launch.command, ...(call.args ?? config.args)]
  const agent = {
    command,
    args,
    cwd: launch.cwd,
    env: processEnvironment(env, { env: call.env ?? {}, trace, cookie }),
  }
  const handle = new ProcessCall({
    start: (events) => config.starter?.start(agent, events) ?? startDirectly(agent, events, reaper),
    launch: { command, cwd: launch.cwd },
    call: call.call,
    sink,
    onEnd(ended, doubtful) {
      if (doubtful) reaper.sweep(cookie)
      onEnd(ended)
    },
  })
  // After the frames of the same synchronous step.
  if (call.stdin === 'end') setImmediate(() => handle.endInput())
  return handle
}

/** The reason to refuse a launch before anything is started. */
function refusal({ command, cwd }: Launch, { cwd: configured, roots }: ProcessConfig): Fault | undefined {
  if (command === '')
    return fault('agent-unavailable', 'The agent has no command; configure a `command` for it.', { retryable: false })
  if (!roots || cwd === resolve(configured)) return undefined
  // The start itself refuses a missing folder, with a clearer message.
  if (isReallyWithin(cwd, roots)) return undefined
  return fault(
    'forbidden',
    'The requested working directory is outside the folders that the agent may run in; choose another or add it to `workspaces`.',
  )
}

function isReallyWithin(path: string, roots: readonly string[]): boolean {
  const real = realPath(path)
  return real === undefined || roots.some((root) => isWithin(real, realPath(root)))
}

/** The path without symbolic links, undefined when nothing is there. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

import { accessSync, constants, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Fault, fault } from '../model/index.ts'

/** A process that was to be started. */
export interface Launch {
  command: string
  cwd: string
}

/** The error codes of a system that has no room for another process at the moment. */
export const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** The error code that the starter reported, or `ESTARTER` when it ended without a report. */
export class StarterError extends Error {
  readonly code: string

  constructor(code: string) {
    super(`The agent could not be started: ${code}.`)
    this.code = code
  }
}

/**
 * The fault of a process that could not be started. `error` is from `spawn`; its message may quote an argument, so only
 * its code is used. Neither paths nor values get into the message: it may reach a client.
 */
export function spawnFault(error: unknown, launch: Launch): Fault {
  const code = errorCode(error)
  const name = `"${nameOf(launch)}"`
  if (NO_ROOM.has(code)) {
    return overloaded(name, `the system has no room for another process (${code})`, 'try again later or run fewer')
  }
  switch (code) {
    case 'E2BIG':
      return fault(
        'payload-too-large',
        `The arguments and environment of ${name} are larger than the operating system allows; ` +
          'send less, or let the agent read the message from its standard input.',
      )
    case 'ERR_INVALID_ARG_VALUE':
      return fault(
        'invalid-request',
        `An argument or environment variable of ${name} holds a NUL character, which no process can be given; remove it.`,
      )
    case 'ESTARTER':
      return overloaded(name, 'the process that starts agents has ended', 'try again')
  }
  return cwdFault(name, launch.cwd) ?? commandFault(code, name, launch)
}

/** The code of a system or Node error, such as `ENOENT`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
}

/** The file's name. For a command line in place of a command, only its first word: the others are arguments. */
function nameOf({ command, cwd }: Launch): string {
  return isCommandLine(command, cwd) ? `${basename(command.trimStart().split(/\s/, 1)[0]!)} …` : basename(command)
}

/** True for several words that together are not the name of a file. */
function isCommandLine(command: string, cwd: string): boolean {
  return /\S\s+\S/.test(command) && kindOf(resolve(cwd, command)) === 'missing'
}

function unavailable(name: string, what: string, remedy: string): Fault {
  return fault('agent-unavailable', `The agent command ${name} could not be started: ${what}; ${remedy}.`)
}

/** A fault of this machine, which says nothing about the agent: its circuit stays closed. */
function overloaded(name: string, what: string, remedy: string): Fault {
  return { ...unavailable(name, what, remedy), code: 'overloaded' }
}

/** A fault that repeats until the configuration or the installation is corrected. */
function misconfigured(name: string, what: string, remedy: string): Fault {
  return { ...unavailable(name, what, remedy), retryable: false }
}

function cwdFault(name: string, cwd: string): Fault | undefined {
  const kind = kindOf(cwd)
  if (kind === 'missing')
    return misconfigured(name, 'its working directory does not exist', 'create it or correct `cwd`')
  if (kind === 'file') return misconfigured(name, 'its working directory is not a directory', 'correct `cwd`')
  if (allows(cwd)) return undefined
  return misconfigured(name, 'its working directory may not be entered', 'change its permissions or correct `cwd`')
}

function commandFault(code: string, name: string, { command, cwd }: Launch): Fault {
  const bare = !command.includes('/')
  const kind = bare ? 'missing' : kindOf(resolve(cwd, command))
  if (kind === 'directory') return misconfigured(name, 'it is a directory', 'correct `command`')
  if (code === 'EACCES') return misconfigured(name, 'it is not executable', 'run chmod +x on it or correct `command`')
  if (code !== 'ENOENT') return unavailable(name, `the system said ${code}`, 'run it by hand to see why')
  if (isCommandLine(command, cwd))
    return misconfigured(name, '`command` is a program and holds no arguments', 'put them into `args`')
  if (bare)
    return misconfigured(
      name,
      'it is not on the PATH',
      'install it or give its full path as `command`, then run turnpike check',
    )
  if (kind === 'missing') return misconfigured(name, 'there is no such file', 'install it or correct `command`')
  return misconfigured(
    name,
    'the interpreter that its first line names does not exist',
    'install that or correct the line',
  )
}

function kindOf(path: string): 'missing' | 'directory' | 'file' {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 'missing'
  return stat.isDirectory() ? 'directory' : 'file'
}

/** True when a directory may be entered. */
function allows(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

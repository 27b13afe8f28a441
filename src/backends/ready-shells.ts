import { writeSync } from 'node:fs'
import type { AgentStart } from './agent-process.ts'
import { type AgentPipes, closePipes, type PipeSupply } from './pipes.ts'

/** So many wait. */
const AHEAD = 2
/** As much as a pipe takes at once, however little room the system gives it (`PIPE_BUF`), in bytes. */
const LONGEST = 4096
/** So many commands are remembered. */
const MAX_KNOWN = 100
/**
 * Names that a shell can export. Those that have a meaning in some shell, or may not be set there, are not among them, nor
 * is the variable of `BECOME`.
 */
const NAME = /^(?!(?:BASH.*|E?UID|PPID|SHELLOPTS|OPTIND|LINENO|word)$)[A-Za-z_]\w*$/

/**
 * Variables that a shell gets at its start, with the values of the last agent, which most others share: a shell reads each
 * character with a system call of its own, and these are half of what it would read. None has a meaning to the script.
 */
const SHARED = ['PATH', 'HOME', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR'] as const

type Variables = Readonly<Record<string, string>>

/** The signals by which a shell ends that could not become the agent, which nothing else sends, with the reason. */
const FAILURES: Readonly<Record<string, string>> = { SIGSTKFLT: 'ENOENT', SIGPWR: 'EACCES' }

/**
 * The script of a shell, which turns into the program that its fourth pipe describes. The lines there are the folder; the names
 * of variables to remove; the variables to set; the command and its arguments, each with a `-` before it. An empty line ends
 * each of the last three groups. The shell never interprets these lines. If it cannot turn into the program, it ends by a
 * signal, which is given by number, because not every shell knows the names. `$?` is 126 for a file that is not executable.
 */
const BECOME = `IFS= read -r word <&3 || exit 0
trap '[ $? = 126 ] && kill -30 $$; kill -16 $$' EXIT
cd -- "$word" || exit
unset PWD OLDPWD
while IFS= read -r word <&3 && [ "$word" ]; do unset "$word"; done
while IFS= read -r word <&3 && [ "$word" ]; do export "$word"; done
while IFS= read -r word <&3 && [ "$word" ]; do set -- "$@" "\${word#-}"; done
exec "$@" 3<&-`

/** A shell that waits for the words that make it an agent. */
export interface ReadyShell {
  id: number
  pid: number
  pipes: AgentPipes
  /** The environment that it was started with. */
  env: Variables
}

/** Starts a program on these descriptors and returns the id of its reports. */
type Order = (program: AgentStart, ends: readonly number[]) => number

/**
 * Shells that were started ahead, each on the pipes of an agent. Told what to run, a shell becomes that program: the
 * turn waits neither for the starter nor for the copy of its page tables. Only a command that was started before is
 * given to one, because a shell does not say exactly why it cannot start it.
 */
export class ReadyShells {
  readonly #order: Order
  readonly #supply: PipeSupply
  readonly #starting = new Map<number, Pick<ReadyShell, 'pipes' | 'env'>>()
  readonly #ready: ReadyShell[] = []
  /** Agents that were ordered and not reported yet. */
  readonly #ordered = new Map<number, AgentStart>()
  readonly #known = new Set<string>()
  /** The shared variables of the last agent. */
  #env: Variables = {}
  #closed = false

  constructor(order: Order, supply: PipeSupply) {
    this.#order = order
    this.#supply = supply
  }

  /** Orders the shells that are missing. */
  prepare(): void {
    for (let count = this.#starting.size + this.#ready.length; count < AHEAD; count += 1) {
      this.#supply.take((taken) => {
        if (taken && !(taken instanceof Error)) this.#start(taken)
      }, 1)
    }
  }

  /** An agent was ordered: when it has been started, others like it need no order. */
  expect(id: number, agent: AgentStart): void {
    this.#ordered.set(id, agent)
  }

  /** Makes a shell the agent. Undefined when none is ready, or it cannot be started so. */
  take(agent: AgentStart): ReadyShell | undefined {
    const [shell] = this.#ready
    if (!shell || !this.#known.has(keyOf(agent))) return undefined
    const words = wordsOf(agent, shell.env)
    if (words === undefined) return undefined
    this.#ready.shift()
    this.#env = sharedOf(agent)
    const [stdin, stdout, stderr, ...more] = shell.pipes
    for (const { write } of more) writeSync(write, words)
    closePipes(more)
    return { ...shell, pipes: [stdin, stdout, stderr] }
  }

  /** The program with this id has been started. False when it is none of these shells. */
  started(id: number, pid: number): boolean {
    const agent = this.#ordered.get(id)
    if (agent) this.#learn(agent)
    this.#ordered.delete(id)
    const shell = this.#starting.get(id)
    if (!shell) return false
    this.#starting.delete(id)
    this.#ready.push({ id, pid, ...shell })
    return true
  }

  /** The program with this id has ended, or could not be started. False when it is no shell that waits. */
  ended(id: number): boolean {
    this.#ordered.delete(id)
    const at = this.#ready.findIndex((shell) => shell.id === id)
    const shell = this.#starting.get(id) ?? this.#ready[at]
    if (!shell) return false
    this.#starting.delete(id)
    if (at >= 0) this.#ready.splice(at, 1)
    closePipes(shell.pipes)
    return true
  }

  /** Ends those that wait: they end with their fourth pipes. */
  close(): void {
    this.#closed = true
    for (const { pipes } of [...this.#starting.values(), ...this.#ready]) closePipes(pipes)
    this.#starting.clear()
    this.#ready.length = 0
  }

  #learn(agent: AgentStart): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.add(keyOf(agent))
    this.#env = sharedOf(agent)
  }

  #start(pipes: AgentPipes): void {
    if (this.#closed) {
      closePipes(pipes)
      return
    }
    const ends = pipes.map(({ read, write }, at) => (at === 1 || at === 2 ? write : read))
    const env = this.#env
    const id = this.#order({ command: '/bin/sh', args: ['-c', BECOME, 'turnpike-shell'], cwd: '/', env }, ends)
    this.#starting.set(id, { pipes, env })
  }
}

/** The error code of a shell that ended by this signal because it could not become the agent. */
export function failureOf(signal: string | null): string | undefined {
  return signal === null ? undefined : FAILURES[signal]
}

/** Identifies what decides whether an agent can be started. */
function keyOf({ command, cwd, env }: AgentStart): string {
  return [command, cwd, env['PATH']].join('\0')
}

/** The shared variables of an agent that it has. */
function sharedOf({ env }: AgentStart): Variables {
  return Object.fromEntries(SHARED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

/** The lines of an agent that a shell with the environment `given` reads. Undefined when it cannot become it. */
function wordsOf({ command, args, cwd, env }: AgentStart, given: Variables): string | undefined {
  if (command.startsWith('-') || !Object.keys(env).every((name) => NAME.test(name))) return undefined
  const removed = Object.keys(given).filter((name) => env[name] === undefined)
  const exported = Object.entries(env).flatMap(([name, value]) => (given[name] === value ? [] : [`${name}=${value}`]))
  const words = [cwd, ...removed, '', ...exported, '', ...[command, ...args].map((word) => `-${word}`), '']
  const text = `${words.join('\n')}\n`
  const isLines = words.every((word) => !/[\n\0]/.test(word))
  return isLines && Buffer.byteLength(text) <= LONGEST ? text : undefined
}

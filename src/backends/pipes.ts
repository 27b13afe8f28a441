import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { errorCode, NO_ROOM } from './spawn-fault.ts'

/** The two ends of a pipe, as descriptors of this process. */
export interface Pipe {
  read: number
  write: number
}

/** The pipes of one agent: its stdin, stdout and stderr. */
export type AgentPipes = readonly [stdin: Pipe, stdout: Pipe, stderr: Pipe]

/**
 * The pipes of an agent; an error when the system has no room for them now; undefined when pipes cannot be made at all.
 */
export type Taken = AgentPipes | Error | undefined

const EACH = 3
/** A process keeps one agent's pipes for so many files that it may open, so that connections find room. */
const FILES_EACH = 64
/** The descriptors of the shell that hold the pipes, those of two agents: it has no other names for more. */
const HELD = [3, 4, 5, 6, 7, 8]
/** After this many makers in a row that ended without a pipe, pipes count as impossible. */
const MAX_FAILURES = 3

/**
 * Makes pipes, which Node.js cannot: a shell that is given a short here-document makes a pipe for it, at the price of
 * two system calls. After the first line of input it holds a pipe in each of its descriptors and reports that; after
 * the second it closes them.
 */
const SCRIPT = `
while read -r _; do
exec ${HELD.map((fd) => `${fd}<<E`).join(' ')}
${'E\n'.repeat(HELD.length)}echo
read -r _ || exit
exec ${HELD.map((fd) => `${fd}<&-`).join(' ')}
done
`

/**
 * The pipes that agents get as their standard streams, as other runners give them: Node's own are sockets, which a
 * program cannot open as /dev/stderr. The pipes are opened through /proc. Without /proc, or when the shell makes no
 * pipes, agents get sockets.
 */
export class PipeSupply {
  readonly #pipes: Pipe[] = []
  readonly #waiting: ((taken: Taken) => void)[] = []
  #stock = 0
  #maker: ChildProcess | undefined
  #requested = false
  #impossible = process.platform !== 'linux'
  #failures = 0
  readonly #shell: string

  /** `pipes` are the first ones; `shell` makes the others. */
  constructor(pipes: readonly Pipe[] = [], shell = '/bin/sh') {
    this.#pipes.push(...pipes)
    this.#shell = shell
  }

  /** From now on, makes the pipes of this many agents ahead, of fewer when the process may open few files. */
  keep(agents: number, files = maxOpenFiles()): void {
    this.#stock = Math.min(agents, Math.floor(files / FILES_EACH)) * EACH
    this.#serve()
  }

  /** Gives the pipes of an agent to `then`, at once when they are ready. The caller closes them. */
  take(then: (taken: Taken) => void): void {
    this.#waiting.push(then)
    this.#serve()
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#pipes.length >= EACH) {
      const [stdin, stdout, stderr] = this.#pipes.splice(0, EACH)
      if (stdin && stdout && stderr) this.#waiting.shift()!([stdin, stdout, stderr])
    }
    if (this.#impossible) this.#refuse(undefined)
    else if (this.#waiting.length > 0 || this.#pipes.length < this.#stock) this.#request()
    // A caller that waits for a pipe keeps the process alive, a stock does not.
    const stdout = this.#maker?.stdout as Socket | undefined
    if (this.#waiting.length > 0) stdout?.ref()
    else stdout?.unref()
  }

  #refuse(why: Error | undefined): void {
    for (const then of this.#waiting.splice(0)) then(why)
  }

  #request(): void {
    if (this.#requested) return
    this.#requested = true
    try {
      this.#maker ??= this.#start()
      this.#maker.stdin?.write('\n')
    } catch (error) {
      // Some systems without room for a process throw at once.
      setImmediate(() => this.#ended(error))
    }
  }

  #start(): ChildProcess {
    const maker = spawn(this.#shell, ['-c', SCRIPT, 'turnpike-pipes'], {
      cwd: '/',
      env: {},
      // In its own session no signal of a terminal reaches it; it ends with its input.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const over = (error?: unknown): void => {
      if (this.#maker === maker) this.#ended(error)
    }
    maker.on('error', over)
    maker.on('exit', () => over())
    maker.unref()
    for (const stream of [maker.stdin, maker.stdout] as (Socket | undefined)[]) stream?.on('error', () => {}).unref()
    maker.stdout?.on('data', () => this.#made(maker.pid!))
    return maker
  }

  #made(pid: number): void {
    let why: unknown
    try {
      for (const fd of HELD) this.#pipes.push(openPipe(`/proc/${pid}/fd/${fd}`))
    } catch (error) {
      why = error
    }
    // Corked, so that a line that requests the next pipes goes out in the same write.
    const orders = this.#maker?.stdin
    orders?.cork()
    orders?.write('\n')
    this.#requested = false
    this.#failures = 0
    if (why === undefined) this.#serve()
    else this.#failed(why)
    orders?.uncork()
  }

  #ended(error: unknown): void {
    this.#maker = undefined
    this.#requested = false
    this.#failures += 1
    if (this.#failures === MAX_FAILURES) this.#impossible = true
    if (error === undefined) this.#serve()
    else this.#failed(error)
  }

  /** A lack of room may pass; every other reason is permanent. */
  #failed(why: unknown): void {
    if (NO_ROOM.has(errorCode(why))) this.#refuse(why as Error)
    else {
      this.#impossible = true
      this.#serve()
    }
  }
}

/** Opens both ends of a pipe that another process holds, so that neither is shared with it. */
function openPipe(path: string): Pipe {
  const read = openSync(path, constants.O_RDONLY)
  try {
    // Shells that keep here-documents in files make no pipe.
    if (!fstatSync(read).isFIFO()) throw new Error('not a pipe')
    return { read, write: openSync(path, constants.O_WRONLY) }
  } catch (error) {
    closeSync(read)
    throw error
  }
}

/** The number of files that this process may have open; without /proc the least that systems give. */
function maxOpenFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    return 256
  }
}

/** Closes both ends of pipes. */
export function closePipes(pipes: readonly Pipe[]): void {
  for (const { read, write } of pipes) for (const fd of [read, write]) closeSync(fd)
}

/**
 * The pipes that the launcher script made by its own here-documents before it became this process. `TURNPIKE_PIPES`
 * names the process, so that a process that inherited the variable ignores it.
 */
function launchedPipes(): Pipe[] {
  if (process.env['TURNPIKE_PIPES'] !== String(process.pid)) return []
  delete process.env['TURNPIKE_PIPES']
  return [3, 4, 5].flatMap((read) => {
    try {
      const write = openSync(`/proc/self/fd/${read}`, constants.O_WRONLY)
      if (fstatSync(read).isFIFO()) return [{ read, write }]
      closeSync(write)
    } catch {
      // There is no /proc.
    }
    return []
  })
}

let shared: PipeSupply | undefined

/** The one supply of this process. */
export function gatewayPipes(): PipeSupply {
  shared ??= new PipeSupply(launchedPipes())
  return shared
}

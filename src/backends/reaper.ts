import { type ChildProcess, spawn } from 'node:child_process'
import { COOKIE } from './environment.ts'
import { errorCode, NO_ROOM } from './spawn-fault.ts'

/**
 * The sidecar. It reads one order a line: `+GROUP` and `-GROUP` keep the list of process groups, `=COOKIE` kills what
 * one call left behind. The end of its input means that the gateway is gone, for whatever reason. Then the remaining
 * groups get SIGTERM, a second later SIGKILL, and every other process with a cookie of the gateway is killed. It scans
 * until it finds nothing, because a process may fork during a scan. Without /proc only the groups are found.
 */
const SCRIPT = `
trap '' TERM INT HUP
run=$1
groups=
signal() { for group in $groups; do kill -s "$1" -- "-$group"; done 2>/dev/null; }
sweep() {
  for round in 1 2 3 4 5; do
    found=$(grep -lsF "${COOKIE}=$1" /proc/[0-9]*/environ)
    [ -n "$found" ] || return 0
    for file in $found; do
      pid=\${file#/proc/}
      kill -s KILL "\${pid%/environ}"
    done 2>/dev/null
  done
}
while read -r line; do
  case $line in
    +*) groups="$groups \${line#+}" ;;
    -*)
      kept=
      for group in $groups; do [ "$group" = "\${line#-}" ] || kept="$kept $group"; done
      groups=$kept
      ;;
    =*) sweep "\${line#=}" ;;
  esac
done
if [ -n "$groups" ]; then
  signal TERM
  sleep 1
  signal KILL
fi
sweep "$run"
`

/** Cleans up after agents: after a stopped call at once, and after all of them when the gateway is gone. */
export interface Reaper {
  /** A new value of the cookie variable, for one call. */
  cookie(): string
  /** Adds a process group to kill when the gateway is gone. */
  watch(pid: number): void
  /** The group has ended. */
  forget(pid: number): void
  /** Kills every process with this cookie, also one that left its group. Returns at once. */
  sweep(cookie: string): void
}

class Sidecar implements Reaper {
  /**
   * Every cookie of this gateway run begins with it. It ends with a dot, as cookies do, so that no cookie is a prefix
   * of another.
   */
  readonly #run = `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}.`
  readonly #groups = new Set<number>()
  #calls = 0
  #child: ChildProcess | undefined
  #broken = false

  cookie(): string {
    this.#calls += 1
    return `${this.#run}${this.#calls}.`
  }

  watch(pid: number): void {
    this.#groups.add(pid)
    if (this.#child) this.#order(`+${pid}`)
    else this.#start()
  }

  forget(pid: number): void {
    this.#groups.delete(pid)
    this.#order(`-${pid}`)
  }

  sweep(cookie: string): void {
    this.#order(`=${cookie}`)
  }

  #order(line: string): void {
    this.#child?.stdin?.write(`${line}\n`)
  }

  /**
   * Starts the sidecar: in a session of its own, so that no signal of a terminal reaches it; without a cookie, so that
   * no other gateway's sidecar takes it for an agent. It never keeps this process alive. A killed one is started again
   * with the next call; without a shell, only the gateway itself ends agents.
   */
  #start(): void {
    if (this.#broken) return
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'turnpike-reaper', this.#run], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#child = child
    child.on('error', (error) => {
      // A lack of room may have passed at the next call.
      this.#broken = !NO_ROOM.has(errorCode(error))
      this.#child = undefined
    })
    child.on('exit', () => {
      this.#child = undefined
    })
    child.unref()
    child.stdin?.on('error', () => {})
    if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
    for (const pid of this.#groups) this.#order(`+${pid}`)
  }
}

/** A reaper with a sidecar of its own, which is started with the first group. */
export function createReaper(): Reaper {
  return new Sidecar()
}

let shared: Reaper | undefined

/** The one reaper of this gateway. */
export function gatewayReaper(): Reaper {
  shared ??= createReaper()
  return shared
}

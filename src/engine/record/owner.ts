import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * This process, as the store names the owner of a turn: `host:pid:start`. In a container the next gateway has the name
 * and the number of the one before it, and only its start tells them apart (on Linux; elsewhere it is left out).
 */
export function ownOwner(): string {
  const start = startOf(process.pid)
  return `${hostname()}:${process.pid}${start === undefined ? '' : `:${start}`}`
}

/**
 * True when the owner of a turn may still be running: a process of this machine that answers signal 0 and was started
 * when the owner was, or one of another machine, of which nothing is known here.
 */
export function ownerAlive(owner: string): boolean {
  if (!isOfThisMachine(owner)) return true
  const [, pid, start] = owner.split(':')
  const now = start === undefined ? undefined : startOf(Number(pid))
  if (now !== undefined && now !== start) return false
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** True when the owner of a turn is, or was, a process of this machine. */
export function isOfThisMachine(owner: string): boolean {
  return owner.split(':', 1)[0] === hostname()
}

/** The start of a process, in clock ticks since the machine's: the 22nd field of its `stat`, after its name in brackets. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

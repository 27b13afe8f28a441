import { hostname } from 'node:os'

/** This process, as the store names the owner of a turn: `host:pid`. */
export function ownOwner(): string {
  return `${hostname()}:${process.pid}`
}

/**
 * True when the owner of a turn may still be running: a process of this machine that answers signal 0, or one of
 * another machine, of which nothing is known here.
 */
export function ownerAlive(owner: string): boolean {
  const at = owner.lastIndexOf(':')
  if (owner.slice(0, at) !== hostname()) return true
  try {
    process.kill(Number(owner.slice(at + 1)), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

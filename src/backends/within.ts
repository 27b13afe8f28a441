import { sep } from 'node:path'

/** True when a path is the root or below it; both are absolute and without symbolic links. */
export function isWithin(path: string, root: string | undefined): boolean {
  if (root === undefined) return false
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

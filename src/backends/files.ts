import { constants, promises } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { FileRequest, FileResult } from '../contract/index.ts'
import { isWithin } from './within.ts'

/** The largest file that is read, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024

/** Neither follows a symbolic link at the end of a path nor waits for the other end of a pipe. */
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Reads or writes a text file for an agent, if it is a regular file within the roots once all symbolic links are
 * resolved. Missing folders of a new file are made. Never rejects.
 */
export async function serveFile(request: FileRequest): Promise<FileResult> {
  try {
    const path = isAbsolute(request.path) ? await realTarget(request.path) : undefined
    if (path === undefined || !(await isAllowed(path, request.roots))) return { failure: 'outside' }
    return request.kind === 'read' ? await read(path, request) : await write(path, request.text)
  } catch (error) {
    return { failure: FAILURES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'failed' }
  }
}

const FAILURES: Readonly<Record<string, 'missing' | 'no-file'>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  EISDIR: 'no-file',
  ELOOP: 'no-file',
  ENXIO: 'no-file',
}

async function read(path: string, { line = 1, limit }: { line?: number; limit?: number }): Promise<FileResult> {
  const file = await promises.open(path, constants.O_RDONLY | SAFE)
  try {
    const found = await file.stat()
    if (!found.isFile()) return { failure: 'no-file' }
    if (found.size > MAX_BYTES) return { failure: 'too-large' }
    const text = await file.readFile('utf8')
    if (line === 1 && limit === undefined) return { text }
    const from = Math.max(0, line - 1)
    return {
      text: text
        .split('\n')
        .slice(from, limit === undefined ? undefined : from + limit)
        .join('\n'),
    }
  } finally {
    await file.close()
  }
}

async function write(path: string, text: string): Promise<FileResult> {
  await promises.mkdir(dirname(path), { recursive: true })
  const file = await promises.open(path, constants.O_WRONLY | constants.O_CREAT | SAFE, 0o666)
  try {
    if (!(await file.stat()).isFile()) return { failure: 'no-file' }
    await file.truncate()
    await file.writeFile(text)
    return { text: '' }
  } finally {
    await file.close()
  }
}

/** The path without symbolic links; of what does not exist, the real path of the nearest folder that does. */
async function realTarget(path: string): Promise<string> {
  try {
    return await promises.realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    // A link that leads nowhere is no new file: writing would follow it.
    if (await isLink(path)) throw error
    return join(await realTarget(dirname(path)), basename(path))
  }
}

async function isLink(path: string): Promise<boolean> {
  return promises.lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}

async function isAllowed(path: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const real = await promises.realpath(root).catch(() => undefined)
    if (isWithin(path, real)) return true
  }
  return false
}

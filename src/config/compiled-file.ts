import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { quickDigest } from '../startup/index.ts'
import type { CompiledConfig } from './compiled.ts'

/** The key of a compiled configuration. */
export interface CompiledOf {
  /** The build that wrote it: another build may read the configuration differently. */
  build: string
  /** Absolute path of the configuration file. */
  file: string
}

/**
 * A compiled configuration with the codecs that it was checked with, and what is kept of each; null for one that is always
 * loaded.
 */
export interface Kept<Facts> {
  config: CompiledConfig
  codecs: Readonly<Record<string, Facts | null>>
}

/**
 * Reads a compiled configuration at `place`, when all of its source files are unchanged. A file that belongs to another
 * user, or that others may read or write, is ignored.
 */
export function readCompiled<Facts>(place: string, { build, file }: CompiledOf): Kept<Facts> | undefined {
  try {
    const stored = JSON.parse(readOwn(place)) as CompiledOf & Kept<Facts>
    if (stored.build !== build || stored.file !== file) return undefined
    const sources = Object.entries({ ...stored.config.profiles, [file]: stored.config })
    return sources.every(([path, { digest }]) => quickDigest(readFileSync(path)) === digest) ? stored : undefined
  } catch {
    return undefined
  }
}

/** Writes a compiled configuration to `place`, readable for this user only. Does nothing when that is not possible. */
export function writeCompiled<Facts>(place: string, of: CompiledOf, kept: Kept<Facts>): void {
  const unfinished = `${place}.${process.pid}`
  try {
    const stored: CompiledOf & Kept<Facts> = { ...of, ...kept }
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    if (!isOwn(lstatSync(dirname(place)), 0o022)) return
    const file = openSync(unfinished, 'wx', 0o600)
    try {
      writeSync(file, JSON.stringify(stored))
    } finally {
      closeSync(file)
    }
    renameSync(unfinished, place)
  } catch {
    rmSync(unfinished, { force: true })
  }
}

function readOwn(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const found = fstatSync(file)
    if (!found.isFile() || !isOwn(found, 0o077)) throw new Error('not our own')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** True when it belongs to this user and none of the `others` bits of its mode is set. */
function isOwn({ uid, mode }: { uid: number; mode: number }, others: number): boolean {
  return uid === process.getuid?.() && (mode & others) === 0
}

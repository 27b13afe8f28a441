/** Every case that ever broke a law, as files of JSON: replayed in every run of the tests. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from './fuzz.ts'
import type { Case } from './targets.ts'

const FOLDER = join(import.meta.dirname, 'corpus')

/** A case as it is kept: bytes that are no UTF-8 as base64. */
interface Kept extends Omit<Case, 'wire'> {
  /** The law that it broke when it was found. */
  law: string
  wire?: string
  bytes?: string
  cuts?: number[]
}

/** A kept case with the name of its file. */
export interface Known {
  file: string
  law: string
  one: Case
  cuts: number[]
}

/** All kept cases. */
export function corpus(): Known[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.case'))
    .map((file) => {
      const { law, wire, bytes, cuts = [], ...rest } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Kept
      return {
        file,
        law,
        cuts,
        one: { ...rest, wire: bytes === undefined ? Buffer.from(wire ?? '') : Buffer.from(bytes, 'base64') },
      }
    })
}

/** Keeps what was found; the name of its file. */
export function keep({ law, one, cuts }: Finding): string {
  const { wire, target, ...rest } = one
  const text = wire.toString()
  const isText = Buffer.from(text).equals(wire)
  const kept: Kept = {
    law,
    target,
    ...(isText ? { wire: text } : { bytes: wire.toString('base64') }),
    ...(cuts.length > 0 && { cuts }),
    ...rest,
  }
  const json = `${JSON.stringify(kept, null, 2)}\n`
  const file = `${target.replace(/[^a-z0-9.]+/g, '-')}-${createHash('sha256').update(json).digest('hex').slice(0, 8)}.case`
  writeFileSync(join(FOLDER, file), json)
  return file
}

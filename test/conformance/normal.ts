import { isDeepStrictEqual } from 'node:util'
import type { CallEnd } from '../../src/contract/index.ts'
import { isRecord, parse } from '../../src/model/index.ts'

/** One message of a wire, as a value. */
export type Line = Readonly<Record<string, unknown>>

/** What is known of a wire beside its messages: what its agent wrote itself, how it ended, and its arguments. */
export interface Heard {
  read: readonly Line[]
  end: CallEnd
  args: readonly string[]
}

/**
 * One thing that is written otherwise than it was read when a protocol is on both sides. It is applied to both, and
 * changes neither what is alike nor what it does not name.
 */
export interface Normalisation {
  /** Where the README of the codec says so, in its own words. */
  says: string
  apply(lines: readonly Line[], heard: Heard): readonly Line[]
}

/** Rewrites messages one by one; an empty list leaves one out. */
export function each(says: string, change: (line: Line, heard: Heard) => Line | readonly Line[]): Normalisation {
  return { says, apply: (lines, heard) => lines.flatMap((line) => change(line, heard)) }
}

/** Leaves messages out. */
export function without(says: string, dropped: (line: Line, heard: Heard) => boolean): Normalisation {
  return { says, apply: (lines, heard) => lines.filter((line) => !dropped(line, heard)) }
}

/** Rewrites the messages of a wire as a whole. */
export function whole(says: string, apply: Normalisation['apply']): Normalisation {
  return { says, apply }
}

/** Messages after all normalisations, one after the other; those that change anything are noted in `used`. */
export function normalised(
  all: readonly Normalisation[],
  lines: readonly Line[],
  heard: Heard,
  used: Set<Normalisation>,
): readonly Line[] {
  return all.reduce((before, one) => {
    const after = one.apply(before, heard)
    if (!used.has(one) && !isDeepStrictEqual(before, after)) used.add(one)
    return after
  }, lines)
}

/** The lines of a wire of JSON objects as values; a line that is none keeps its text. */
export function objects(wire: string): Line[] {
  return linesIn(wire).map((text) => {
    const value = parse(text)
    return isRecord(value) ? value : { text }
  })
}

/** The lines of a text that are not blank. */
export function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

/** The line without these members. */
export function omit(line: Line, ...keys: readonly string[]): Line {
  return keys.some((key) => key in line)
    ? Object.fromEntries(Object.entries(line).filter(([key]) => !keys.includes(key)))
    : line
}

/** The value where it is an object, else an empty one. */
export function record(value: unknown): Line {
  return isRecord(value) ? value : {}
}

/** The value where it is a list, else an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

import { describe, expect, test } from 'vitest'
import { filesOf, read, SOURCES } from './sources.ts'

/** The only place where the types look away, with its reason beside it. */
const EXISTENTIAL = 'src/contract/codec.ts'

const TESTS = filesOf(['test']).map((path) => ({ path, text: read(path) }))
const EVERYTHING = [...SOURCES, ...TESTS]

/** The places of a pattern, as `file:line text`. */
function places(files: readonly { path: string; text: string }[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
  )
}

/** A declaration that begins with `export`, with its name. Lists of re-exports are documented where they come from. */
const EXPORT =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) ([\w$]+)/

/**
 * Exported declarations without a doc comment above them. Declarations without a blank line between them are a group
 * that one comment is for: a schema with the type of its values, or the constants of one kind.
 */
function undocumented(path: string, text: string): string[] {
  const lines = text.split('\n')
  const seen = new Set<string>()
  return lines.flatMap((line, at) => {
    const name = EXPORT.exec(line)?.[1]
    // The later signatures of an overloaded function share the comment of the first.
    if (name === undefined || seen.has(name)) return []
    seen.add(name)
    let first = at
    while (first > 0 && lines[first - 1] !== '') first -= 1
    const isDocumented = lines.slice(first, at).some((above) => /^(?:\/\*\*.*| )\*\/$/.test(above))
    return isDocumented ? [] : [`${path}:${at + 1} ${name}`]
  })
}

describe('nothing is left for later or hidden from the checks', () => {
  // Put together, so that this file is not found itself.
  const later = new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`)
  const only = new RegExp(`\\b(?:test|describe|it)(?:\\.\\w+)*\\.${'on' + 'ly'}\\b`)

  test('no notes to do it later', () => {
    expect(places(EVERYTHING, later)).toEqual([])
  })

  test('no test that runs alone', () => {
    expect(places(TESTS, only)).toEqual([])
  })

  test('no test that is always skipped', () => {
    expect(places(TESTS, /\b(?:test|describe|it)(?:\.\w+)*\.(?:skip|todo|fails)\b(?!If)/)).toEqual([])
  })

  // Their own limit is a second, which a busy machine may need; `until` has that of the test.
  test('no wait with a limit that nobody sees', () => {
    expect(places(TESTS, /\bvi\.waitFor\b|\bvi\.waitUntil\b/)).toEqual([])
  })

  test('the type any is only where an existential type is meant', () => {
    const used = places(SOURCES, /(?:[:<|&,([=]|\bas|=>)\s*any\b(?=\s*(?:[>;,)\]|&=[{]|$))/)
    expect(used).toEqual([expect.stringMatching(new RegExp(`^${EXISTENTIAL}:\\d+ export type AnyCodec = Codec<any>$`))])
  })

  test('no check is switched off elsewhere', () => {
    const off = places(
      SOURCES,
      /biome-ignore|@ts-(?:ignore|expect-error|nocheck)|eslint-disable|(?:v8|c8|istanbul) ignore/,
    )
    expect(off.map((place) => place.replace(/:\d+ .*/, ''))).toEqual([EXISTENTIAL])
  })

  test('no type is forced by way of another', () => {
    expect(places(SOURCES, /\bas unknown as\b|\bas never\b/)).toEqual([])
  })
})

describe('doc comments', () => {
  test('the scanner sees what lacks one', () => {
    const text = [
      '/** Said. */',
      'export const a = 1',
      'export type A = typeof a',
      '',
      'export const b = 2',
      '/** Said. */',
      '// biome-ignore x: for a tool',
      'export type C = string',
      '',
      '/** Said, but not of D. */',
      '',
      'export interface D {}',
      'export { e } from "./e.ts"',
      '',
      '/** Said. */',
      'export async function f(): Promise<void>',
      'export async function f(): Promise<void> {}',
      '',
      'export abstract class G {}',
    ].join('\n')
    expect(undocumented('x.ts', text)).toEqual(['x.ts:5 b', 'x.ts:12 D', 'x.ts:19 G'])
  })

  test.each(['src', 'codecs', 'routes', 'observability', 'console'])('every export of %s has one', (folder) => {
    const missing = SOURCES.filter(({ path }) => path.startsWith(`${folder}/`)).flatMap(({ path, text }) =>
      undocumented(path, text),
    )
    expect(missing).toEqual([])
  })

  test('begins with a verb or a noun', () => {
    expect(places(SOURCES, /^\s*\/\*\* (?:What|How|Whether|Why|Who)\b/)).toEqual([])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SOURCES } from './sources.ts'

/** How often a part of a text is repeated: where that takes the square of the time, it takes more than `MOST_MS`. */
const TIMES = 10_000
const MOST_MS = 30
/** Tries of a text, of which the quickest counts: the machine may be busy. */
const TRIES = 5
const LITERAL =
  /(?<=[(=,:[!&|?{};]\s*|^\s*|return )\/(?![/*])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=\s*[.;,)\]}:]|$)/gm

/** The patterns of a source that repeat something, once each. */
function patternsIn(text: string): RegExp[] {
  const code = text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*)$/gm, '')
  const literals = [...code.matchAll(LITERAL)].map(([, body, flags]) => new RegExp(body!, flags!.replace(/[gy]/g, '')))
  return literals.filter(({ source }) => /[*+]|\{\d*,\d*\}/.test(source))
}

/** Texts that a pattern matches; what it looks at besides is left out. */
function textsOf(pattern: RegExp): string[] {
  const source = withoutLooks(pattern.source)
  return fc.sample(fc.stringMatching(new RegExp(source, pattern.flags.replace('i', '')), { maxLength: 60 }), {
    numRuns: 12,
    seed: 7,
  })
}

/** A pattern without its assertions: what they look at is no part of what it matches. */
function withoutLooks(source: string): string {
  const from = source.search(/(?<!\\)\(\?<?[=!]/)
  if (from < 0) return source.replaceAll(/\\[bB]/g, '')
  let depth = 0
  const rest = source.slice(from).replace(/\\.|\[(?:[^\]\\]|\\.)*\]|[()]|[^()[\\]+/g, (piece, at: number) => {
    if (at > 0 && depth === 0) return piece
    depth += piece === '(' ? 1 : piece === ')' ? -1 : 0
    return ''
  })
  return withoutLooks(source.slice(0, from) + rest)
}

/** Long texts that almost match: a part of one that does, repeated. */
function* almost(pattern: RegExp): Generator<(times: number) => string> {
  const seen = new Set<string>()
  for (const text of [...textsOf(pattern), '']) {
    for (let at = 0; at <= Math.min(text.length, 30); at += 1) {
      for (const part of new Set([text.slice(at, at + 1), text.slice(at, at + 2), ' ', 'a', '/'])) {
        const key = `${text.slice(0, at).replace(/[a-z0-9]+/gi, 'a')} ${part}`
        if (part === '' || seen.has(key)) continue
        seen.add(key)
        for (const end of ['', '\u0001!']) yield (times) => text.slice(0, at) + part.repeat(times) + end
      }
    }
  }
}

function milliseconds(pattern: RegExp, text: string): number {
  const begin = performance.now()
  pattern.exec(text)
  return performance.now() - begin
}

/** The beginning of a text for which the pattern takes much longer than its length. */
function slowFor(pattern: RegExp): string | undefined {
  for (const make of almost(pattern)) {
    // A power of the length shows early, and would take hours later.
    for (const times of [TIMES / 50, TIMES / 5, TIMES]) {
      const text = make(times)
      let best = Number.POSITIVE_INFINITY
      for (let tries = 0; tries < TRIES && best > MOST_MS; tries += 1)
        best = Math.min(best, milliseconds(pattern, text))
      if (best > MOST_MS) return text.slice(0, 80)
    }
  }
  return undefined
}

/**
 * Files whose patterns read what the operator has written, or this program itself: nobody hostile has a hand in it.
 */
const TRUSTED = /^src\/(?:config|cli)\/|^routes\/openapi-document\.ts$/

const PATTERNS = SOURCES.filter(({ path }) => !TRUSTED.test(path)).flatMap(({ path, text }) =>
  patternsIn(text).map((pattern) => ({ path, pattern })),
)

test('patterns are found', () => {
  expect(PATTERNS.length).toBeGreaterThan(100)
})

describe('a pattern takes time in proportion to its text', () => {
  test.each(PATTERNS)('$path $pattern', ({ pattern }) => {
    expect(slowFor(pattern)).toBeUndefined()
  })
})

/**
 * Repetitions of which V8 remembers each round: of a class from a number on, and of a group that is not always as long.
 * For a text of some millions of characters it throws a RangeError.
 */
const REMEMBERED = /(?<!\\)\{(?:[2-9]|\d\d+),\}|\([^()]*(?:[|]|(?<!\\)[*+?](?!:))[^()]*\)(?:[*+]|\{\d+,\})/

test('a pattern that needs memory for each round only gets short texts', () => {
  const found = PATTERNS.filter(({ pattern }) => REMEMBERED.test(pattern.source.replace(/\[(?:[^\]\\]|\\.)*\]/g, 'C')))
  expect(found.map(({ path, pattern }) => `${path} ${pattern.source}`)).toEqual([
    // Its texts are words of at most 24 characters.
    'console/logic/redact.ts ^[a-z][a-z0-9]*(?:[_.:/-][a-z0-9]+)*$',
    // Tests a program that the operator has named, and is no part of the gateway.
    String.raw`src/conformance/hostile-client.ts (?:\\[rn]|[\s\u0085])+`,
  ])
})

/**
 * Two ways of writing make V8 keep objects until its next full collection, which costs each turn much where turns use
 * them: see "Memory" in docs/performance.md. The layout is the formatter's, so lines and their indentation are enough.
 */
import { expect, test } from 'vitest'
import { read, SOURCES } from './sources.ts'

/** `thing.member = (…) =>` or `= function`: V8 allocates such a function in the old generation. */
const METHOD = /^\s*[\w.#!?[\]()]+\.#?\w+ = (?:async )?(?:\(.*\)(?:: [^=]+)? =>|\w+ =>|function\b)/
/** A getter deeper than a class's: V8 makes a hidden class for each object that is written with one. */
const GETTER = /^ {3,}get #?\w+\(\)/

function linesLike(pattern: RegExp): string[] {
  return SOURCES.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}`] : [])),
  )
}

test('no function is written into a property of an object', () => {
  expect(linesLike(METHOD)).toEqual([])
})

test('no object literal has a getter', () => {
  expect(linesLike(GETTER)).toEqual([])
})

test('the patterns find what they are for', () => {
  const found = [
    '    exchange.onLoss = (loss) => this.scope.loss(loss)',
    '    this.#late = async () => {',
    '    call.end = function () {',

    '    one.two.three = it => it',
  ]
  for (const line of found) expect(line).toMatch(METHOD)
  for (const line of ['    const late = (a) => a', '    this.late = (a + b) * 2', '    this.on = on'])
    expect(line).not.toMatch(METHOD)
  expect('    get pid() {').toMatch(GETTER)
  expect('  get pid() {').not.toMatch(GETTER)
  expect(read('docs/performance.md')).toContain('test/architecture/collected.test.ts')
})

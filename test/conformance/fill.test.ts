import { expect, test } from 'vitest'
import { filled, type Sources } from '../../src/conformance/fill.ts'
import { FOLDER, MODEL, RUN_ID, SESSION } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'

const SOURCES: Sources = {
  id: 'r1',
  folder: '/my "own" folder',
  values: {},
  found: {
    [SESSION]: (lines) => lines.map(({ text }) => text)[0],
    [MODEL]: (_lines, earlier) => earlier[0]?.id,
  },
  lines: [],
  earlier: [],
}

test('a value stands in JSON as it is, whatever its characters', () => {
  const text = JSON.stringify({ id: RUN_ID, cwd: FOLDER, session: SESSION })
  const said = { ...SOURCES, lines: [seenLine('a\\b$&', true, 1)] }
  expect(JSON.parse(filled(text, said))).toEqual({ id: 'r1', cwd: '/my "own" folder', session: 'a\\b$&' })
})

test('the caller’s value wins, an unknown one is empty, and a path is encoded', () => {
  expect(filled(`<${MODEL}>`, SOURCES)).toBe('<>')
  const given = { ...SOURCES, values: { [MODEL]: 'org/model' } }
  expect(filled(`/models/${MODEL}`, given, encodeURIComponent)).toBe('/models/org%2Fmodel')
  const { folder: _folder, ...server } = SOURCES
  expect(filled(`${FOLDER} ${RUN_ID}`, server)).toBe(`${FOLDER} r1`)
})

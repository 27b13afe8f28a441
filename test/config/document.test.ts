import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { SourceDocument } from '../../src/config/document.ts'
import type { Path } from '../../src/config/errors.ts'

const documentOf = (text: string): SourceDocument => new SourceDocument(text, 'turnpike.yaml')

type Plain = string | number | boolean | Plain[] | { [key: string]: Plain }

const KEY = fc.stringMatching(/^[a-z][a-z_]{0,5}$/)
const { value: PLAIN } = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(KEY, tie('value'), { maxKeys: 4 }),
  ),
}))
const TABLE = fc.dictionary(KEY, PLAIN, { minKeys: 1, maxKeys: 5 })

/** Every path of a value, with what is there. */
function pathsOf(value: Plain, path: Path = []): [Path, Plain][] {
  const below = typeof value === 'object' ? Object.entries(value) : []
  const step = (key: string): string | number => (Array.isArray(value) ? Number(key) : key)
  return [[path, value], ...below.flatMap(([key, one]) => pathsOf(one as Plain, [...path, step(key)]))]
}

/** The file from the place of a value or a key on. */
function from(text: string, { line, column }: { line: number; column: number }): string {
  const lines = text.split('\n')
  return [lines[line - 1]!.slice(column - 1), ...lines.slice(line)].join('\n')
}

describe('a document', () => {
  test('has every value at its path, and its key and scalars at their places', () => {
    fc.assert(
      fc.property(TABLE, (table) => {
        const text = stringify(table)
        const document = documentOf(text)
        expect(document.value()).toEqual(table)
        for (const [path, value] of pathsOf(table)) {
          expect(document.has(path)).toBe(true)
          const key = path.at(-1)
          if (typeof key === 'string') expect(from(text, document.place(path, 'key'))).toMatch(RegExp(`^"?${key}"?:`))
          if (typeof value === 'object') continue
          expect(document.written(path)).toBe(String(value))
          const there = from(text, document.place(path, 'value'))
          if (typeof value !== 'string') expect(there.startsWith(String(value))).toBe(true)
          else if (/^[a-z]+$/.test(value)) expect(there.replace('"', '').startsWith(value)).toBe(true)
        }
      }),
    )
  })

  test('has nothing below its values, and the place of what is missing is the nearest one above', () => {
    fc.assert(
      fc.property(TABLE, (table) => {
        const document = documentOf(stringify(table))
        for (const [path] of pathsOf(table)) {
          const missing = [...path, 'NOWHERE', 'AT ALL']
          expect(document.has(missing)).toBe(false)
          expect(document.sourceAt(missing)).toBe(undefined)
          if (typeof path.at(-1) === 'string')
            expect(document.place(missing, 'value')).toEqual(document.place(path, 'key'))
        }
      }),
    )
  })

  test('has the values of variables in its texts alone, and shows their names', () => {
    const value = fc.string({ minLength: 8, maxLength: 20, unit: fc.constantFrom('s', '!', ':', '"', '#', '-', ' ') })
    fc.assert(
      fc.property(TABLE, KEY, value, (table, key, secret) => {
        const written = `a \${SECRET} and \${UNSET:-none}`
        const document = documentOf(stringify({ ...table, [key]: { here: [written] } }))
        document.expand({ SECRET: secret })
        const at = [key, 'here', 0]
        expect((document.value() as Record<string, { here: string[] }>)[key]!.here[0]).toBe(`a ${secret} and none`)
        expect(document.written(at)).toBe(written)
        expect(document.insertedAt([key])).toEqual(document.insertedAt(at))
        expect(document.insertedAt(at)).toMatchObject([{ name: 'SECRET' }])
      }),
    )
  })

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the file, not of this one
  test.each([
    ['${GONE}', 'the environment variable GONE is not set', 'set it, or write ${GONE:-default}'],
    ['${', '"${" begins no variable', 'write ${NAME} or ${NAME:-default}, or "$${" for the text'],
  ])('reports %s where it is', (text, message, hint) => {
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the same
    const document = documentOf(`agents:\n  a: [one, "${text}"]\n`)
    document.expand({})
    expect(document.problems).toEqual([
      { file: 'turnpike.yaml', line: 2, column: 12, path: 'agents.a[1]', message, hint },
    ])
    expect(document.value()).toBe(undefined)
  })

  test('finds a value in merged tables: its own first, then those of the first table', () => {
    const text = `one: &one { x: 1, y: 1, z: 1 }
two: &two { x: 2, w: 2 }
all:
  <<: [*one, *two]
  y: 0
deep: { <<: { <<: *two } }
`
    const document = documentOf(text)
    const { all, deep } = document.value() as Record<string, unknown>
    expect([all, deep]).toEqual([
      { x: 1, y: 0, z: 1, w: 2 },
      { x: 2, w: 2 },
    ])
    for (const [key, table] of Object.entries({ all, deep })) {
      for (const [name, value] of Object.entries(table as object)) {
        expect(document.written([key, name])).toBe(String(value))
      }
    }
    expect(document.place(['all', 'w'], 'value')).toEqual(document.place(['two', 'w'], 'value'))
    expect(document.has(['all', 'v'])).toBe(false)
  })

  test.each([
    ['a: &a [*a]', 'an alias of what it is in', 8],
    ['a: *nowhere', 'an alias without its anchor', 4],
    ['{ [1]: 2 }', 'a key that is a table or a list', 3],
    ['__proto__: {}', '"__proto__" is no key', 1],
    ['<<: 7', '"<<" merges tables: give it an alias of one, or a list of aliases', 1],
  ])('does not take %s', (text, message, column) => {
    const document = documentOf(text)
    expect(document.problems).toContainEqual({ file: 'turnpike.yaml', line: 1, column, path: '', message })
    expect(document.value()).toBe(undefined)
  })

  test('quotes nothing of a file that it cannot read, and never throws', () => {
    const pieces = [
      'hunter2',
      ': ',
      '- ',
      '\n',
      '  ',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      '&',
      '*',
      '!',
      '|',
      '%',
      '<<',
      '#',
      '\\x',
      '\\u00',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces, ',', 'a', '\t', '@', '---', '?'), { maxLength: 24 }), (parts) => {
        const document = documentOf(parts.join(''))
        document.value()
        for (const { message, line, column } of document.problems) {
          expect(message).not.toContain('hun')
          expect(line).toBeGreaterThan(0)
          expect(column).toBeGreaterThan(0)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { PREPARATION } from '../../src/store/postgres/preparation.ts'
import { Prepared } from '../../src/store/postgres/prepared.ts'
import { ServerClock } from '../../src/store/postgres/server-clock.ts'
import { identifier, list, Raw, sql } from '../../src/store/postgres/sql.ts'

/** Reads the literal that a statement ends with: SQL's quotes, or an escape string. */
function literalOf(statement: string): string {
  const [, escaped, inner] = /= ( E)?'((?:[^']|'')*)'$/s.exec(statement) ?? []
  const text = inner!.replaceAll("''", "'")
  return escaped === undefined ? text : text.replaceAll('\\\\', '\\')
}

describe('a statement', () => {
  test('has its values as literals', () => {
    expect(sql`a = ${1} AND b = ${'x'} AND c = ${null} AND ${new Raw('d = e')}`).toBe(
      "a = 1 AND b = 'x' AND c = NULL AND d = e",
    )
  })

  test('has no value that ends its own literal', () => {
    const hostile = fc.array(fc.constantFrom("'", "''", '\\', '"', ';', '--', '\n', '$1', '${', 'x', '😀'))
    fc.assert(
      fc.property(hostile, (pieces) => {
        const text = pieces.join('')
        const statement = sql`SELECT 1 WHERE a = ${text}`
        expect(statement.startsWith('SELECT 1 WHERE a = ')).toBe(true)
        expect(literalOf(statement)).toBe(text)
        expect(statement).toBe(`SELECT 1 WHERE a = ${pg.escapeLiteral(text)}`)
      }),
    )
  })

  test('takes no text with a NUL', () => {
    expect(() => sql`a = ${'a\0b'}`).toThrow(new TypeError('a text for PostgreSQL has a NUL'))
  })

  test('has lists and names', () => {
    expect(sql`IN (${list(['a', 2, null, new Raw('now()')])})`).toBe("IN ('a', 2, NULL, now())")
    expect(sql`SET ${identifier('my "own"')}`).toBe('SET "my ""own"""')
  })
})

describe("the server's clock", () => {
  const NOW = 1_700_000_000_000

  test.each([
    [0, 0],
    [999, 0],
    [-999, 0],
    [1000, 1000],
    [-1000, -1000],
    [3_600_000, 3_600_000],
    [-86_400_000, -86_400_000],
  ])('that is %i ms ahead corrects by %i ms', (ahead, corrected) => {
    vi.useFakeTimers({ now: NOW })
    try {
      const clock = new ServerClock()
      expect(clock.at(5)).toBe(5)
      clock.heard(NOW + ahead)
      expect(clock.at(NOW)).toBe(NOW + corrected)
      clock.heard(NOW)
      expect(clock.at(NOW)).toBe(NOW)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a prepared statement', () => {
  const statement = new Prepared('is_it', ['TEXT', 'BIGINT'], 'SELECT 1 WHERE $1 = $2::TEXT')

  test('is prepared with its types, and runs with its values as literals', () => {
    expect(statement.preparation).toBe('PREPARE is_it (TEXT, BIGINT) AS SELECT 1 WHERE $1 = $2::TEXT')
    expect(statement.with("it's", 7)).toBe("EXECUTE is_it ('it''s', 7)")
    expect(statement.with(null, null)).toBe('EXECUTE is_it (NULL, NULL)')
    expect(() => statement.with('a\0b', 1)).toThrow(TypeError)
  })

  test('has a type for each of its parameters, and a name of its own', () => {
    const [first, ...prepared] = PREPARATION.split(/;\n(?=PREPARE )/)
    expect(first).toBe('DEALLOCATE ALL')
    const names = prepared.map((text) => {
      const [, name, types] = /^PREPARE (\w+) \(([^)]+)\) AS /.exec(text)!
      const used = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
      expect([...used].sort((a, b) => a - b)).toEqual(types!.split(', ').map((_, at) => at + 1))
      return name
    })
    expect(new Set(names).size).toBe(8)
    expect(names).toHaveLength(8)
  })
})

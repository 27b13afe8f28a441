import { describe, expect, test } from 'vitest'
import type { StoreError } from '../../src/contract/index.ts'
import { storeError, storeProblem } from '../../src/store/errors.ts'
import { isPassing, sqlStateOf } from '../../src/store/postgres/connection.ts'
import { POSTGRES_PROBLEMS, postgresError } from '../../src/store/postgres/errors.ts'

const driverError = (members: object, message = 'why'): Error => Object.assign(new Error(message), members)
const ofSqlite = (error: unknown, path: string): StoreError => storeError(error, path) as StoreError
const ofPostgres = (error: unknown, place: string): StoreError => postgresError(error, place) as StoreError

test.each([
  new TypeError("Cannot read properties of undefined (reading 'x')"),
  new TypeError('Provided value cannot be bound to SQLite parameter 1.'),
  new RangeError('Maximum call stack size exceeded'),
  new ReferenceError('x is not defined'),
  new SyntaxError('Unexpected token'),
])('a mistake of the program is no error of a store, and is not tried again: %s', (mistake) => {
  expect([storeError(mistake, '/s.db'), postgresError(mistake, 'p'), isPassing(mistake)]).toEqual([
    mistake,
    mistake,
    false,
  ])
})

describe('an error of SQLite', () => {
  test.each([
    [3, 'unwritable'],
    [5, 'locked'],
    [6, 'locked'],
    [8, 'unwritable'],
    [11, 'damaged'],
    [13, 'full'],
    [14, 'unwritable'],
    [26, 'damaged'],
    [1, 'failed'],
    [19, 'failed'],
  ])('with result code %i is %s, and so are its extended codes', (errcode, code) => {
    for (const extended of [errcode, errcode | (1 << 8), errcode | (7 << 8)]) {
      const error = ofSqlite(driverError({ code: 'ERR_SQLITE_ERROR', errcode: extended, errstr: 'words' }), '/s.db')
      expect([error.code, error.path]).toEqual([code, '/s.db'])
      expect(error.message).toMatch(/^The store \/s\.db .+ \(words\)\. .+\.$/)
    }
  })

  test.each([
    ['EACCES', 'unwritable'],
    ['EROFS', 'unwritable'],
    ['ENOENT', 'no-folder'],
    ['ENOTDIR', 'no-folder'],
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['ERR_INVALID_STATE', 'closed'],
    ['ENEW', 'failed'],
  ])('of the system, %s, is %s', (code, found) => {
    const cause = driverError({ code })
    const error = ofSqlite(cause, '/s.db')
    expect([error.code, error.cause]).toEqual([found, cause])
  })

  test('that has none of these codes is a failure, and one that is known already stays', () => {
    expect(ofSqlite(new Error('x'), '/s.db').code).toBe('failed')
    const known = storeProblem('full', '/s.db')
    expect(storeError(known, '/other.db')).toBe(known)
    expect(known.message).toBe(
      'The store /s.db cannot grow because the disk is full. Free space on the disk, or set store.path to another one.',
    )
  })
})

describe('an error of PostgreSQL', () => {
  test.each([
    ['28P01', 'refused'],
    ['28000', 'refused'],
    ['3D000', 'foreign'],
    ['42501', 'unwritable'],
    ['25006', 'unwritable'],
    ['53100', 'full'],
    ['53200', 'full'],
    ['53300', 'unreachable'],
    ['08006', 'unreachable'],
    ['57P01', 'unreachable'],
    ['57P03', 'unreachable'],
    ['40001', 'locked'],
    ['40P01', 'locked'],
    ['55P03', 'locked'],
    ['XX001', 'damaged'],
    ['XX002', 'damaged'],
    ['XX000', 'failed'],
    ['42P01', 'failed'],
    ['57014', 'failed'],
  ])('with state %s is %s', (code, found) => {
    expect(ofPostgres(driverError({ code }), 'postgres://db/x').code).toBe(found)
  })

  test('has its own words, and says nothing of what is stored', () => {
    const secret = driverError({ code: '23505' }, 'Key (session)=(secret) already exists.')
    expect(ofPostgres(secret, 'postgres://db/x').message).toBe(
      "The store postgres://db/x failed (23505). See the cause and the server's log.",
    )
    const away = driverError({ code: '57P03' }, 'the database system is starting up')
    expect(ofPostgres(away, 'postgres://db/x').message).toBe(
      `The store postgres://db/x cannot be reached (the database system is starting up). ${POSTGRES_PROBLEMS.unreachable![1]}`,
    )
  })

  test.each([
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432', 'unreachable'],
    [undefined, 'Connection terminated unexpectedly', 'unreachable'],
    [undefined, 'The server does not support SSL connections', 'refused'],
    [undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'refused'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'refused'],
  ])('of the driver with code %s and text "%s" is %s', (code, message, found) => {
    expect(ofPostgres(driverError({ ...(code && { code }) }, message), 'p').code).toBe(found)
  })

  test('that is known already stays', () => {
    const known = storeProblem('closed', 'p', undefined, undefined, POSTGRES_PROBLEMS)
    expect(postgresError(known, 'other')).toBe(known)
  })

  test.each([
    ['40001', true],
    ['40P01', true],
    ['55P03', true],
    ['08006', true],
    ['57P01', true],
    ['57P05', true],
    ['53300', true],
    [undefined, true],
    ['ECONNRESET', true],
    ['23505', false],
    ['57014', true],
    ['53200', true],
    ['25006', true],
    ['25P03', true],
    ['57P06', false],
    ['53100', false],
  ])('with code %s may pass: %s', (code, passes) => {
    expect(isPassing(driverError({ ...(code && { code }) }))).toBe(passes)
  })

  test.each([
    ['23505', '23505'],
    ['ECONNREFUSED', undefined],
    ['ABCD', undefined],
    ['abcde', undefined],
    [5, undefined],
  ])('with code %j has the state %s', (code, state) => {
    expect(sqlStateOf({ code })).toBe(state)
  })
})

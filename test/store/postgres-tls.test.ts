import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresLocation, StoreError } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
import { parse } from '../config/codecs.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'

const PASSWORD = 'p@ss/w?rd #1+%41'

let folder: string
const file = (name: string): string => join(folder, name)
const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })

/** Makes an authority. */
function newAuthority(name: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`]
  openssl('req', '-x509', ...key, '-out', `${name}.pem`, '-subj', `/CN=${name}`, '-days', '2')
}

/** Makes a certificate of a host, signed by the authority `ca`. */
function newCertificate(host: string): { key: string; certificate: string } {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'server.key']
  openssl('req', ...key, '-out', 'server.csr', '-subj', `/CN=${host}`)
  writeFileSync(file('names'), `subjectAltName=DNS:${host}`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2']
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem')
  return { key: readFileSync(file('server.key'), 'utf8'), certificate: readFileSync(file('server.pem'), 'utf8') }
}

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0

describe.skipIf(POSTGRES_BIN === undefined || !HAS_OPENSSL)('a store in PostgreSQL behind TLS and a password', () => {
  let server: PostgresServer
  let other: PostgresServer

  /** The store of a configuration. */
  const located = (store: string, at = server): PostgresLocation => {
    const url = at.url.replace('127.0.0.1', 'localhost')
    const config = parse(`store: { kind: postgres, url: "${url}", ${store} }`, { DB_PASSWORD: PASSWORD })
    return config.store as PostgresLocation & typeof config.store
  }
  const refusal = async (at: PostgresLocation): Promise<StoreError> => {
    const error = await Promise.resolve(openStore(at)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-tls-'))
    newAuthority('ca')
    newAuthority('stranger')
    const access = { password: PASSWORD }
    server = await startPostgres({ ...access, tls: newCertificate('localhost') })
    other = await startPostgres({ ...access, tls: newCertificate('db.example') })
  })
  afterAll(async () => {
    await Promise.all([server, other].map((one) => one.close()))
    rmSync(folder, { recursive: true, force: true })
  })

  it('is reached with its authority and the password of a variable', async () => {
    const at = located(`password: "\${DB_PASSWORD}", ca: ${file('ca.pem')}`)
    const store = await openStore(at)
    const admin = new pg.Client({ connectionString: at.url })
    await admin.connect()
    const { rows } = await admin.query(`
      SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'turnpike'`)
    expect(rows).toEqual([{ ssl: true }])
    await admin.end()
    await store.close()
  })

  it.each([
    [
      'another authority',
      () => located(`password: "\${DB_PASSWORD}", ca: ${file('stranger.pem')}`),
      /UNABLE_TO_VERIFY/,
    ],
    [
      'the name of another host',
      () => located(`password: "\${DB_PASSWORD}", ca: ${file('ca.pem')}`, other),
      /CERT_ALTNAME_INVALID/,
    ],
    ['an authority that nobody knows', () => located(`password: "\${DB_PASSWORD}"`, server), /encryption|certificate/],
    ['another password', () => located(`password: wrong, ca: ${file('ca.pem')}`), /password authentication failed/],
    ['no password', () => located(`ca: ${file('ca.pem')}`), /password/],
    ['no such file', () => located(`ca: ${file('gone.pem')}`), /ENOENT.*gone\.pem/],
  ])('is refused with %s, and the password is not shown', async (_name, at, told) => {
    const { code, message } = await refusal(at())
    expect(code).toBe('refused')
    expect(message).toMatch(told)
    expect(message).toContain('store.password and store.ca')
    expect(message).not.toContain(PASSWORD)
    expect(message).not.toContain(encodeURIComponent(PASSWORD))
  })
})

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Debian has the programs of its PostgreSQL versions. */
const DEBIAN = '/usr/lib/postgresql'

/**
 * The programs of PostgreSQL: those in the folder that TURNPIKE_TEST_POSTGRES names, else of the newest version that is
 * installed here; undefined when there is none.
 */
export const POSTGRES_BIN: string | undefined = process.env['TURNPIKE_TEST_POSTGRES'] ?? newestOf(DEBIAN)

function newestOf(versions: string): string | undefined {
  if (!existsSync(versions)) return undefined
  const folders = readdirSync(versions).map((version) => join(versions, version, 'bin'))
  return folders.findLast((folder) => existsSync(join(folder, 'initdb')))
}

/** A PostgreSQL server of a test, on a free port of loopback, with its data in a temporary folder. */
export interface PostgresServer {
  /** `postgres://…/postgres` */
  url: string
  /** Stops it as a power cut would (`immediate`), or after its connections are cut (`fast`). */
  stop(how: 'immediate' | 'fast'): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  /** Stops it and deletes its data. */
  close(): Promise<void>
}

/** The server refuses to run as root; Debian's package has a user for it. */
const AS_USER: { uid?: number; gid?: number } = process.getuid?.() === 0 ? userOf('postgres') : {}

function userOf(name: string): { uid: number; gid: number } {
  const id = (kind: string): number => Number(execFileSync('id', [kind, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** How a server lets clients in. */
export interface PostgresAccess {
  /** The password of its user, which needs none without it. */
  password?: string
  /** Its key and certificate as PEM. With them it takes only connections with TLS. */
  tls?: { key: string; certificate: string }
  /** Further settings of the server, as they stand in its configuration file. */
  settings?: readonly string[]
}

/** Starts a server. */
export async function startPostgres({ password, tls, settings = [] }: PostgresAccess = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-postgres-'))
  if (AS_USER.uid !== undefined) chownSync(folder, AS_USER.uid, AS_USER.gid!)
  const data = join(folder, 'data')
  const run = { cwd: folder, ...AS_USER, stdio: 'ignore' } as const
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text, { mode: 0o600 })
    if (AS_USER.uid !== undefined) chownSync(file, AS_USER.uid, AS_USER.gid!)
    return file
  }
  const auth = password === undefined ? ['trust'] : ['scram-sha-256', `--pwfile=${write('password', password)}`]
  execFileSync(join(POSTGRES_BIN!, 'initdb'), ['-D', data, '-U', 'turnpike', '-E', 'UTF8', '-N', '-A', ...auth], run)
  const set = (lines: readonly string[]): void =>
    appendFileSync(join(data, 'postgresql.conf'), ['', ...lines, ''].join('\n'))
  set(settings)
  if (tls) {
    const files = { ssl_key_file: write('key.pem', tls.key), ssl_cert_file: write('cert.pem', tls.certificate) }
    set(['ssl = on', ...Object.entries(files).map(([name, file]) => `${name} = '${file}'`)])
    writeFileSync(join(data, 'pg_hba.conf'), `hostssl all all all ${auth[0]}\n`)
  }
  const port = await freePort()
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder]
    server = spawn(join(POSTGRES_BIN!, 'postgres'), options, { ...run, stdio: ['ignore', 'ignore', 'pipe'] })
    let told = ''
    await new Promise<void>((resolve, reject) => {
      server!.stderr!.on('data', (chunk) => {
        told += chunk
        if (told.includes('ready to accept connections')) resolve()
      })
      server!.once('exit', () => reject(new Error(`PostgreSQL did not start: ${told}`)))
    })
  }

  async function stop(how: 'immediate' | 'fast'): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
    await exited
  }

  await start()
  return {
    url: `postgres://turnpike@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async close() {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A port of loopback that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { SCHEMA_VERSION as POSTGRES_VERSION } from '../../src/store/postgres/schema.ts'
import { SCHEMA_VERSION } from '../../src/store/schema.ts'
import { runTurnpike } from '../kit/clients.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { KEY, TURN } from '../store/contract.ts'

let folder: string
let server: PostgresServer | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-store-command-'))
  server = POSTGRES_BIN === undefined ? undefined : await startPostgres()
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const KINDS = [
  ['sqlite', SCHEMA_VERSION],
  ['postgres', POSTGRES_VERSION],
] as const

describe.each(KINDS)('turnpike store, %s', (kind, latest) => {
  test.skipIf(kind === 'postgres' && POSTGRES_BIN === undefined)('checks, migrates and prunes', async () => {
    const at =
      kind === 'sqlite'
        ? ({ kind, path: join(folder, 'turnpike.db') } as const)
        : ({ kind, url: server!.url, schema: 'turnpike' } as const)
    const place = at.kind === 'sqlite' ? at.path : `${at.url.replace('turnpike@', '')} (schema turnpike)`
    const file = join(folder, `${kind}.yaml`)
    writeFileSync(file, JSON.stringify({ store: at }))
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runTurnpike(['store', ...args, '--config', file], '')
      expect([code, stderr]).toEqual([0, ''])
      return stdout
    }
    expect(await run('check')).toBe(
      `${place}: no tables yet; turnpike serve --config ${file} or turnpike store migrate --config ${file} creates them\n`,
    )
    expect(await run('migrate')).toBe(`${place}: migrated from version 0 to ${latest}\n`)
    expect(await run('migrate')).toBe(`${place}: tables of version ${latest} already\n`)
    expect(await run('check')).toBe(`${place}: tables of version ${latest}\n`)
    const store = await openStore(at)
    await store.openSession(KEY, 'S1', 1)
    const now = Date.now()
    await store.endTurn({ ...TURN, turn: 'old', startedAt: now - 60_000, endedAt: now - 60_000, outcome: 'completed' })
    await store.endTurn({ ...TURN, turn: 'new', startedAt: now, endedAt: now, outcome: 'completed' })
    await store.close()
    expect(await run('prune')).toBe('0 turns deleted\n')
    expect(await run('prune', '--older', '30s')).toBe('1 turns deleted\n')
  })
})

test.each([
  [[], 'needs check, migrate or prune'],
  [['clean'], 'needs check, migrate or prune'],
  [['check', 'it'], 'unexpected argument "it"'],
  [['prune', '--older', 'long'], '--older needs a time, such as 20d or 12h'],
])('turnpike store %j is refused', async (args, why) => {
  const { code, stdout, stderr } = await runTurnpike(['store', ...args], '')
  expect([code, stdout, stderr]).toEqual([2, '', `turnpike store: ${why}; see turnpike help store\n`])
})

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { type Store, StoreError } from '../../src/contract/index.ts'
import { openDatabase } from '../../src/store/database.ts'
import { storeProblem } from '../../src/store/errors.ts'
import { openStore, storeVersion } from '../../src/store/index.ts'
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from '../../src/store/schema.ts'
import { KEY, storeContract, TURN } from './contract.ts'

const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
const folder = mkdtempSync(join(tmpdir(), 'turnpike-store-'))
let files = 0
const newPath = (): string => join(folder, `${++files}.db`)
const open = (path: string): Store => openStore({ kind: 'sqlite', path })

afterAll(() => rmSync(folder, { recursive: true, force: true }))

storeContract('a SQLite file', () => open(newPath()))
storeContract('SQLite in memory', () => open(':memory:'))

it('tells the version of a file without changing it', async () => {
  const path = newPath()
  const at = { kind: 'sqlite', path } as const
  expect(await storeVersion(at)).toEqual({ place: path, version: 0, latest: SCHEMA_VERSION })
  expect(existsSync(path)).toBe(false)
  expect((await storeVersion({ kind: 'sqlite', path: ':memory:' })).version).toBe(0)
  await open(path).close()
  expect((await storeVersion(at)).version).toBe(SCHEMA_VERSION)
  writeFileSync(path, 'no database, but a text that is long enough to be read as one'.repeat(20))
  await expect(storeVersion(at)).rejects.toMatchObject({ code: 'damaged' })
})

it('has another version once another process has changed the file, and only then', async () => {
  const path = newPath()
  const [store, other] = [open(path), open(path)]
  const versions = [store.version!()]
  const note = (): unknown => versions.push(store.version!())
  await store.openSession(KEY, 'S1', 1)
  note()
  await store.commit()
  note()
  await other.readSession('S1')
  note()
  await other.setSession('S1', { model: 'opus' })
  note()
  await other.commit()
  note()
  await store.setSession('S1', { mode: 'plan' })
  note()
  const names = versions.map((version) => versions.indexOf(version))
  expect(names).toEqual([0, 0, 0, 0, 0, 5, 5])
  await store.close()
  await other.close()
})

it('reads losses that were recorded without a side: those of the client are the last ones', async () => {
  const store = open(':memory:')
  const { id: session } = await store.openSession(KEY, 'S1', 1)
  const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const
  const other = { ...loss, item: 'ext' } as const
  for (const [turn, toClient] of [
    ['none', {}],
    ['one', { toClient: [loss] }],
  ] as const) {
    const measures = { back: 'zot', timings: {}, ...toClient }
    const losses = [other, loss] as never
    await store.endTurn({ ...TURN, turn, session, endedAt: 9, outcome: 'completed', losses, measures })
  }
  await store.endTurn({ ...TURN, turn: 'bare', session, endedAt: 9, outcome: 'completed', losses: [loss] as never })
  const sides = async (turn: string) => (await store.readTurn(turn))!.losses!.map(({ item, side }) => [item, side])
  expect(await sides('bare')).toEqual([['plan', 'agent']])
  expect(await sides('none')).toEqual([
    ['ext', 'agent'],
    ['plan', 'agent'],
  ])
  expect(await sides('one')).toEqual([
    ['ext', 'agent'],
    ['plan', 'client'],
  ])
})

/** Starts one of the small programs; `line` waits for its next line of output. */
function start(program: string, ...args: string[]): { child: ChildProcess; line: () => Promise<string> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'programs', program), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const line = async (): Promise<string> => {
    while (!text.includes('\n')) await once(child.stdout!, 'data')
    const end = text.indexOf('\n')
    const first = text.slice(0, end)
    text = text.slice(end + 1)
    return first
  }
  return { child, line }
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

/** The error of opening `path`, which must be a `StoreError`. */
function refusal(path: string, opener: (path: string) => unknown = open): StoreError {
  try {
    opener(path)
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }
  throw new Error('The store opened.')
}

describe('the files', () => {
  it('are for their owner only, log and shared memory included, and so is a folder that had to be made', async () => {
    const before = process.umask(0)
    try {
      const path = join(folder, 'made', 'deep', 'turnpike.db')
      const store = open(path)
      await store.claim('k', 't', 'd', 1, 1)
      expect([path, `${path}-wal`, `${path}-shm`].map(mode)).toEqual(['600', '600', '600'])
      expect([join(folder, 'made'), join(folder, 'made', 'deep')].map(mode)).toEqual(['700', '700'])
      await store.close()
      expect([existsSync(path), existsSync(`${path}-wal`)]).toEqual([true, false])
    } finally {
      process.umask(before)
    }
  })

  it('keep the mode that somebody gave them', async () => {
    const path = newPath()
    writeFileSync(path, '')
    chmodSync(path, 0o640)
    await open(path).close()
    expect(mode(path)).toBe('640')
  })

  it('use the write-ahead log', async () => {
    const path = newPath()
    await open(path).close()
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION })
    db.close()
  })

  // To find a place in such a table SQLite reads rows there whole, however long they are.
  it('have no row ids in tables of short rows alone', async () => {
    const path = newPath()
    await open(path).close()
    const db = new DatabaseSync(path)
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID%' ORDER BY name").all()
    expect(tables.map(({ name }) => name)).toEqual([
      'claims',
      'forgotten',
      'leases',
      'places',
      'requests',
      'running',
      'sessions',
      'spent',
    ])
    db.close()
  })

  it('of a short-lived store keep the log for the next process, with what is in it', async () => {
    const path = newPath()
    const key = { tenant: 'a', agent: 'b', session: 'c', conversation: '' }
    const shortLived = openStore({ kind: 'sqlite', path }, { shortLived: true })
    await shortLived.openSession(key, 'S', 1)
    await shortLived.close()
    expect(existsSync(`${path}-wal`)).toBe(true)
    const next = open(path)
    expect(await next.findSession(key)).toMatchObject({ id: 'S' })
    await next.close()
  })

  it('of an older version keep what agents know of their sessions, and say where they know it by another name', async () => {
    const path = newPath()
    const old = new DatabaseSync(path)
    for (const script of MIGRATIONS.slice(0, 3)) old.exec(script)
    old.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 3`)
    const insert = old.prepare("INSERT INTO sessions VALUES (?, ?, 'a', ?, ?, ?, 1, 1, NULL)")
    for (const row of [
      ['S1', 'local', 's', '', 's'],
      ['S2', 'alice', 's', '', 's'],
      ['S3', 'alice', 's', 'c', 's/c'],
      ['S4', 'alice', 't', '', 'own-id'],
      ['S5', 'local', 't', 'c', null],
    ] as const) {
      insert.run(...row)
    }
    old.close()
    const store = open(path)
    const read = async (id: string) => {
      const { bound, renamed, epoch } = (await store.readSession(id))!
      return { bound, renamed, epoch }
    }
    const told = { renamed: true, epoch: undefined }
    expect(await read('S1')).toEqual({ bound: 's', renamed: undefined, epoch: undefined })
    expect(await read('S2')).toEqual({ ...told, bound: undefined })
    expect(await read('S3')).toEqual({ ...told, bound: undefined })
    expect(await read('S4')).toEqual({ ...told, bound: 'own-id' })
    expect(await read('S5')).toEqual({ ...told, bound: undefined })
    await store.bindSession('S5', undefined)
    expect((await store.readSession('S5'))?.renamed).toBeUndefined()
    await store.close()
  })

  it('of an older version keep turns, events, transcripts and usage', async () => {
    const path = newPath()
    const old = new DatabaseSync(path)
    for (const script of MIGRATIONS.slice(0, 4)) old.exec(script)
    old.exec(`
      PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 4;
      INSERT INTO sessions (id, tenant, agent, session, conversation, created_at, used_at, usage)
        VALUES ('S', 'a', 'b', 's', '', 1, 9, '{"input":5}');
      INSERT INTO turns (turn, session, tenant, agent, front, owner, started_at, ended_at, outcome, delivered, measures)
        VALUES ('second', 'S', 'a', 'b', 'zot', 'host:1', 4, 6, 'completed', 1, '{"back":"zot","timings":{},"usage":{"input":3}}'),
          ('first', 'S', 'a', 'b', 'zot', 'host:1', 2, 3, 'failed', 0, NULL),
          ('left', 'S', 'a', 'b', 'zot', 'host:1', 7, NULL, NULL, 0, NULL);
      INSERT INTO events VALUES ('second', 1, '1' || char(10) || '2'), ('second', 3, '3'), ('left', 1, '1');
      INSERT INTO messages (session, json) VALUES ('S', '{"role":"user","parts":[]}'), ('S', '{"role":"assistant","parts":[]}');
    `)
    old.close()
    const store = open(path)
    const turn = { session: 'S', tenant: 'a', agent: 'b', front: 'zot', owner: 'host:1', epoch: 0, delivered: false }
    const left = { ...turn, turn: 'left', startedAt: 7 }
    const measures = { back: 'zot', timings: {}, usage: { input: 3 } }
    const named = 's'
    expect((await store.listTurns({ tenant: 'a', limit: 9 }))!.rows).toEqual([
      { ...left, named },
      { ...turn, turn: 'second', startedAt: 4, endedAt: 6, outcome: 'completed', delivered: true, measures, named },
      { ...turn, turn: 'first', startedAt: 2, endedAt: 3, outcome: 'failed', named },
    ])
    expect(await store.unfinishedTurns()).toEqual([left])
    expect(await store.readEvents('second', 0)).toEqual([
      { turn: 'second', seq: 1, lines: '1\n2' },
      { turn: 'second', seq: 3, lines: '3' },
    ])
    const now = { ...left, endedAt: 8, outcome: 'completed', measures: { ...measures, usage: { input: 2 } } } as const
    const events = { turn: 'left', seq: 2, lines: '2' }
    await store.endTurn(now, { events, messages: [{ role: 'user', parts: [], at: 7 }] })
    expect(await store.readEvents('left', 0)).toEqual([{ turn: 'left', seq: 1, lines: '1' }, events])
    for (const pruned of [0, 3]) {
      expect(await store.prune(pruned === 0 ? 1 : 9, 9)).toBe(pruned)
      expect(await store.usageOf('S')).toEqual({ input: 7 })
      expect((await store.readMessages('S')).map(({ role, at }) => [role, at])).toEqual([
        ['user', undefined],
        ['assistant', undefined],
        ['user', 7],
      ])
    }
    expect(await store.readEvents('left', 0)).toEqual([])
    await store.close()
  })

  it('leave nothing of a memory store', async () => {
    await open(':memory:').close()
    expect(existsSync(':memory:')).toBe(false)
  })
})

describe('several processes', () => {
  it('win each of 200 keys exactly once, on a file that all open new at the same time', async () => {
    const path = newPath()
    const programs = ['A', 'B'].map((turn) => start('claimer.ts', path, turn))
    await Promise.all(programs.map(async ({ line }) => expect(await line()).toBe('ready')))
    for (const { child } of programs) child.stdin!.write('go\n')
    const won = await Promise.all(programs.map(async ({ line }) => JSON.parse(await line()) as string[]))
    expect(won.flat().sort()).toEqual(Array.from({ length: 200 }, (_, n) => `key-${n}`).sort())
    const store = open(path)
    for (const [index, turn] of ['A', 'B'].entries()) {
      for (const key of won[index]!) {
        expect(await store.claim(key, 'late', 'x', Date.now(), 60_000)).toEqual({ state: 'held', turn, body: 'digest' })
      }
    }
    await store.close()
  })

  it('keep what was committed when the writer is killed, and only whole batches', async () => {
    const path = newPath()
    const { child, line } = start('writer.ts', path)
    let committed = 0
    for (let n = 0; n < 20; n++) committed = Number(await line())
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = open(path)
    const events = await store.readEvents('T', 0)
    expect(events.length).toBeGreaterThanOrEqual(committed)
    expect(events.length % 10).toBe(0)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect((await store.unfinishedTurns()).map(({ turn }) => turn)).toEqual(['T'])
    await store.close()
  })
})

it('holds no copy of a large text that it has written', async () => {
  const { line } = start('large.ts', newPath())
  const { more, kept } = JSON.parse(await line()) as { more: number; kept: number }
  expect(kept).toBe(2)
  expect(more).toBeLessThan(40)
})

describe('what is written in one tick', () => {
  const KEY = { tenant: 'a', agent: 'b', session: 'c', conversation: 'd' }

  it('is seen by others from the commit on, which comes by itself', async () => {
    const path = newPath()
    const [writer, reader] = [open(path), open(path)]
    await writer.openSession(KEY, 'S1', 1)
    expect(await reader.readSession('S1')).toBeUndefined()
    await writer.commit()
    expect(await reader.readSession('S1')).toMatchObject({ id: 'S1' })
    await writer.bindSession('S1', 'bound')
    await tick()
    expect(await reader.readSession('S1')).toMatchObject({ bound: 'bound' })
    for (const store of [writer, reader]) await store.close()
  })
})

describe('a batch that fails', () => {
  it('leaves nothing of itself and no open transaction', async () => {
    const store = open(newPath())
    await store.openSession({ tenant: 'a', agent: 'b', session: 'c', conversation: 'd' }, 'S', 1)
    await store.beginTurn({
      turn: 'T',
      session: 'S',
      tenant: 'a',
      agent: 'b',
      front: 'zene',
      owner: 'host:1',
      epoch: 1,
      startedAt: 1,
      delivered: false,
    })
    await store.takeLease('host:1', 1, 9)
    const broken = { turn: 'T', seq: 9, lines: {} as unknown as string }
    expect(() => store.appendEvents([{ turn: 'T', seq: 1, lines: '1' }, broken])).toThrow(TypeError)
    expect(await store.readEvents('T', 0)).toEqual([])
    await store.appendEvents([{ turn: 'T', seq: 1, lines: '1' }])
    expect(await store.readEvents('T', 0)).toHaveLength(1)
    await store.close()
  })
})

describe('what cannot be opened is refused with its remedy', () => {
  it('a file of a newer version', async () => {
    const path = newPath()
    await open(path).close()
    const db = new DatabaseSync(path)
    db.exec('PRAGMA user_version = 99')
    db.close()
    const error = refusal(path)
    expect(error.code).toBe('newer')
    expect(error.message).toBe(
      `The store ${path} was written by a newer version of Turnpike (it has version 99, this program knows up to ` +
        `${SCHEMA_VERSION}). Update Turnpike, or set store.path to another file: an older version would damage it.`,
    )
  })

  it("another program's database, which stays as it was", () => {
    const path = newPath()
    const db = new DatabaseSync(path)
    db.exec('CREATE TABLE t (x)')
    db.close()
    const before = readFileSync(path)
    const error = refusal(path)
    expect(error.code).toBe('foreign')
    expect(error.message).toBe(
      `The store ${path} belongs to another program. Set store.path to a file that does not exist yet.`,
    )
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('a file that is no database', () => {
    const path = newPath()
    writeFileSync(
      path,
      'This is a text, long enough to be taken for a header of a database file, which it is not. '.repeat(9),
    )
    const error = refusal(path)
    expect(error.code).toBe('damaged')
    expect(error.message).toBe(
      `The store ${path} is damaged or not a SQLite database (file is not a database). ` +
        'Restore it from a backup, or move it away: a new one is created at the next start.',
    )
  })

  it('a folder in the place of the file', () => {
    const path = newPath()
    mkdirSync(path)
    const error = refusal(path)
    expect(error.code).toBe('unwritable')
    expect(error.message).toBe(
      `The store ${path} cannot be read and written (EISDIR). Give the user that runs Turnpike read and write access ` +
        'to the file and its folder, or change store.path.',
    )
  })

  it('a path through a file', () => {
    const path = newPath()
    writeFileSync(path, '')
    const error = refusal(join(path, 'below', 'turnpike.db'))
    expect(error.code).toBe('no-folder')
    expect(error.message).toContain('cannot be created in its folder (ENOTDIR).')
  })

  it.skipIf(process.getuid?.() === 0)('a file without the right to write it', () => {
    const path = newPath()
    writeFileSync(path, '')
    chmodSync(path, 0o400)
    expect(refusal(path).code).toBe('unwritable')
  })

  it('a file that another process keeps locked', async () => {
    const path = newPath()
    await open(path).close()
    const db = new DatabaseSync(path)
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const error = refusal(path, (locked) => openDatabase(locked, { busyMs: 20 }))
    db.close()
    expect(error.code).toBe('locked')
    expect(error.message).toBe(
      `The store ${path} is locked by another process (database is locked). ` +
        'Close the program that holds it (a backup or a database browser), then try again.',
    )
  })
})

describe('a store whose file another process has locked', () => {
  it('is not waited for when it is tried, and can be written when it is free', async () => {
    const path = newPath()
    const store = open(path)
    const db = new DatabaseSync(path)
    db.exec('BEGIN IMMEDIATE')
    expect(() => store.probe()).toThrow(/is locked by another process/)
    db.exec('COMMIT')
    db.close()
    await store.probe()
    await store.close()
  })
})

describe('a closed store', () => {
  it('says so when it is used', async () => {
    const store = open(':memory:')
    await store.close()
    expect(() => store.readTurn('t')).toThrow(storeProblem('closed', ':memory:', 'ERR_INVALID_STATE').message)
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { AGENTS } from '../kit/gateway.ts'
import { unend } from '../kit/journal.ts'
import { hasOpen, pidsOf, until } from '../kit/processes.ts'

test('stand-ins that run alone end what others have left, and delete what is too old', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-standalone-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'turnpike.yaml')
  const agent = `{ protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }`
  writeFileSync(config, `default: a\nagents: { a: ${agent} }\nstore: { path: ./t.db, retention: 1h }\n`)
  const run = async (id: string): Promise<unknown> => {
    const ran = await runTurnpike(
      ['as', 'zene', '--config', config],
      CLIENTS.zene.write({ text: 'hi', session: 's', id }),
      { XDG_RUNTIME_DIR: folder },
    )
    return (JSON.parse(ran.stdout) as { ok: boolean }).ok
  }
  expect([await run('old'), await run('left')]).toEqual([true, true])
  const db = new DatabaseSync(join(folder, 't.db'))
  db.exec("UPDATE turns SET started_at = started_at - 7200000, ended_at = ended_at - 7200000 WHERE request = 'old'")
  // As of one whose process was killed.
  unend(db, db.prepare("SELECT turn FROM turns WHERE request = 'left'").get()!['turn'] as string, 'gone')
  expect(await run('new')).toBe(true)
  const turns = db.prepare('SELECT request, outcome, code FROM turns ORDER BY started_at').all()
  db.close()
  expect(turns.map((row) => ({ ...row }))).toEqual([
    { request: 'left', outcome: 'failed', code: 'internal' },
    { request: 'new', outcome: 'completed', code: null },
  ])
})

test('stand-ins that run alone at once are all answered, also while another process keeps the store locked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-standalone-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'turnpike.yaml')
  const agent = `{ protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }`
  writeFileSync(config, `default: a\nagents: { a: ${agent} }\nstore: { path: ./t.db }\n`)
  const run = async (id: string): Promise<unknown> => {
    const request = { request_id: id, session_id: id, prompt: 'hi', idempotency_key: id }
    const env = { XDG_RUNTIME_DIR: folder }
    const ran = await runTurnpike(['as', 'zene', '--config', config], `${JSON.stringify(request)}\n`, env)
    const { ok, error_message } = JSON.parse(ran.stdout) as { ok: boolean; error_message: string }
    return ok || error_message
  }
  expect(await run('first')).toBe(true)
  const store = join(folder, 't.db')
  const locker = new DatabaseSync(store)
  locker.exec('PRAGMA busy_timeout = 10000')
  const ids = Array.from({ length: 4 }, (_, at) => `${at}`)
  locker.exec('BEGIN IMMEDIATE')
  const running = Promise.all(ids.map(run))
  await Promise.race([running, until(() => pidsOf(config).filter((pid) => hasOpen(pid, store)).length === ids.length)])
  // Longer than a gateway waits.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  locker.exec('COMMIT')
  expect(await running).toEqual(ids.map(() => true))
  const turns = locker.prepare('SELECT outcome, count(*) AS turns FROM turns GROUP BY outcome').all()
  locker.close()
  expect(turns.map((row) => ({ ...row }))).toEqual([{ outcome: 'completed', turns: 5 }])
})

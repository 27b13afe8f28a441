import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { AGENTS } from '../kit/gateway.ts'

test('stand-ins that run alone end what others have left, and delete what is too old', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-alone-store-'))
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
  db.exec("UPDATE turns SET ended_at = ended_at - 7200000 WHERE request = 'old'")
  // As of one whose process was killed.
  db.exec("UPDATE turns SET ended_at = NULL, outcome = NULL WHERE request = 'left'")
  db.exec("DELETE FROM events WHERE turn IN (SELECT turn FROM turns WHERE request = 'left')")
  expect(await run('new')).toBe(true)
  const turns = db.prepare('SELECT request, outcome, code FROM turns ORDER BY started_at').all()
  db.close()
  expect(turns.map((row) => ({ ...row }))).toEqual([
    { request: 'left', outcome: 'failed', code: 'internal' },
    { request: 'new', outcome: 'completed', code: null },
  ])
})

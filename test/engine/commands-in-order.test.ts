import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, silentHooks } from '../../src/contract/index.ts'
import type { Cluster } from '../../src/engine/common/index.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Command } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainWire, SILENT_LOG, start } from '../kit/plain.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { openShared } from '../kit/shared-store.ts'

const CLUSTER: Cluster = { leaseMs: 8000, handOver: async () => 'kept', gone() {}, check: async () => undefined }

/** Completes a turn that it is told to use the model `big` for, and lets any other fail. */
const PARTICULAR = `read -r line
turn=\${line#*'"turn":"'}
case $line in *'"model":"big"'*) came=completed;; *) came=failed;; esac
echo '{"turn":"'"\${turn%%'"'*}"'","type":"turn-end","outcome":"'$came'"}'`

const session = { id: 's' }
const set = (exchange: string, model: string): Command => ({ type: 'config-set', exchange, session, model })

describe.each([
  ['a file', false],
  ['PostgreSQL', POSTGRES_BIN === undefined],
] as const)('commands that a client sends at once, with the record in %s', (kind, isMissing) => {
  let server: PostgresServer | undefined
  let store: Store
  let engine: Engine

  beforeAll(async () => {
    if (kind === 'PostgreSQL' && !isMissing) server = await startPostgres()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    store = server ? await openShared(server) : openStore({ kind: 'sqlite', path: ':memory:' })
    const settings = settingsOf([plainAgent(PARTICULAR)], { default: 'plain' })
    const parts = { settings, store, hooks: silentHooks, log: SILENT_LOG }
    engine = new Engine({ ...parts, ...(server && { cluster: CLUSTER }) })
  })
  afterEach(() => engine.close(0))

  /** What a client gets for commands that come in one piece; the last one is a turn. */
  function send(...commands: Command[]): Promise<string> {
    const { options, answered } = plainWire()
    const client = engine.client(options)
    client.open()
    client.push(commands.map((command) => `${JSON.stringify(command)}\n`).join(''))
    return answered
  }

  test.skipIf(isMissing)('set what the turn after them is run with', async () => {
    const got = await send(set('a', 'small'), set('b', 'big'), start({ session }))
    expect(got).not.toContain('"fault"')
    expect(got).toContain('"outcome":"completed"')
  })

  test.skipIf(isMissing)('change a session that has had turns, and clear it', async () => {
    expect(await send(set('a', 'big'), start({ session, turn: 'first' }))).toContain('"outcome":"completed"')
    const clear: Command = { type: 'session-clear', exchange: 'c', session }
    const got = await send(clear, set('a', 'small'), set('b', 'big'), start({ session, turn: 'next' }))
    expect(got).not.toContain('"fault"')
    expect(got).toContain('"outcome":"completed"')
  })
})

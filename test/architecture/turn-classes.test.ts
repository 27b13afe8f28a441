import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentHooks } from '../../src/contract/index.ts'
import { Engine } from '../../src/engine/index.ts'
import { openStore } from '../../src/store/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainWire, SILENT_LOG, serving, start } from '../kit/plain.ts'
import { constructedWhile } from './constructed.ts'

/** The classes of the engine that are made for one turn between a client's bytes and its answer. They may only fall. */
const MOST = 10
const MOST_NEW = 14

const DONE = `id=$(echo "$line" | sed 's/.*"turn":"\\([^"]*\\)".*/\\1/'); echo "{\\"type\\":\\"turn-end\\",\\"turn\\":\\"$id\\",\\"outcome\\":\\"completed\\"}"`

let engine: Engine
beforeAll(() => {
  const agent = plainAgent(serving(DONE), { pool: { warm: 1, max: 9, idle: 60_000 } }, { persistent: true })
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  engine = new Engine({
    settings: settingsOf([agent], { default: 'plain' }),
    store,
    hooks: silentHooks,
    log: SILENT_LOG,
  })
})
afterAll(() => engine.close(0))

/** A client whose turn is in this session; `push` gives its request and resolves with the answer. */
function client(session: string): { push(): Promise<string> } {
  const { options, answered } = plainWire()
  const link = engine.client(options)
  link.open()
  return {
    push: () => {
      link.push(`${JSON.stringify(start({ turn: link.id, session: { id: session } }))}\n`)
      return answered
    },
  }
}

test.each([
  ['a session that has a process', 's', MOST],
  ['a new session, on a warm process', 'new', MOST_NEW],
])('a turn of %s is made of few classes', async (_which, session, most) => {
  await client('s').push()
  const next = client(session)
  const { made, result } = await constructedWhile('src/engine/', () => next.push())
  expect(result).toContain('completed')
  // The next warm process, which the agent's pool starts, is not of this turn.
  const ofTurn = made.filter((name) => !name.startsWith('agent/'))
  expect(ofTurn.length, ofTurn.join('\n')).toBeLessThanOrEqual(most)
})

/** Appends batches of ten events to the store at argv[2] for ever, printing the last `seq` of each when it is committed. */
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/index.ts'

const store = openSqliteStore(process.argv[2]!)
const session = await store.openSession({ tenant: 'a', agent: 'b', session: 'c', conversation: 'd' }, 'S', 1)
await store.takeLease('host:1', 1, 9e15)
await store.beginTurn({
  turn: 'T',
  session: session.id,
  tenant: 'a',
  agent: 'b',
  front: 'zene',
  owner: 'host:1',
  epoch: 1,
  startedAt: 1,
  delivered: false,
})
for (let seq = 0; ; seq += 10) {
  await store.appendEvents(Array.from({ length: 10 }, (_, n) => ({ turn: 'T', seq: seq + n + 1, lines: '{"n":1}' })))
  await store.commit()
  writeSync(1, `${seq + 10}\n`)
}

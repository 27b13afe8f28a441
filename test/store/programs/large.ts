/** Ends a turn with a text of 64 MB in the store at argv[2], and prints how many MB the process has more than before. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openSqliteStore } from '../../../src/store/index.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const store = openSqliteStore(process.argv[2]!)
await store.openSession({ tenant: 'a', agent: 'b', session: 'c', conversation: 'd' }, 'S', 1)

async function end(turn: string, megabytes: number): Promise<number> {
  const text = 'x'.repeat(megabytes * 2 ** 20)
  const record = { turn, session: 'S', tenant: 'a', agent: 'b', front: 'zene', owner: 'host:1', epoch: 1, startedAt: 1 }
  const message = { role: 'assistant', parts: [{ type: 'text', text }], at: 1 } as const
  await store.endTurn({ ...record, delivered: false, endedAt: 2, outcome: 'completed' }, { messages: [message] })
  await store.commit()
  return text.length
}

async function resident(turn: string, megabytes: number): Promise<number> {
  await end(turn, megabytes)
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    collect()
  }
  return process.memoryUsage().rss / 2 ** 20
}

// What the first turn leaves is code and pages of the file.
const before = await resident('small', 1)
const after = await resident('large', 64)
const kept = (await store.readMessages('S')).length
await store.close()
process.stdout.write(`${JSON.stringify({ more: after - before, kept })}\n`)

/** Opens the store at argv[2], says `ready`, waits for a line, claims 200 keys as turn argv[3] and prints those it won. */
import { once } from 'node:events'
import { openSqliteStore } from '../../../src/store/index.ts'

const [, , path, turn] = process.argv as [string, string, string, string]
const store = openSqliteStore(path)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const won: string[] = []
for (let n = 0; n < 200; n++) {
  const claim = await store.claim(`key-${n}`, turn, 'digest', Date.now(), 60_000)
  if (claim.state === 'new') won.push(`key-${n}`)
}
await store.close()
process.stdout.write(`${JSON.stringify(won)}\n`)
process.stdin.destroy()

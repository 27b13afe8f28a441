/**
 * Makes a store of many turns without running them. argv: the file of a store that nobody has open, and the number of
 * turns. Its rows are copied, whatever the tables are. stdout: the turns that it has then, as JSON.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Columns that hold ids of turns, sessions and requests: those of a copy differ. */
const IDS = new Set(['id', 'turn', 'session', 'request', 'key'])
const [file = '', turns = ''] = process.argv.slice(2)

const db = new DatabaseSync(file)
const count = (): number => Number(db.prepare('SELECT count(*) AS turns FROM turns').get()!['turns'])

/** The columns of a table without the one that numbers its rows. */
function columnsOf(table: string): string[] {
  const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE NOT (pk = 1 AND type = 'INTEGER')`)
  return columns.all().map(({ name }) => String(name))
}

db.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -500000')
const copies = Math.ceil(Number(turns) / count()) - 1
db.exec('BEGIN')
for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()) {
  const columns = columnsOf(String(name))
  const values = columns.map((column) => (IDS.has(column) ? `printf('%08d-', n) || ${column}` : column))
  db.exec(`CREATE TEMP TABLE seed AS SELECT * FROM main.${name}`)
  // In the order of the ids, so that rows are appended. Rows that are unique in another way are not copied.
  db.exec(`WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
    INSERT OR IGNORE INTO ${name} (${columns}) SELECT ${values} FROM copies CROSS JOIN seed`)
  db.exec('DROP TABLE seed')
}
db.exec('COMMIT; PRAGMA journal_mode = WAL')
const made = count()
db.close()
// What the system still had to write would disturb what is measured next.
const written = openSync(file, 'r')
fsyncSync(written)
closeSync(written)
process.stdout.write(`${JSON.stringify({ turns: made })}\n`)

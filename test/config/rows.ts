import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../kit/gateway.ts'

/** The cells of every table of docs/configuration.md that begins with a key, without links; the first is empty. */
export const rows: readonly (readonly string[])[] = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line.split(/(?<!\\)\|/).map((cell) =>
      cell
        .trim()
        .replaceAll('`', '')
        .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1'),
    ),
  )

/** The recorded wires of zot. */
import { isCut, type Recording, recordings } from '../../kit/recordings.ts'

export type Scenario = Recording

export function scenarios(): Scenario[] {
  return recordings('zot')
}

/** The lines of a recording with their direction; lines that were cut are marked, joined ones are joined. */
export function recordedLines(scenario: Scenario): { dir: string; line: string; cut: boolean }[] {
  const lines: { dir: string; line: string; cut: boolean }[] = []
  let open = ''
  for (const row of scenario.rows) {
    if (row.line.startsWith('⟨')) continue
    if (row['no_lf'] === true && row.dir === 'in') {
      open += row.line
      continue
    }
    for (const line of (open + row.line).split('\n')) lines.push({ dir: row.dir, line, cut: isCut(row) })
    open = ''
  }
  if (open !== '') lines.push({ dir: 'in', line: open, cut: false })
  return lines
}

/** Reads the recorded wires that lie beside the project, where they are there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../../../shared/transcripts/zot')

export interface Scenario {
  file: string
  args: string[]
  env: string[]
  exit_code: number | null
  broken_on_purpose?: boolean
  text_mode?: boolean
  no_output?: boolean
}

interface Rec {
  dir: string
  line?: string
  no_lf?: boolean
  truncated_from_chars?: number
  truncated?: boolean
}

export const recordingsAreThere = existsSync(join(FOLDER, 'index.json'))

export function scenarios(): Scenario[] {
  return JSON.parse(readFileSync(join(FOLDER, 'index.json'), 'utf8')) as Scenario[]
}

/** The lines of a recording with their direction; lines that were cut are marked, joined ones are joined. */
export function recordedLines(file: string): { dir: string; line: string; cut: boolean }[] {
  const lines: { dir: string; line: string; cut: boolean }[] = []
  let open = ''
  for (const json of readFileSync(join(FOLDER, file), 'utf8').split('\n')) {
    if (json === '') continue
    const record = JSON.parse(json) as Rec
    const line = record.line ?? ''
    if (line.startsWith('⟨')) continue
    if (record.no_lf && record.dir === 'in') {
      open += line
      continue
    }
    const cut = record.truncated === true || record.truncated_from_chars !== undefined
    for (const whole of (open + line).split('\n')) lines.push({ dir: record.dir, line: whole, cut })
    open = ''
  }
  if (open !== '') lines.push({ dir: 'in', line: open, cut: false })
  return lines
}

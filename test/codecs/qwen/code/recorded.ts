/** Reads the recorded wires that lie beside the project, where they are there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../../../../shared/transcripts/qwen-code')

export interface Scenario {
  file: string
  args: string[]
  exit_code: number | null
  broken_on_purpose?: boolean
  text_mode?: boolean
  no_output?: boolean
}

export const recordingsAreThere = existsSync(join(FOLDER, 'index.json'))

/** The recordings of this dialect; those named `acp-` are of another protocol. */
export function scenarios(): Scenario[] {
  const all = JSON.parse(readFileSync(join(FOLDER, 'index.json'), 'utf8')) as (Partial<Scenario> & { file: string })[]
  return all
    .filter(({ file }) => !file.startsWith('acp-'))
    .map((entry) => ({ ...entry, args: entry.args ?? argvOf(entry.file), exit_code: entry.exit_code ?? null }))
}

/** The lines of a recording with their direction; notes are left out but for the end of the input. */
export function recordedLines(file: string): { dir: string; line: string }[] {
  return records(file).filter(({ line }) => !line.startsWith('⟨') || line === '⟨EOF⟩')
}

function argvOf(file: string): string[] {
  const note = records(file).find(({ line }) => line.startsWith('⟨argv⟩'))
  return note ? (JSON.parse(note.line.slice('⟨argv⟩'.length)) as string[]) : []
}

function records(file: string): { dir: string; line: string }[] {
  return readFileSync(join(FOLDER, file), 'utf8')
    .split('\n')
    .filter((json) => json !== '')
    .map((json) => JSON.parse(json) as { dir: string; line: string })
}

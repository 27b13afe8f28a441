/** Reads the recorded wires of real programs and the conformance data that their projects published. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isRecord, parse } from '../../src/model/index.ts'
import { readRecording, type Wire } from '../../src/translate/index.ts'

const OWN = join(import.meta.dirname, '../recordings')

/**
 * Recorded wires, a folder for each kind of program. The variable `RECORDINGS` names another folder of the same form.
 */
export const RECORDINGS = process.env['RECORDINGS'] ? resolve(process.env['RECORDINGS']) : OWN

/** Conformance data that the projects of the protocols published. */
export const PUBLISHED = join(OWN, 'published')

/** One line of a recording. `line` has no line end. */
export interface Row extends Record<string, unknown> {
  dir: string
  line: string
  truncated?: boolean
  truncated_from_chars?: number
  hex?: string
}

/** A recorded scenario, and what its index says of it. */
export interface Recording {
  folder: string
  file: string
  args: readonly string[]
  /** Names or `NAME=value` pairs. */
  env: readonly string[]
  exitCode: number | null
  brokenOnPurpose: boolean
  textMode: boolean
  noOutput: boolean
  /** All that its index says. */
  index: Readonly<Record<string, unknown>>
  readonly rows: readonly Row[]
  readonly wires: readonly Wire[]
}

/** The scenarios of a folder, in the order of its index. */
export function recordings(folder: string): Recording[] {
  const index = join(RECORDINGS, folder, 'index.json')
  const entries = parse(readFileSync(index, 'utf8'))
  if (!Array.isArray(entries)) throw new Error(`${index} is no list`)
  return entries.filter(isRecord).flatMap((entry) => {
    const file = String(entry['file'])
    return file.endsWith('.jsonl') ? [recordingOf(folder, file, entry)] : []
  })
}

/** The text of a file that belongs to the recordings of a folder. */
export function recordedFile(folder: string, file: string): string {
  return readFileSync(join(RECORDINGS, folder, file), 'utf8')
}

/** The output in one direction: whole lines that were recorded whole, without notes. */
export function linesOf(recording: Recording, dir: string): string[] {
  return recording.rows
    .filter((row) => row.dir === dir && !isCut(row) && !row.line.startsWith('⟨'))
    .map(({ line }) => line)
}

/** True for a line of which the recording has only a part. */
export function isCut({ truncated, truncated_from_chars }: Row): boolean {
  return truncated === true || truncated_from_chars !== undefined
}

function recordingOf(folder: string, file: string, index: Record<string, unknown>): Recording {
  const strings = (key: string): string[] => (Array.isArray(index[key]) ? index[key].map(String) : [])
  let rows: readonly Row[] | undefined
  let wires: readonly Wire[] | undefined
  return {
    folder,
    file,
    args: strings('args'),
    env: strings('env'),
    exitCode: typeof index['exit_code'] === 'number' ? index['exit_code'] : null,
    brokenOnPurpose: index['broken_on_purpose'] === true,
    textMode: index['text_mode'] === true,
    noOutput: index['no_output'] === true,
    index,
    get rows() {
      rows ??= rowsOf(recordedFile(folder, file))
      return rows
    },
    get wires() {
      wires ??= readRecording(recordedFile(folder, file)).map(withoutNextRequest)
      return wires
    },
  }
}

/** Of two requests that were written on one connection the recorder has put both into one body. */
function withoutNextRequest(wire: Wire): Wire {
  const length = Number(wire.http?.headers['content-length'])
  const steps = wire.steps.map((step) => {
    if (step.who !== 'client' || step.text === undefined) return step
    const bytes = Buffer.from(step.text)
    const next = bytes.subarray(length).toString()
    return /^[A-Z]+ \/\S* HTTP\//.test(next) ? { ...step, text: bytes.subarray(0, length).toString() } : step
  })
  return wire.http ? { ...wire, steps } : wire
}

function rowsOf(text: string): Row[] {
  return text
    .split('\n')
    .filter((json) => json !== '')
    .map((json) => JSON.parse(json) as Row)
    .map((row) => ({ ...row, line: row.line ?? '' }))
}

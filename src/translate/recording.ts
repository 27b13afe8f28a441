import type { CallEnd, CallHead } from '../contract/index.ts'
import { isRecord, parse } from '../model/index.ts'

/** One step of a wire. Text includes its line ends. */
export type WireStep =
  /** The client wrote. */
  | { who: 'client'; text: string }
  /** The client ended its input. */
  | { who: 'client'; text: undefined }
  /** The agent wrote. */
  | { who: 'agent'; text: string }
  /** The agent's HTTP answer began. */
  | { who: 'agent'; head: CallHead }

/** One process, or one HTTP exchange, from its start to its end. */
export interface Wire {
  http: { method: string; path: string; headers: Readonly<Record<string, string>> } | undefined
  argv: readonly string[] | undefined
  env: Readonly<Record<string, string>>
  steps: readonly WireStep[]
  /** The end of the agent's side. */
  end: CallEnd
}

/** An invalid recording: the problem, and its line (from 1). */
export class RecordingError extends Error {}

/** One line of a recording. */
interface Row {
  dir: string
  line?: string
  no_lf?: boolean
  truncated?: boolean
  truncated_from_chars?: number
  hex?: string
  code?: number | null
  signal?: string | null
  method?: string
  path?: string
  headers?: Record<string, string>
  status?: number | null
  body?: string
}

/** The text of one side alone, as the only wire of a recording. */
export function plainWire(who: 'client' | 'agent', text: string): Wire {
  const steps: WireStep[] = text === '' ? [] : [{ who, text }]
  if (who === 'client') steps.push({ who, text: undefined })
  return { http: undefined, argv: undefined, env: {}, steps, end: { why: 'closed', exitCode: 0 } }
}

/**
 * The wires of a recording: JSON lines of `{"dir","line"}`. `in` is the client's text, `out` the agent's; `in_eof`,
 * `exit`, `err`, `argv`, `env`, `request` and `response` mean what their names say; other directions are notes. A line
 * that begins with `⟨` is a note as well, but for `⟨EOF⟩` and `⟨argv⟩`; the note `client closed stdin` is an end too.
 * Throws a `RecordingError`.
 */
export function readRecording(text: string): Wire[] {
  const rows = text.split('\n').flatMap((json, at) => rowOf(json, at + 1))
  const wires: OpenWire[] = [new OpenWire()]
  rows.forEach((row, at) => {
    const next = rows.slice(at + 1).find(({ dir }) => dir === row.dir)
    const begins = row.dir === 'request' || ((row.dir === 'in' || row.dir === 'out') && wires.at(-1)!.over)
    if (begins && wires.at(-1)!.used) wires.push(new OpenWire(wires.at(-1)))
    wires.at(-1)!.take(row, next)
  })
  return wires.filter((wire) => wire.used).map((wire) => wire.close())
}

function rowOf(json: string, number: number): Row[] {
  if (json.trim() === '') return []
  const value = parse(json)
  const wrong = isRecord(value) ? wrongMember(value) : 'dir'
  if (wrong === undefined) return [value as Row]
  if (wrong === 'dir') {
    throw new RecordingError(`line ${number} is not a JSON object with "dir"; check that the file is a recording`)
  }
  throw new RecordingError(`line ${number} has a "${wrong}" of another type; check that the file is a recording`)
}

/** The members that are texts, besides `dir`. */
const TEXTS = ['line', 'hex', 'method', 'path', 'body'] as const

/** The member of a row that is not of its type. */
function wrongMember(row: Record<string, unknown>): string | undefined {
  if (typeof row['dir'] !== 'string') return 'dir'
  const { headers = {} } = row
  if (!isRecord(headers) || Object.values(headers).some((value) => typeof value !== 'string')) return 'headers'
  return TEXTS.find((name) => row[name] !== undefined && typeof row[name] !== 'string')
}

/** The text of a note that the client ended its input. */
const STDIN_CLOSED = /^client close[sd] stdin/

/** A wire while its rows are read. */
class OpenWire {
  readonly #steps: WireStep[] = []
  readonly #env: Record<string, string> = {}
  #err = ''
  #argv: readonly string[] | undefined
  #http: Wire['http']
  #end: CallEnd | undefined
  #bytes: number[] = []
  /** It has at least one message. */
  used = false

  /** Arguments and environment stay valid for the next process. */
  constructor(before?: OpenWire) {
    if (!before) return
    this.#argv = before.#argv
    Object.assign(this.#env, before.#env)
  }

  get over(): boolean {
    return this.#end !== undefined
  }

  take(row: Row, next: Row | undefined): void {
    if (row.truncated || row.truncated_from_chars !== undefined) return
    const { dir, line = '' } = row
    const closed = dir === 'in_eof' || (dir === 'in' && line === '⟨EOF⟩') || (dir === 'note' && STDIN_CLOSED.test(line))
    if (dir === 'request') this.#request(row)
    else if (dir === 'response') this.#response(row)
    else if (closed) this.#step({ who: 'client', text: undefined })
    else if (line.startsWith('⟨argv⟩')) this.#argv = argvOf(line.slice('⟨argv⟩'.length))
    else if (line.startsWith('⟨')) return
    else if (dir === 'in') this.#step({ who: 'client', text: this.#text(row, next) })
    else if (dir === 'out') this.#step({ who: 'agent', text: this.#text(row, next) })
    else if (dir === 'err') this.#err += `${line}\n`
    else if (dir === 'argv') this.#argv = argvOf(line)
    else if (dir === 'env') this.#env[line.split('=', 1)[0]!] = line.slice(line.indexOf('=') + 1)
    else if (dir === 'exit') this.#exit(row)
  }

  close(): Wire {
    const end: CallEnd = this.#end ?? { why: 'closed', exitCode: 0 }
    return {
      http: this.#http,
      argv: this.#argv,
      env: this.#env,
      steps: this.#steps,
      end: this.#err === '' ? end : { ...end, stderr: this.#err.trimEnd() },
    }
  }

  #step(step: WireStep): void {
    this.used = true
    this.#steps.push(step)
  }

  /** The text of a line; bytes that were recorded in pieces are joined, because a character may be split. */
  #text({ line = '', hex, no_lf }: Row, next: Row | undefined): string {
    if (hex === undefined) return no_lf ? line : `${line}\n`
    for (let at = 0; at < hex.length; at += 2) this.#bytes.push(Number.parseInt(hex.slice(at, at + 2), 16))
    if (next?.hex !== undefined) return ''
    const text = new TextDecoder().decode(new Uint8Array(this.#bytes))
    this.#bytes = []
    return `${text}\n`
  }

  #request({ method = 'POST', path = '/', headers, body = '' }: Row): void {
    this.#http = { method, path, headers: lowerNames(headers) }
    this.#step({ who: 'client', text: body })
    this.#step({ who: 'client', text: undefined })
  }

  #response({ status, headers, body = '' }: Row): void {
    if (typeof status === 'number') this.#step({ who: 'agent', head: { status, headers: lowerNames(headers) } })
    this.#step({ who: 'agent', text: body })
    this.#end = { why: 'closed' }
  }

  #exit({ line = '', code, signal }: Row): void {
    const named = signal ?? /\b(SIG[A-Z0-9]+)$/.exec(line)?.[1]
    const number = code ?? (/^\d+$/.test(line) ? Number(line) : undefined)
    this.#end = { why: 'closed', ...(named ? { signal: named } : { exitCode: number ?? 0 }) }
  }
}

function lowerNames(headers: Row['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function argvOf(json: string): string[] | undefined {
  const value = parse(json)
  return Array.isArray(value) ? value.map(String) : undefined
}

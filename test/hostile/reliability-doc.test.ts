import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MODELS } from '../kit/models/index.ts'
import { backs } from './kit.ts'
import { forms } from './odd-engine.ts'
import { keptOutcomes, type OutcomesOf } from './outcomes.ts'

/** The tables of `docs/reliability.md` are made of the outcomes that are tested. `ACCEPT=1` rewrites them. */
const FILE = join(import.meta.dirname, '../../docs/reliability.md')

/** Text that a table can hold: control characters as the escapes that they are in the file of outcomes. */
function cell(words: string | undefined): string {
  if (words === undefined) return ''
  const [, text, rest = ''] = /^text (".*")(, \d+ unparsed)?$/.exec(words) ?? []
  if (text === undefined) return words
  const short = text.length > 40 ? `${text.slice(0, 37)}…"` : text
  return `\`${short.replaceAll('|', '\\|')}\`${rest}`
}

function tableOf(of: OutcomesOf, columns: readonly string[], heading: (column: string) => string): string {
  const rows = Object.entries(keptOutcomes(of)).map(
    ([behaviour, by]) => `| ${behaviour} | ${columns.map((column) => cell(by[column])).join(' | ')} |`,
  )
  return [
    `| behaviour | ${columns.map(heading).join(' | ')} |`,
    `|---|${columns.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n')
}

test.each([
  ['outcomes', backs, (back: string) => `\`${back}\``],
  ['engine-outcomes', forms, (form: string) => form],
  ['model-outcomes', Object.keys(MODELS), (protocol: string) => protocol],
] as const)('the page tells the %s that are tested', (of, columns, heading) => {
  const begin = `<!-- ${of}: generated, ACCEPT=1 npx vitest run test/hostile/reliability-doc.test.ts -->`
  const end = `<!-- end of ${of} -->`
  const page = readFileSync(FILE, 'utf8')
  const [before, rest] = page.split(begin) as [string, string]
  const after = rest.split(end)[1]
  const wanted = `${before}${begin}\n\n${tableOf(of, columns, heading)}\n\n${end}${after}`
  if (process.env['ACCEPT'] === '1') writeFileSync(FILE, wanted)
  else expect(page).toBe(wanted)
})

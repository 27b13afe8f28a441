import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backs } from './kit.ts'
import { keptOutcomes } from './outcomes.ts'

/** The table of `docs/reliability.md` is made of the outcomes that are tested. `ACCEPT=1` rewrites it. */
const FILE = join(import.meta.dirname, '../../docs/reliability.md')
const BEGIN = '<!-- outcomes: generated, ACCEPT=1 npx vitest run test/hostile/reliability-doc.test.ts -->'
const END = '<!-- end of outcomes -->'

/** Text that a table can hold: control characters as the escapes that they are in the file of outcomes. */
function cell(words: string | undefined): string {
  if (words === undefined) return ''
  const [, text, rest = ''] = /^text (".*")(, \d+ unparsed)?$/.exec(words) ?? []
  if (text === undefined) return words
  const short = text.length > 40 ? `${text.slice(0, 37)}…"` : text
  return `\`${short.replaceAll('|', '\\|')}\`${rest}`
}

function tableOf(): string {
  const rows = Object.entries(keptOutcomes()).map(
    ([behaviour, by]) => `| ${behaviour} | ${backs.map((back) => cell(by[back])).join(' | ')} |`,
  )
  return [
    `| behaviour | ${backs.map((back) => `\`${back}\``).join(' | ')} |`,
    `|---|${backs.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n')
}

test('the page tells the outcomes that are tested', () => {
  const page = readFileSync(FILE, 'utf8')
  const [before, rest] = page.split(BEGIN) as [string, string]
  const after = rest.split(END)[1]
  const wanted = `${before}${BEGIN}\n\n${tableOf()}\n\n${END}${after}`
  if (process.env['ACCEPT'] === '1') writeFileSync(FILE, wanted)
  else expect(page).toBe(wanted)
})

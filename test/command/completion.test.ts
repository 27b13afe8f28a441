import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standInNames } from '../../codecs/index.ts'
import { commandTable } from '../../src/cli/completion.ts'
import { runTurnpike } from '../kit/clients.ts'
import { ROOT } from '../kit/gateway.ts'

const installed = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0
const COMMANDS = [
  'serve',
  'init',
  'as',
  'conformance',
  'tail',
  'check',
  'store',
  'translate',
  'matrix',
  'completion',
  'version',
  'help',
]

/** Lines that end where files may follow: the file that completes them. */
const FILES: readonly (readonly [typed: readonly string[], file: string])[] = [
  [['serve', '--config', 'packa'], 'package.json'],
  [['translate', '--from', 'zot', '--to', 'zene', 'packa'], 'package.json'],
  [['conformance', 'zot', '--', 'packa'], 'package.json'],
]

/** Lines typed so far, and the words that may follow. */
const CASES: readonly (readonly [typed: readonly string[], words: readonly string[]])[] = [
  [[''], COMMANDS],
  [['ser'], ['serve']],
  [
    ['serve', '--'],
    ['--config', '--port', '--open'],
  ],
  [['serve', '--port', ''], []],
  [
    ['as', ''],
    [...standInNames, '--agent', '--config'],
  ],
  [['as', 'zo'], ['zot']],
  [
    ['store', ''],
    ['check', 'migrate', 'prune', '--older', '--config'],
  ],
  [
    ['matrix', '--format', ''],
    ['text', 'json', 'markdown'],
  ],
  [['matrix', '--format', 'j'], ['json']],
  [['translate', '--from', 'ze'], ['zene']],
  [['translate', '--to', 'mo'], ['model']],
  [['matrix', '--to', 'ac'], ['acp']],
  [
    ['store', 'check', '--'],
    ['--older', '--config'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['help', 'ch'], ['check']],
]

test('the commands and their options are those of the usage texts', async () => {
  const table = commandTable()
  expect(table.map(({ name }) => name)).toEqual(COMMANDS)
  const { stdout } = await runTurnpike(['help'], '')
  for (const { options } of table) for (const { name } of options) expect(stdout).toContain(`--${name}`)
  expect(table.find(({ name }) => name === 'conformance')?.options).toEqual([
    { name: 'client' },
    { name: 'hostile' },
    { name: 'format', values: ['text', 'json'] },
    { name: 'timeout', values: 'any' },
    { name: 'only', values: 'any' },
    { name: 'url', values: 'any' },
    { name: 'model', values: 'any' },
  ])
})

test.each([['elvish'], [], ['bash', 'more']])('%j is a mistake', async (...args) => {
  const { code, stdout, stderr } = await runTurnpike(['completion', ...args], '')
  expect([code, stdout, stderr.startsWith('turnpike completion: ')]).toEqual([2, '', true])
})

const expected = CASES.map(([, words]) => [...words].sort())
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')

/** Writes the script of a shell to a file. */
async function scriptFor(shell: string): Promise<string> {
  const { stdout } = await runTurnpike(['completion', shell], '')
  const file = join(folder, shell)
  writeFileSync(file, stdout)
  return file
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-completion-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program, and gives the lines that it prints. */
function printed(program: string, args: readonly string[]): string[] {
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return stdout.split('\n').filter((word) => word !== '')
}

describe.skipIf(!installed('bash'))('bash [needs bash]', () => {
  const completed = (script: string, typed: readonly string[]): string[] => {
    const words = `COMP_WORDS=(turnpike ${quoted(typed)}); COMP_CWORD=${typed.length}`
    // Started by Node.js, bash takes its standard input for a network connection, for which it would read `~/.bashrc`.
    return printed('bash', ['--norc', '-c', `. ${script}; ${words}; _turnpike; printf '%s\\n' "\${COMPREPLY[@]}"`])
  }

  test('completes commands, options and their values', async () => {
    const script = await scriptFor('bash')
    expect(CASES.map(([typed]) => completed(script, typed).sort())).toEqual(expected)
  })

  test('completes files where one is named', async () => {
    const script = await scriptFor('bash')
    for (const [typed, file] of FILES) expect(completed(script, typed)).toContain(file)
  })
})

describe.skipIf(!installed('zsh'))('zsh [needs zsh]', () => {
  /** What zsh offers for each line, and the descriptions that it shows. */
  async function completed(lines: readonly (readonly string[])[]): Promise<string[][]> {
    const capture = join(import.meta.dirname, 'completion.zsh')
    const typed = lines.map((words) => `turnpike ${words.join(' ')}`)
    const found = printed('zsh', ['-f', capture, await scriptFor('zsh'), ...typed])
    return found
      .join('\n')
      .split(/^== .*$/m)
      .slice(1)
      .map((part) => part.split('\n').filter((word) => word !== ''))
  }

  test('completes commands, options and their values', async () => {
    const found = await completed(CASES.map(([typed]) => typed))
    expect(found.map((words) => words.sort())).toEqual(expected)
  })

  test('completes files where one is named', async () => {
    const found = await completed(FILES.map(([typed]) => typed))
    for (const [at, [, file]] of FILES.entries()) expect(found[at]).toContain(file)
  })
})

describe.skipIf(!installed('fish'))('fish [needs fish]', () => {
  const completed = (script: string, typed: readonly string[]): string[] =>
    printed('fish', ['--no-config', '-c', `source ${script}; complete -C "turnpike ${typed.join(' ')}"`])

  test('completes commands, options and their values', async () => {
    const script = await scriptFor('fish')
    expect(
      CASES.map(([typed]) =>
        completed(script, typed)
          .map((line) => line.split('\t')[0]!)
          .sort(),
      ),
    ).toEqual(
      // It offers options only once a dash is typed.
      CASES.map(([typed, words]) =>
        words.filter((word) => typed.at(-1)!.startsWith('-') || !word.startsWith('-')).sort(),
      ),
    )
  })

  test('says what a command does', async () => {
    expect(completed(await scriptFor('fish'), ['a'])).toEqual(["as\tActs as that protocol's agent on stdio"])
  })

  test('completes files where one is named', async () => {
    const script = await scriptFor('fish')
    for (const [typed, file] of FILES) expect(completed(script, typed)).toContain(file)
  })
})

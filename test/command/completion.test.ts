import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { standInNames } from '../../codecs/index.ts'
import { commandTable } from '../../src/cli/completion.ts'
import { runTurnpike } from '../kit/clients.ts'

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

/** Runs a script in a shell, after the completion was loaded. */
async function completed(shell: string, ask: (typed: readonly string[]) => string, before = ''): Promise<string[][]> {
  const { stdout: script } = await runTurnpike(['completion', shell], '')
  return CASES.map(([typed]) => {
    const { stdout, stderr, status } = spawnSync(shell, ['-c', `${before}\n${script}\n${ask(typed)}`], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    return stdout.split('\n').filter((word) => word !== '')
  })
}

const expected = CASES.map(([, words]) => [...words].sort())
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')

describe.skipIf(!installed('bash'))('bash', () => {
  test('completes commands, options and their values', async () => {
    const found = await completed(
      'bash',
      (typed) =>
        `COMP_WORDS=(turnpike ${quoted(typed)}); COMP_CWORD=${typed.length}; _turnpike; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
    expect(found.map((words) => words.sort())).toEqual(expected)
  })

  test('completes files where one is named', async () => {
    const { stdout: script } = await runTurnpike(['completion', 'bash'], '')
    const ask = `COMP_WORDS=(turnpike serve --config packa); COMP_CWORD=3; _turnpike; printf '%s\\n' "\${COMPREPLY[@]}"`
    expect(spawnSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' }).stdout).toContain('package.json\n')
  })
})

describe.skipIf(!installed('zsh'))('zsh', () => {
  test('completes commands, options and their values', async () => {
    const found = await completed(
      'zsh',
      (typed) => `words=(turnpike ${quoted(typed)}); CURRENT=${typed.length + 1}; _turnpike`,
      `compdef() {}; compadd() { shift; print -rl -- \${(M)@:#$words[CURRENT]*} }; _files() {}`,
    )
    expect(found.map((words) => words.sort())).toEqual(expected)
  })
})

describe.skipIf(!installed('fish'))('fish', () => {
  test('completes commands, options and their values', async () => {
    const found = await completed(
      'fish',
      (typed) => `complete -C "turnpike ${typed.join(' ')}" | string replace -r '\\t.*' ''`,
    )
    expect(found.map((words) => words.sort())).toEqual(
      // It offers options only once a dash is typed.
      CASES.map(([typed, words]) =>
        words.filter((word) => typed.at(-1)!.startsWith('-') || !word.startsWith('-')).sort(),
      ),
    )
  })
})

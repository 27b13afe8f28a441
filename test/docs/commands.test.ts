/** The commands of the documentation: each one is run as it stands there, or what it names is there. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sections } from '../../docs/site/pages.ts'
import { LAUNCHER, ROOT } from '../kit/gateway.ts'

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

/** Programs of others that the pages name, and whose use is theirs to describe. */
const FOREIGN = [
  'git',
  'docker',
  'nvm',
  'wsl',
  'kubectl',
  'helm',
  'systemctl',
  'install',
  'pg_dump',
  'pg_restore',
  'psql',
  'sqlite3',
]

interface Command {
  page: string
  text: string
}

/** The commands of the shell blocks of a page. Lines that a backslash or a pipe joins are one. */
function commandsOf(page: string): Command[] {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^ *```(?:sh|bash)\n([\s\S]*?)^ *```$/gm)]
  return blocks
    .flatMap(([, block]) =>
      block!
        .replace(/\\\n\s*/g, '')
        .replace(/\|\n\s*/g, '| ')
        .split('\n'),
    )
    .map((line) => line.replace(/\s+#\s.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((text) => ({ page, text }))
}

const COMMANDS = sections().flatMap(({ pages }) => pages.flatMap(({ source }) => commandsOf(source)))
const firstWord = ({ text }: Command): string => /^(?:[A-Z_]+=\S+\s+)*(\S+)/.exec(text)![1]!
const of = (...words: string[]): Command[] => COMMANDS.filter((command) => words.includes(firstWord(command)))

let folder: string
let gateway: ChildProcess
let port: string
let usage: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-commands-'))
  mkdirSync(join(folder, 'programs'))
  symlinkSync(LAUNCHER, join(folder, 'programs/turnpike'))
  writeFileSync(join(folder, 'programs/npx'), `#!/bin/sh\nshift\nexec ${LAUNCHER} "$@"\n`, { mode: 0o755 })
  usage = spawnSync(LAUNCHER, ['help'], { encoding: 'utf8' }).stdout
  const env = { ...process.env, TURNPIKE_DATA: folder, TURNPIKE_CONFIG: '', XDG_RUNTIME_DIR: folder }
  gateway = spawn(LAUNCHER, ['serve', '--port', '0'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const piece of gateway.stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    port = /127\.0\.0\.1:(\d+)/.exec(piece)?.[1] ?? port
    if (port !== undefined) break
  }
})
afterAll(() => {
  gateway.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command in a shell, with the gateway of this test where the pages have the usual one. */
function run(text: string) {
  const PATH = `${join(folder, 'programs')}:${process.env['PATH']}`
  const env = { ...process.env, PATH, HOME: folder, PWD: ROOT, TURNPIKE_URL: `http://127.0.0.1:${port}` }
  const there = text.replaceAll(':8484', `:${port}`).replace(/\bcurl -/g, 'curl --fail-with-body -')
  const { status, stdout, stderr } = spawnSync('sh', ['-c', there], { cwd: folder, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('every command is one of a kind that is tested', () => {
  const known = ['npm', 'npx', 'turnpike', 'curl', 'printf', 'mkdir', 'ln', 'node', 'export', ...FOREIGN]
  expect(COMMANDS.filter((command) => !known.includes(firstWord(command)))).toEqual([])
  expect(COMMANDS.length).toBeGreaterThan(15)
})

describe('requests', () => {
  test.each(of('curl', 'printf'))('$page: $text', ({ text }) => {
    const { status, stdout, stderr } = run(text)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).not.toMatch(/"ok":false|"error":\{|"fault":|"success":false/)
    expect(stdout.length).toBeGreaterThan(10)
  })
})

describe('links', () => {
  test.each(of('mkdir', 'ln'))('$page: $text', ({ text }) => {
    run('rm -rf ~/bin; mkdir ~/bin')
    expect(run(text)).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

describe('scripts', () => {
  const own = of('npm').filter(({ text }) => /^npm (?:start|test|run)\b/.test(text))
  test.each(own)('$page: $text', ({ text }) => {
    const [, first, second] = text.split(' ')
    expect(Object.keys(scripts)).toContain(first === 'run' ? second : first)
  })

  test.each(of('node'))('$page: $text', ({ text }) => {
    expect(existsSync(join(ROOT, text.split(' ')[1]!))).toBe(true)
  })
})

/** The commands in the prose of the pages. */
const IN_PROSE = sections()
  .flatMap(({ pages }) => pages)
  .flatMap(({ source }) =>
    [...readFileSync(join(ROOT, source), 'utf8').matchAll(/`((?:npx )?turnpike(?: [^`]*)?)`/g)].map(([, text]) => ({
      page: source,
      text: text!.replaceAll(/\s+/g, ' '),
    })),
  )

describe('turnpike', () => {
  const own = of('turnpike', 'npx').filter(({ text }) => /\bturnpike\b/.test(text))
  test.each([...own, ...IN_PROSE])('$page: $text', ({ text }) => {
    const [, name = '', rest = ''] = /\bturnpike ?([a-z]\S*)?(.*)$/.exec(text)!
    const own = name === 'as' ? (/^ \S+(?: --(?:agent|config) \S+)*/.exec(rest)?.[0] ?? '') : rest.split(' -- ')[0]!
    const lines = usage.split(/^(?= {2}turnpike )/m).find((block) => block.startsWith(`  turnpike ${name}`.trimEnd()))
    expect(lines, `the usage of ${name}`).toBeDefined()
    for (const [option] of own.matchAll(/--[a-z-]+/g)) expect(lines).toContain(option)
  })
})

describe('data', () => {
  const blocks = sections()
    .flatMap(({ pages }) => pages)
    .flatMap(({ source }) =>
      [...readFileSync(join(ROOT, source), 'utf8').matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => ({
        page: source,
        text: text!,
      })),
    )
  test.each(blocks)('$page: JSON $text', ({ text }) => {
    expect(() => JSON.parse(text.replaceAll('…', ''))).not.toThrow()
  })
})

/** The command by which messages name this program is one that the person who reads them can type. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownCommand } from '../../src/cli/own-command.ts'
import { LAUNCHER, ROOT } from '../kit/gateway.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-own-command-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder as npm makes it: `node_modules/turnpike`, a link to its launcher in `.bin`, and a manifest. */
function installed(name: string, manifest: object): { root: string; called: string } {
  const modules = join(folder, name, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  mkdirSync(join(modules, 'turnpike/src/cli'), { recursive: true })
  writeFileSync(join(modules, 'turnpike/src/cli/turnpike.sh'), '')
  chmodSync(join(modules, 'turnpike/src/cli/turnpike.sh'), 0o755)
  symlinkSync('../turnpike/src/cli/turnpike.sh', join(modules, '.bin/turnpike'))
  writeFileSync(join(folder, name, 'package.json'), JSON.stringify(manifest))
  return { root: join(modules, 'turnpike'), called: join(modules, '.bin/turnpike') }
}

describe('started by npx', () => {
  const own = (name: string): string => join(name, 'node_modules/.bin/turnpike')
  test.each<[string, object, here: string, anywhere: string]>([
    ['by-name', { _npx: { packages: ['turnpike'] } }, 'npx turnpike', 'npx turnpike'],
    ['by-version', { _npx: { packages: ['turnpike@1.2.3'] } }, 'npx turnpike@1.2.3', 'npx turnpike@1.2.3'],
    // npm would install these again, and ask.
    ['by-file', { _npx: { packages: ['./t.tgz'] } }, `./${own('by-file')}`, `FOLDER/${own('by-file')}`],
    ['by-url', { _npx: { packages: ['https://a.example/t.tgz'] } }, `./${own('by-url')}`, `FOLDER/${own('by-url')}`],
    ['in-a-project', { dependencies: { turnpike: '^1' } }, 'npx turnpike', `FOLDER/${own('in-a-project')}`],
  ])('%s', (name, manifest, here, anywhere) => {
    const { root, called } = installed(name, manifest)
    const started = { env: { TURNPIKE_NAME: called, PATH: dirname(called) }, cwd: folder, script: 'none', root }
    expect(ownCommand('here', started)).toBe(here)
    expect(ownCommand('anywhere', started)).toBe(anywhere.replace('FOLDER', folder))
  })
})

describe('started otherwise', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['from a clone', { TURNPIKE_NAME: './src/cli/turnpike.sh', PATH: '' }, './src/cli/turnpike.sh', LAUNCHER],
    ['as a stand-in', { TURNPIKE_NAME: '/home/me/bin/zot', PATH: '' }, './src/cli/turnpike.sh', LAUNCHER],
    [
      'by a path elsewhere',
      { TURNPIKE_NAME: '/opt/t/bin/turnpike', PATH: '' },
      '/opt/t/bin/turnpike',
      '/opt/t/bin/turnpike',
    ],
    ['by a path with a space', { TURNPIKE_NAME: '/a b/turnpike', PATH: '' }, "'/a b/turnpike'", "'/a b/turnpike'"],
    ['without the launcher', { PATH: '' }, 'node ./dist/turnpike.cjs', `node ${ROOT}/dist/turnpike.cjs`],
  ])('%s', (_, env, here, anywhere) => {
    const started = { env, cwd: ROOT, script: join(ROOT, 'dist/turnpike.cjs'), root: ROOT }
    expect([ownCommand('here', started), ownCommand('anywhere', started)]).toEqual([here, anywhere])
  })

  test('by the PATH, by that name', () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(LAUNCHER, join(bin, 'turnpike'))
    const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder, XDG_RUNTIME_DIR: folder }
    const { stderr } = spawnSync('turnpike', ['tail'], { cwd: folder, env, encoding: 'utf8' })
    expect(stderr).toMatch(/start it: turnpike serve\n$/)
    // A stand-in is a link to the same launcher, and says what to type likewise.
    symlinkSync(LAUNCHER, join(bin, 'zot'))
    const started = { env: { ...env, TURNPIKE_NAME: join(bin, 'zot') }, cwd: folder, script: 'none', root: ROOT }
    expect(ownCommand('here', started)).toBe('turnpike')
  })

  test('what it names runs', () => {
    const started = { env: { TURNPIKE_NAME: LAUNCHER, PATH: '' }, cwd: folder, script: 'none', root: ROOT }
    const command = ownCommand('here', started)
    expect(execFileSync('sh', ['-c', `${command} version`], { cwd: folder, encoding: 'utf8' })).toMatch(/^turnpike \d/)
  })
})

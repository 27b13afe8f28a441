import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, ConfigError } from '../../src/config/index.ts'
import { loadConfig } from '../../src/config/load.ts'
import { CODECS, problemsOf } from './codecs.ts'

const root = mkdtempSync(join(tmpdir(), 'turnpike-config-'))
const home = join(root, 'home')
const etc = join(root, 'etc')

beforeAll(() => {
  for (const folder of [home, etc, join(root, 'empty'), join(home, 'sub')]) mkdirSync(folder)
  writeFileSync(join(home, 'turnpike.yaml'), 'server: { port: 1 }\n')
  writeFileSync(join(home, 'sub', 'other.yaml'), 'server: { port: 2 }\n')
  writeFileSync(join(etc, 'env.yaml'), 'server: { port: 3 }\n')
  writeFileSync(join(etc, 'bad.yaml'), 'sever: {}\n')
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const load = (cwd: string, env: Record<string, string> = {}, file?: string) =>
  loadConfig({ cwd, env, codecs: CODECS, ...(file !== undefined && { file }) })

/** The path of the store's file. */
function pathOf(config: Config | undefined): string | undefined {
  return config?.store.kind === 'sqlite' ? config.store.path : undefined
}

describe('the file', () => {
  it('is turnpike.yaml in the working folder', () => {
    expect(load(home)?.server.port).toBe(1)
    expect(pathOf(load(home))).toBe(join(home, 'data', 'turnpike.db'))
  })

  it('is rather the one of TURNPIKE_CONFIG, whose folder its paths begin at', () => {
    const config = load(home, { TURNPIKE_CONFIG: '../etc/env.yaml' })
    expect([config?.server.port, pathOf(config)]).toEqual([3, join(etc, 'data', 'turnpike.db')])
  })

  it('is rather the one that is named', () => {
    const config = load(home, { TURNPIKE_CONFIG: '../etc/env.yaml' }, 'sub/other.yaml')
    expect([config?.server.port, pathOf(config)]).toEqual([2, join(home, 'sub', 'data', 'turnpike.db')])
  })

  it('may be missing when none was named', () => {
    expect(load(join(root, 'empty'))).toBeUndefined()
    expect(load(join(root, 'empty'), { TURNPIKE_CONFIG: '' })).toBeUndefined()
  })

  it.each([
    ['is missing', 'nope.yaml', 'ENOENT'],
    ['is a folder', 'sub', 'EISDIR'],
  ])('is refused when it was named and %s', (_, file, code) => {
    const text = `${file}: cannot be read (${code}); name an existing file with --config or TURNPIKE_CONFIG`
    expect(() => load(home, {}, file)).toThrow(new ConfigError(problemsOf(() => load(home, {}, file))))
    expect(() => load(home, { TURNPIKE_CONFIG: file })).toThrow(text)
  })

  it('is shown from the working folder, and in full when it is elsewhere', () => {
    expect(problemsOf(() => load(root, {}, join(etc, 'bad.yaml')))[0]?.file).toBe(join('etc', 'bad.yaml'))
    expect(problemsOf(() => load(home, {}, '../etc/bad.yaml'))[0]?.file).toBe(join(etc, 'bad.yaml'))
  })
})

it('takes a text instead, with paths from the working folder', () => {
  const config = loadConfig({ text: 'server: { port: 4 }', cwd: home, env: {}, codecs: CODECS })
  expect([config?.server.port, pathOf(config)]).toEqual([4, join(home, 'data', 'turnpike.db')])
})

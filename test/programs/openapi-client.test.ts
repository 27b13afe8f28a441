import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeWith, installed } from './kit.ts'

const run = promisify(execFile)
const KIT = join(import.meta.dirname, '../kit/agents')
const GENERATOR = installed('openapi-typescript/bin/cli.js')
const LINTER = installed('@redocly/openapi-core/lib/index.js')
const COMPILER = installed('typescript/bin/tsc')

const PYTHON = join(import.meta.dirname, 'python/.venv/bin/python')
const TYPE_CHECKER = join(import.meta.dirname, 'python/.venv/bin/mypy')
const PYTHON_GENERATOR = join(import.meta.dirname, 'python/.venv/bin/openapi-python-client')

/** What a program that uses the API prints. */
const DONE = {
  turn: ['completed', expect.stringContaining('hello'), 'completed', expect.stringContaining('hello')],
  parked: ['parked', 'approval'],
  rest: ['completed', 'told: allow'],
  answered: true,
}

/** A gateway with an agent that asks, and a folder with its description. */
function described(prepare: (folder: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-client-'))
  const it: { folder: string; url: string } = { folder, url: '' }
  let gateway: TestGateway | undefined
  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
agents:${EXAMPLE_AGENTS}
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
`)
    it.url = gateway.url
    const document = await fetch(`${gateway.url}/openapi.json`)
    writeFileSync(join(folder, 'openapi.json'), await document.text())
    prepare(folder)
  })
  afterAll(async () => {
    await gateway?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return it
}

interface Linter {
  createConfig(config: object): Promise<object>
  lintFromString(document: { source: string; config: object }): Promise<{ ruleId: string; message: string }[]>
}

describeWith('The linter of Redocly', [LINTER], () => {
  const of = described()

  test('has nothing against openapi.json', async () => {
    const { createConfig, lintFromString } = (await import(LINTER)) as Linter
    const config = await createConfig({ extends: ['recommended'] })
    const source = readFileSync(join(of.folder, 'openapi.json'), 'utf8')
    expect((await lintFromString({ source, config })).map(({ ruleId, message }) => [ruleId, message])).toEqual([])
  })
})

describeWith(
  'A TypeScript client generated from openapi.json',
  [GENERATOR, COMPILER, installed('openapi-fetch')],
  () => {
    const of = described((folder) => {
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      copyFileSync(join(import.meta.dirname, 'openapi/client.ts'), join(folder, 'client.ts'))
      symlinkSync(installed(''), join(folder, 'node_modules'))
    })

    test('has the types of the API, and does a turn, an approval, and the rest of a parked turn', async () => {
      const cwd = of.folder
      await run(process.execPath, [GENERATOR, 'openapi.json', '--output', 'api.d.ts'], { cwd })
      const strict = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes']
      const target = [
        '--allowImportingTsExtensions',
        '--target',
        'esnext',
        '--module',
        'nodenext',
        '--lib',
        'esnext,dom',
      ]
      const checked = run(process.execPath, [COMPILER, ...strict, ...target, 'client.ts'], { cwd })
      expect((await checked.catch((error) => error as { stdout: string })).stdout).toBe('')
      const { stdout } = await run(process.execPath, ['client.ts', of.url], { cwd })
      expect(JSON.parse(stdout)).toEqual({ ...DONE, streamed: expect.stringContaining('hello') })
    })
  },
)

describeWith('A Python client generated from openapi.json', [PYTHON, PYTHON_GENERATOR, TYPE_CHECKER], () => {
  const of = described((folder) => copyFileSync(join(import.meta.dirname, 'python/api.py'), join(folder, 'api.py')))

  test('has the types of the API, and does a turn, an approval, and the rest of a parked turn', {
    timeout: 120_000,
  }, async () => {
    const cwd = of.folder
    const bin = `${dirname(PYTHON)}:${process.env['PATH']}`
    const env = { ...process.env, PATH: bin }
    await run(
      PYTHON_GENERATOR,
      ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'turnpike_client'],
      { cwd, env },
    )
    // The generator writes casts that say what is known, and its own client.py passes tuples of objects on.
    const strict = ['--strict', '--disable-error-code', 'redundant-cast', '--no-error-summary']
    const checked = run(TYPE_CHECKER, [...strict, 'api.py', 'turnpike_client'], { cwd, env })
    const { stdout: wrong } = await checked.catch((error) => error as { stdout: string })
    expect(wrong.split('\n').filter((line) => line !== '' && !line.startsWith('turnpike_client/client.py:'))).toEqual(
      [],
    )
    const { stdout } = await run(PYTHON, ['api.py', of.url, cwd], { cwd })
    expect(JSON.parse(stdout)).toEqual(DONE)
  })
})

import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeWith, installed } from './kit.ts'

const run = promisify(execFile)
const KIT = join(import.meta.dirname, '../kit/agents')
const GENERATOR = installed('openapi-typescript/bin/cli.js')
const COMPILER = installed('typescript/bin/tsc')

describeWith('A client that is generated from openapi.json', [GENERATOR, COMPILER, installed('openapi-fetch')], () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-client-'))
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
agents:${EXAMPLE_AGENTS}
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
`)
    const document = await fetch(`${gateway.url}/openapi.json`)
    writeFileSync(join(folder, 'openapi.json'), await document.text())
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    copyFileSync(join(import.meta.dirname, 'openapi/client.ts'), join(folder, 'client.ts'))
    symlinkSync(installed(''), join(folder, 'node_modules'))
  })
  afterAll(async () => {
    await gateway?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('in TypeScript has the types of the API, and does a turn, an approval, and the rest of a parked turn', async () => {
    await run(process.execPath, [GENERATOR, 'openapi.json', '--output', 'api.d.ts'], { cwd: folder })
    const strict = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--target',
      'esnext',
      '--module',
      'nodenext',
      '--lib',
      'esnext,dom',
    ]
    const more = ['--allowImportingTsExtensions', 'client.ts']
    const checked = await run(process.execPath, [COMPILER, ...strict, ...more], { cwd: folder }).catch(
      (error) => error as { stdout: string },
    )
    expect(checked.stdout).toBe('')
    const { stdout } = await run(process.execPath, ['client.ts', gateway.url], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      turn: ['completed', expect.stringContaining('hello'), 'completed', expect.stringContaining('hello')],
      parked: ['parked', 'approval'],
      rest: ['completed', 'told: allow'],
      answered: true,
    })
  })
})

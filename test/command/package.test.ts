/** What `npm pack` makes, as somebody has it who installs it: in an empty folder, with the Node.js versions we promise. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

/** What the package is made of. The tests are left out, so that the copy is small. */
const PARTS = [
  ...['src', 'codecs', 'routes', 'observability', 'console', 'deploy', 'examples', '.npmrc'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.lib.json', 'turnpike.schema.json'],
  ...['README.md', 'CHANGELOG.md', 'LICENSE'],
]

/** Building and installing take their time on a busy machine. */
const SLOW_MS = 600_000

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']

const folder = mkdtempSync(join(tmpdir(), 'turnpike-package-'))
const source = join(folder, 'source')
/** Where the package is installed. */
const home = join(folder, 'home')

/** What a script of npm and the tests set. `NODE_EXTRA_CA_CERTS` is the machine's: npm may reach no registry without it. */
const OURS = /^(npm|TURNPIKE)_|^NODE_(?!EXTRA_CA_CERTS$)/i

/** The environment of somebody who is not in a script of npm, with this Node.js first. */
function environment(node = process.execPath): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !OURS.test(name))
  const variables = Object.fromEntries(own) as Record<string, string>
  return { ...variables, PATH: [dirname(node), variables['PATH']].join(delimiter) }
}

async function run(cwd: string, command: string, args: string[], env = environment()): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, env })).stdout.trim()
}

/** A version of Node.js: the running one, or as npm has it; one that npm cannot give is not there. */
async function nodeOf(major: number): Promise<string> {
  if (process.version.startsWith(`v${major}.`)) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const prefix = join(folder, `node-${major}`)
  mkdirSync(prefix)
  await run(folder, 'npm', ['install', '--prefix', prefix, '--ignore-scripts', ...QUIET, `${name}@${major}`]).catch(
    () => {},
  )
  return join(prefix, 'node_modules', name, 'bin/node')
}

let files: string[]

/** The versions it is tried with, and where each is. */
const VERSIONS = [22, 24]
const nodes: Record<number, string> = {}

beforeAll(async () => {
  for (const part of PARTS) cpSync(join(ROOT, part), join(source, part), { recursive: true })
  // What bootstrap.sh would install.
  for (const installed of ['node_modules', '.node'])
    if (existsSync(join(ROOT, installed))) symlinkSync(join(ROOT, installed), join(source, installed))
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }')
  const told = await run(source, 'npm', ['pack', '--pack-destination', folder, '--loglevel=error'])
  const tarball = join(folder, told.split('\n').at(-1)!)
  files = (await run(folder, 'tar', ['-tzf', tarball])).split('\n').map((path) => path.replace(/^package\//, ''))
  await run(home, 'npm', ['install', ...QUIET, tarball])
  for (const major of VERSIONS) nodes[major] = await nodeOf(major)
}, SLOW_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the tarball has the program, the library, the examples and nothing of the tests', () => {
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/turnpike.cjs',
      'dist/starter.cjs',
      'dist/modules/codecs-zene-index.cjs',
      'dist/console/index.html',
      'dist/lib/src/index.js',
      'dist/lib/src/index.d.ts',
      'src/cli/turnpike.sh',
      'examples/default.yaml',
    ]),
  )
  expect(files.filter((path) => /^(dist\/cache|test|deploy|node_modules)\b|\.test\./.test(path))).toEqual([])
})

describe.each(VERSIONS)('installed, with Node.js %s', (major) => {
  test('npx turnpike serve answers a stand-in', async ({ skip }) => {
    const node = nodes[major]!
    if (!existsSync(node)) skip(`npm has no Node.js ${major} for this machine`)
    const env = environment(node)
    expect(await run(home, 'npx', ['turnpike', 'version'], env)).toBe(`turnpike ${version()}`)
    const config = join(folder, `turnpike-${major}.yaml`)
    const helper = join(home, 'node_modules/turnpike/examples/agents/helper.sh')
    writeFileSync(
      config,
      `server: { port: 0 }\ndefault: helper\nagents: { helper: { protocol: agentproc, command: ${helper}, args: [] } }\n`,
    )
    const serve = spawn('npx', ['turnpike', 'serve', '--config', config], {
      cwd: home,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const url = await addressOf(serve.stdout)
      const request = '{"request_id":"r1","session_id":"s1","prompt":"Hello from the package"}'
      const script = `echo '${request}' | npx turnpike as zene`
      const answer = await run(home, 'sh', ['-c', script], { ...env, TURNPIKE_URL: url })
      expect(JSON.parse(answer)).toMatchObject({ ok: true, text: expect.stringContaining('Hello from the package') })
      expect(await (await fetch(`${url}/console/`)).text()).toContain('<title>Turnpike console</title>')
    } finally {
      process.kill(-serve.pid!, 'SIGTERM')
      await once(serve, 'exit')
    }
  })

  test('the library is imported', async ({ skip }) => {
    const node = nodes[major]!
    if (!existsSync(node)) skip(`npm has no Node.js ${major} for this machine`)
    const script = "const { loadCodec } = await import('turnpike'); console.log((await loadCodec('zot')).name)"
    expect(await run(home, node, ['--input-type=module', '-e', script])).toBe('zot')
  })
})

test('the types of the library are read without those of Node.js', async () => {
  const consumer = `import { type AnyCodec, Engine, fault, loadCodec, type TurnEvent } from 'turnpike'
const codec: AnyCodec | undefined = await loadCodec('zot')
const end: TurnEvent = { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('internal', 'why') }
// @ts-expect-error: no event has this type
const wrong: TurnEvent = { type: 'turn-ends', turn: 't1' }
console.log(codec?.name, typeof Engine, end.type, wrong.type)
`
  writeFileSync(join(home, 'consumer.ts'), consumer)
  const settings = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--types', '']
  await run(home, join(ROOT, 'node_modules/.bin/tsc'), [...settings, 'consumer.ts'])
  expect(await run(home, process.execPath, ['consumer.js'])).toBe('zot function turn-end turn-ends')
})

/** The version that `package.json` has. */
function version(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
}

/** The address that a gateway prints when it listens. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /https?:\/\/[\d.:]+/.exec(line)
    if (url) return url[0]
  }
  throw new Error('The gateway ended without an address')
}

/** The errors that a person meets in the first hour: each says what happened and ends with what to type next. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LAUNCHER, ROOT, TURNPIKE } from '../kit/gateway.ts'

/** How it is started here, and so what messages name: it is not on the PATH. */
/** The command that says what to write instead. */
const HINTS = `To see what to write instead: ${LAUNCHER} check --fix-hints`
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  os: string[]
  scripts: Record<string, string>
}
const AGENT = '{ protocol: agentproc, command: /bin/cat, args: [] }'
const REST = `default: a\nagents: { a: ${AGENT} }\n`

let folder: string
let taken: Server
let port: number
const bin = (): string => join(folder, 'bin')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-first-hour-'))
  mkdirSync(bin())
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  port = (taken.address() as { port: number }).port
})
afterAll(() => {
  taken.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An environment in which only the programs of `bin` and those of the system are found. */
const environment = (): NodeJS.ProcessEnv => ({
  PATH: `${bin()}:/usr/bin:/bin`,
  HOME: folder,
  XDG_RUNTIME_DIR: folder,
  TURNPIKE_DATA: folder,
})

/** Runs the built program in a folder with this turnpike.yaml, if any. */
function turnpike(args: readonly string[], yaml?: string) {
  const cwd = mkdtempSync(join(folder, 'run-'))
  if (yaml !== undefined) writeFileSync(join(cwd, 'turnpike.yaml'), yaml)
  const { status, stderr } = spawnSync(LAUNCHER, args, { cwd, env: environment(), encoding: 'utf8' })
  return { status, stderr: stderr.replaceAll(cwd, 'FOLDER') }
}

describe('the first hour', () => {
  test.each<[string, string[], string | undefined, () => string]>([
    [
      'the port is taken',
      ['serve'],
      `${REST}server: { port: PORT, socket: false }\n`,
      () =>
        `turnpike: cannot listen on 127.0.0.1 port ${port}: another program listens there; stop it, or choose another port: ${LAUNCHER} serve --port ${port + 1}`,
    ],
    [
      'the variable of a key is not set',
      ['serve'],
      `${REST}server: { keys: [{ name: team, env: TEAM_KEY }] }\n`,
      () =>
        `turnpike: turnpike.yaml:3:37 server.keys[0].env: the environment variable TEAM_KEY is not set; set it to the key: export TEAM_KEY=KEY\n${HINTS}`,
    ],
    [
      'there are no keys off loopback',
      ['serve'],
      `${REST}server: { host: 0.0.0.0 }\n`,
      () =>
        `turnpike: turnpike.yaml:3:17 server.host: is reachable from other machines, but there are no keys; add server.keys: [{ name: NAME, env: VARIABLE_WITH_THE_KEY }], or listen on 127.0.0.1\n${HINTS}`,
    ],
    [
      'a protocol is misspelt',
      ['check'],
      'default: a\nagents: { a: { protocol: zott, command: zot } }\n',
      () => `turnpike: turnpike.yaml:2:26 agents.a.protocol: unknown protocol "zott"; did you mean "zot"?\n${HINTS}`,
    ],
    [
      'the file does not exist',
      ['serve', '--config', 'no.yaml'],
      undefined,
      () =>
        `turnpike: no.yaml: cannot be read (ENOENT); name an existing file with --config or TURNPIKE_CONFIG\nTo write one: ${LAUNCHER} init --config FOLDER/no.yaml`,
    ],
    [
      'the store cannot be written',
      ['serve'],
      `${REST}server: { port: 0, socket: false }\nstore: { kind: sqlite, path: ./turnpike.yaml/store.db }\n`,
      () =>
        'turnpike: The store FOLDER/turnpike.yaml/store.db cannot be created in its folder (EEXIST). Set store.path to a file in a folder that can be created and written.\nTo see who may write there: ls -ld FOLDER/turnpike.yaml',
    ],
    [
      'the configuration is there already',
      ['init'],
      REST,
      () =>
        `turnpike init: FOLDER/turnpike.yaml is there already; to replace it: ${LAUNCHER} init --force; see ${LAUNCHER} help init`,
    ],
    [
      'the folder cannot be written',
      ['init', '--config', 'none/turnpike.yaml'],
      undefined,
      () =>
        `turnpike: FOLDER/none/turnpike.yaml cannot be written (ENOENT); write it where you may: ${LAUNCHER} init --config ~/turnpike.yaml`,
    ],
    [
      'no gateway runs',
      ['tail'],
      REST,
      () => `turnpike: no gateway runs on this configuration, or at TURNPIKE_URL; start it: ${LAUNCHER} serve`,
    ],
    [
      'a command is misspelt',
      ['serv'],
      undefined,
      () => `turnpike: unknown command "serv"; did you mean serve? see ${LAUNCHER} help`,
    ],
  ])('%s', (_, args, yaml, expected) => {
    const { status, stderr } = turnpike(args, yaml?.replace('PORT', String(port)))
    const lines = expected().split('\n')
    expect(stderr.trimEnd().split('\n').slice(-lines.length)).toEqual(lines)
    expect(status).toBe(/; see .* help/.test(lines[0]!) || args[0] === 'serv' ? 2 : 3)
  })

  test('a program that is not installed is named by check, with what to do', () => {
    const { status, stderr } = turnpike(['check'], 'default: a\nagents: { a: { protocol: zot, command: zot } }\n')
    expect(status).toBe(0)
    expect(stderr).toBe(
      `warning: agent a: zot cannot be started: it is not on the PATH; install it, or correct agents.a.command, then run ${LAUNCHER} check again\n`,
    )
  })

  test('a program of another protocol is named by check, with what to write', () => {
    writeFileSync(join(bin(), 'codex'), '#!/bin/sh\necho codex-cli 0.171.0\n', { mode: 0o755 })
    const agents = 'a: { protocol: zot, command: codex }, b: { protocol: codex@exec, command: codex }'
    const { status, stderr } = turnpike(['check'], `default: a\nagents: { ${agents} }\n`)
    rmSync(join(bin(), 'codex'))
    expect([status, stderr]).toEqual([
      0,
      `warning: agent a: codex does not speak zot; write protocol: codex, then run ${LAUNCHER} check again
warning: agent a: no login of codex was found; type: codex login
warning: agent b: no login of codex was found; type: codex login
`,
    ])
  })

  const { refusal } = createRequire(import.meta.url)('../../src/startup/supported.cjs') as {
    refusal(system: string, version: string, smallest?: readonly number[]): string | undefined
  }

  test.each([
    [
      'linux',
      '22.18.9',
      [22, 19],
      'Node.js 22.18.9 is too old; 22.19 or newer is needed: install it (nvm install 24, or https://nodejs.org)',
    ],
    [
      'darwin',
      '20.20.2',
      [22, 19],
      'Node.js 20.20.2 is too old; 22.19 or newer is needed: install it (nvm install 24, or https://nodejs.org)',
    ],
    ['linux', '22.19.0', [22, 19], undefined],
    ['linux', '24.0.0', [22, 19], undefined],
    ['linux', '18.0.0', undefined, undefined],
    [
      'win32',
      '24.0.0',
      [22, 19],
      'Windows is only supported through WSL: run "wsl --install" once, then the same command in its shell',
    ],
  ])('on %s with Node.js %s', (system, version, smallest, expected) => {
    expect(refusal(system, version, smallest)).toBe(expected)
  })

  const SUPPORTED = join(ROOT, 'src/startup/supported.cjs')
  test.each([
    ['the program', [TURNPIKE, 'serve']],
    ['npm start', [SUPPORTED]],
  ])('on Windows %s is refused in one line', (_, args) => {
    const fake = join(folder, 'windows.cjs')
    writeFileSync(fake, "Object.defineProperty(process, 'platform', { value: 'win32' })\n")
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', fake, ...args], { encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([3, '', `turnpike: ${refusal('win32', '24.0.0')}\n`])
    expect(MANIFEST.scripts.start).toMatch(/^node src\/startup\/supported\.cjs && /)
  })

  test('on Windows npm refuses the package, and names WSL', async ({ skip }) => {
    const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
    const checks = join(dirname(realpathSync(npm)), '../node_modules/npm-install-checks/lib/index.js')
    if (!existsSync(checks)) skip('npm keeps its checks elsewhere')
    const { checkPlatform } = createRequire(import.meta.url)(checks) as {
      checkPlatform(manifest: object, force: boolean, on: { os: string; cpu: string }): void
    }
    const on = (os: string) => () => checkPlatform(MANIFEST, false, { os, cpu: 'x64' })
    expect(on('win32')).toThrow(expect.objectContaining({ code: 'EBADPLATFORM', required: { os: MANIFEST.os } }))
    expect(MANIFEST.os).toContain('wsl')
    for (const os of ['linux', 'darwin']) expect(on(os)).not.toThrow()
  })
})

describe('turnpike without a command', () => {
  const running: ChildProcess[] = []
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
  })

  /** Starts it with these arguments in a new folder. Resolves with what it printed until it listens, and that folder. */
  async function start(...args: string[]): Promise<{ text: string; cwd: string }> {
    const cwd = mkdtempSync(join(folder, 'start-'))
    const child = spawn(LAUNCHER, args, { cwd, env: { ...environment(), TURNPIKE_PORT: '0' } })
    running.push(child)
    let text = ''
    for await (const piece of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      text += piece
      if (text.includes(`${LAUNCHER} tail`)) break
    }
    return { text, cwd }
  }

  /** The command of a stand-in, as the gateway that printed this tells it to its console. */
  async function standIn(text: string): Promise<string | undefined> {
    const [, url] = /listens on (\S+)/.exec(text)!
    const { doors } = (await (await fetch(`${url}/v1/doors`)).json()) as {
      doors: { protocol: string; command?: string }[]
    }
    return doors.find(({ protocol, command }) => protocol === 'acp' && command !== undefined)?.command
  }

  test('serves the examples when no agent is installed', async () => {
    const { text } = await start()
    expect(await standIn(text)).toBe(`${LAUNCHER} as acp`)
    expect(text).toMatch(
      /^Turnpike listens on http:\/\/127\.0\.0\.1:\d+ \(agents: helper, coder, planner, writer, reviewer\)\n/,
    )
  })

  test('writes a configuration with the agents that are installed, and serves it', async () => {
    writeFileSync(join(bin(), 'codex'), '#!/bin/sh\necho codex-cli 0.171.0\n')
    chmodSync(join(bin(), 'codex'), 0o755)
    const { text, cwd } = await start()
    expect(text).toMatch(/^Agents on this machine:\n {2}codex {5}Codex 0\.171\.0 /)
    expect(text).toMatch(/\nTurnpike listens on http:\/\/127\.0\.0\.1:\d+ \(agents: codex\)\n/)
    // An editor starts it in a folder of its own.
    expect(await standIn(text)).toBe(`${LAUNCHER} as acp --config ${join(cwd, 'turnpike.yaml')}`)
    // It serves already: nothing is said of how to begin.
    expect(text).not.toContain(`${LAUNCHER} serve`)
    expect(readFileSync(join(cwd, 'turnpike.yaml'), 'utf8')).toContain('codex: { protocol: codex, command: codex')
    rmSync(join(bin(), 'codex'))
  })

  test('says at its start what agents need that is not there', async () => {
    writeFileSync(join(bin(), 'codex'), '#!/bin/sh\necho codex-cli 0.171.0\n', { mode: 0o755 })
    const agents = 'a: { protocol: zot, command: no-zot }, b: { protocol: codex, command: codex }'
    const file = join(folder, 'needs.yaml')
    writeFileSync(file, `agents: { ${agents} }\nserver: { port: 0, socket: false }\nlog: { pretty: false }\n`)
    const child = spawn(LAUNCHER, ['serve', '--config', file], { cwd: folder, env: environment() })
    running.push(child)
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      log += piece
    })
    await once(child.stdout, 'data')
    const warned = (): string[] =>
      log
        .split('\n')
        .filter((line) => line.includes('"warn"'))
        .map((line) => JSON.parse(line).msg)
    await expect
      .poll(warned)
      .toEqual([
        `agent a: no-zot cannot be started: it is not on the PATH; install it, or correct agents.a.command, then run ${LAUNCHER} check --config ${join(folder, 'needs.yaml')} again`,
        'agent b: no login of codex was found; type: codex login',
      ])
    rmSync(join(bin(), 'codex'))
  })

  test('--open opens the console in the browser', async () => {
    const told = join(folder, 'opened')
    writeFileSync(join(bin(), 'xdg-open'), `#!/bin/sh\necho "$1" > ${told}.part\nmv ${told}.part ${told}\n`)
    chmodSync(join(bin(), 'xdg-open'), 0o755)
    const { text } = await start('--open')
    const [, url] = /listens on (\S+)/.exec(text)!
    await expect
      .poll(() => readFileSync(told, { encoding: 'utf8', flag: 'r' }), { timeout: 60_000 })
      .toBe(`${url}/console/\n`)
  })
})

/** The errors that a person meets in the first hour: each says what happened and ends with what to type next. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

const LAUNCHER = join(ROOT, 'src/cli/turnpike.sh')
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
        `turnpike: cannot listen on 127.0.0.1 port ${port}: another program listens there; stop it, or choose another port: turnpike serve --port ${port + 1}`,
    ],
    [
      'the variable of a key is not set',
      ['serve'],
      `${REST}server: { keys: [{ name: team, env: TEAM_KEY }] }\n`,
      () =>
        'turnpike: turnpike.yaml:3:37 server.keys[0].env: the environment variable TEAM_KEY is not set; set it to the key: export TEAM_KEY=KEY',
    ],
    [
      'there are no keys off loopback',
      ['serve'],
      `${REST}server: { host: 0.0.0.0 }\n`,
      () =>
        'turnpike: turnpike.yaml:3:17 server.host: is reachable from other machines, but there are no keys; add server.keys: [{ name: NAME, env: VARIABLE_WITH_THE_KEY }], or listen on 127.0.0.1',
    ],
    [
      'a protocol is misspelt',
      ['check'],
      'default: a\nagents: { a: { protocol: zott, command: zot } }\n',
      () => 'turnpike: turnpike.yaml:2:26 agents.a.protocol: unknown protocol "zott"; did you mean "zot"?',
    ],
    [
      'the file does not exist',
      ['serve', '--config', 'no.yaml'],
      undefined,
      () => 'turnpike: no.yaml: cannot be read (ENOENT); name an existing file with --config or TURNPIKE_CONFIG',
    ],
    [
      'the store cannot be written',
      ['serve'],
      `${REST}server: { port: 0, socket: false }\nstore: { kind: sqlite, path: ./turnpike.yaml/store.db }\n`,
      () =>
        'turnpike: The store FOLDER/turnpike.yaml/store.db cannot be created in its folder (EEXIST). Set store.path to a file in a folder that can be created and written.',
    ],
    [
      'the configuration is there already',
      ['init'],
      REST,
      () =>
        'turnpike init: FOLDER/turnpike.yaml is there already; to replace it: turnpike init --force; see turnpike help init',
    ],
    [
      'no gateway runs',
      ['tail'],
      REST,
      () => 'turnpike: no gateway runs on this configuration, or at TURNPIKE_URL; start it: turnpike serve',
    ],
    [
      'a command is misspelt',
      ['serv'],
      undefined,
      () => 'turnpike: unknown command "serv"; did you mean serve? see turnpike help',
    ],
  ])('%s', (_, args, yaml, expected) => {
    const { status, stderr } = turnpike(args, yaml?.replace('PORT', String(port)))
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(expected())
    expect(status).toBe(args[0] === 'init' || args[0] === 'serv' ? 2 : 3)
  })

  test('a program that is not installed is named by check, with what to do', () => {
    const { status, stderr } = turnpike(['check'], 'default: a\nagents: { a: { protocol: zot, command: zot } }\n')
    expect(status).toBe(0)
    expect(stderr).toBe(
      'warning: agent a: zot cannot be started: it is not on the PATH; install it, or correct agents.a.command, then run turnpike check again\n',
    )
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
      if (text.includes('turnpike tail')) break
    }
    return { text, cwd }
  }

  test('serves the examples when no agent is installed', async () => {
    const { text } = await start()
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
    // It serves already: nothing is said of how to begin.
    expect(text).not.toContain('npx turnpike serve')
    expect(readFileSync(join(cwd, 'turnpike.yaml'), 'utf8')).toContain('codex: { protocol: codex, command: codex')
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

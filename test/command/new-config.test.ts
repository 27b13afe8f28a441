import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCHER, TURNPIKE } from '../kit/gateway.ts'

/** How it is started here: it is not on the PATH. */
const OWN = `node ${TURNPIKE}`

describe('turnpike init', () => {
  let folder: string
  const file = (): string => join(folder, 'turnpike.yaml')

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-new-config-'))
    mkdirSync(join(folder, 'bin'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Installs a program that says this to `--version`. */
  function install(name: string, script: string): void {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  function run(command: string, ...args: string[]) {
    const env = { PATH: join(folder, 'bin'), HOME: folder }
    const { status, stdout, stderr } = spawnSync(process.execPath, [TURNPIKE, command, ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  test('writes the agents that it finds, with their versions, and says what to try', () => {
    install('codex', 'echo "codex-cli 0.98.0"')
    install('gemini', 'exit 1')
    install('goose', 'read line; echo " 1.9.3"')
    writeFileSync(join(folder, 'bin/opencode'), 'no program')
    mkdirSync(join(folder, 'bin/qwen'))
    symlinkSync(LAUNCHER, join(folder, 'bin/zot'))
    const { status, stdout, stderr } = run('init')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`Agents on this machine:
  codex     Codex 0.98.0                   protocol codex
            codex 0.98.0 is older than 0.163, the oldest version that is known to work; type: npm install -g @openai/codex@latest
            no login of codex was found; type: codex login
  gemini    Gemini CLI (prints no version) protocol acp
            no login of gemini was found; type: gemini
  goose     Goose 1.9.3                    protocol acp
            no login of goose was found; type: goose configure
Not found: claude, opencode, qwen, copilot, zot, zene
Wrote ${file()}.
Try:
  ${OWN} check
  ${OWN} serve
  curl -s http://127.0.0.1:8484/v1/chat/completions -H 'content-type: application/json' -d '{"model":"codex","messages":[{"role":"user","content":"hello"}]}'
`)
    expect(readFileSync(file(), 'utf8')).toContain(`default: codex

agents:
  # Codex 0.98.0
  codex: { protocol: codex, command: codex, args: [], inherit: ["CODEX_*", "OPENAI_*"] }
  # Gemini CLI
  gemini: { protocol: acp, command: gemini, args: ["--acp", "--skip-trust"], inherit: ["GEMINI_*", "GOOGLE_*"] }
  # Goose 1.9.3
  goose: { protocol: acp, command: goose, args: ["acp"], inherit: ["GOOSE_*", "*_API_KEY"] }
`)
    expect(run('check')).toMatchObject({
      status: 0,
      stderr: `warning: agent codex: codex 0.98.0 is older than 0.163, the oldest version that is known to work; type: npm install -g @openai/codex@latest
warning: agent codex: no login of codex was found; type: codex login
warning: agent gemini: no login of gemini was found; type: gemini
warning: agent goose: no login of goose was found; type: goose configure
`,
    })
  })

  test('writes the example agents where there is none', () => {
    const { status, stdout } = run('init', '--config', 'mine.yaml')
    expect(status).toBe(0)
    expect(stdout).toContain('No known agent is on the PATH: the example agents are used.\n')
    expect(stdout).toContain(`${OWN} serve --config ${join(folder, 'mine.yaml')}`)
    expect(run('check', '--config', 'mine.yaml')).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(file())).toBe(false)
  })

  test.skipIf(spawnSync('script', ['--version']).status !== 0).each([
    ['n\n', 1, false],
    ['\n', 0, true],
  ])('asks on a terminal; the answer %j (needs script)', (answer, status, written) => {
    const command = `'${process.execPath}' '${TURNPIKE}' init`
    const asked = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
      input: answer,
      encoding: 'utf8',
    })
    expect(asked.stdout).toContain(`Write ${file()}? [Y/n] `)
    expect([asked.status, existsSync(file())]).toEqual([status, written])
  })

  test('replaces a file only when it is told to', () => {
    writeFileSync(file(), 'mine')
    expect(run('init')).toEqual({
      status: 2,
      stdout: '',
      stderr: `turnpike init: ${file()} is there already; to replace it: ${OWN} init --force; see ${OWN} help init\n`,
    })
    expect(readFileSync(file(), 'utf8')).toBe('mine')
    expect(run('init', '--force').status).toBe(0)
    expect(readFileSync(file(), 'utf8')).toContain('agents:')
    expect(run('init', '--now')).toMatchObject({ status: 2, stderr: expect.stringContaining('"--now"') })
  })
})

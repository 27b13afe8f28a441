/** Agents that are installed and not logged in: each failed turn ends with the command that logs its agent in. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LAUNCHER, ROOT } from '../kit/gateway.ts'

const WANTS = (name: string): string =>
  `The agent "${name}" wants a login (Authentication required): log in with its own program, or set \`auth\` to one of: "web" (Log in)`

/** By its name in the configuration that is written for it: its message. */
const TOLD = {
  claude: 'Not logged in · Please run /login; to log in, type: claude auth login',
  codex: 'unexpected status 401 Unauthorized: Missing bearer authentication; to log in, type: codex login',
  gemini: `${WANTS('gemini')}; to log in, type: gemini`,
  opencode: `${WANTS('opencode')}; to log in, type: opencode auth login`,
  qwen: 'No auth type is selected; to log in, type: qwen',
  goose: `${WANTS('goose')}; to log in, type: goose configure`,
  copilot: `${WANTS('copilot')}; to log in, type: copilot login`,
}

describe('an agent that is not logged in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-logged-out-'))
  const bin = join(folder, 'bin')
  let gateway: ChildProcess
  let url: string

  beforeAll(async () => {
    mkdirSync(bin)
    const script = readFileSync(join(ROOT, 'test/kit/agents/logged-out.mjs'), 'utf8')
    for (const name of Object.keys(TOLD)) {
      // It is found by its name: a link would run under the name of its file.
      writeFileSync(join(bin, name), `#!${process.execPath}\n${script}`, {
        mode: 0o755,
      })
    }
    const env = {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      TURNPIKE_DATA: folder,
      TURNPIKE_PORT: '0',
    }
    gateway = spawn(LAUNCHER, [], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    for await (const piece of gateway.stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      text += piece
      url = /listens on (\S+)/.exec(text)?.[1] ?? ''
      if (url !== '') break
    }
  })
  afterAll(() => {
    gateway.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  test.each(Object.entries(TOLD))('%s', async (name, message) => {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'hello' }] }),
    })
    expect(await answer.json()).toEqual({
      error: { message, type: 'server_error', code: 'provider_auth', param: null },
    })
  })
})

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentProblems, loginProblem, versionProblem } from '../../src/cli/agent-probe.ts'
import { installOf, KNOWN_AGENTS, knownAgent } from '../../src/cli/known-agents.ts'
import { startGateway } from '../kit/gateway.ts'

const program = (name: string) => KNOWN_AGENTS.find((known) => known.program === name)!
const all = mkdtempSync(join(tmpdir(), 'turnpike-probe-'))
afterAll(() => rmSync(all, { recursive: true, force: true }))

let home: string
beforeEach(() => {
  home = mkdtempSync(join(all, 'home-'))
})

/** Writes a file below the home. */
function keep(path: string, text = '{}'): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

describe('a login', () => {
  const MISSING = {
    claude: 'no login of claude was found; type: claude auth login',
    codex: 'no login of codex was found; type: codex login',
    gemini: 'no login of gemini was found; type: gemini',
    opencode: 'no login of opencode was found; type: opencode auth login',
    qwen: 'no login of qwen was found; type: qwen',
    goose: 'no login of goose was found; type: goose configure',
    copilot: 'no login of copilot was found; type: copilot login',
  }
  const isSecret = (name: string) => process.platform === 'darwin' && program(name).login?.keychain === true

  test.each(Object.entries(MISSING).filter(([name]) => !isSecret(name)))('of %s that is not there', (name, told) => {
    expect(loginProblem(program(name), { HOME: home })).toBe(told)
  })

  test.each([
    ['claude', '.claude/.credentials.json', '{}'],
    ['claude', '.claude/settings.json', '{"apiKeyHelper":"x"}'],
    ['codex', '.codex/auth.json', '{}'],
    ['codex', '.codex/config.toml', 'model_provider = "mine"\n'],
    ['gemini', '.gemini/oauth_creds.json', '{}'],
    ['gemini', '.gemini/.env', 'GEMINI_API_KEY=x'],
    ['opencode', '.local/share/opencode/auth.json', '{}'],
    ['opencode', '.config/opencode/opencode.json', '{"provider":{}}'],
    ['qwen', '.qwen/settings.json', '{"security":{"auth":{"selectedType":"openai"}}}'],
    ['goose', '.config/goose/config.yaml', 'GOOSE_PROVIDER: x\n'],
    ['copilot', '.copilot/config.json', '{"logged_in_users":[]}'],
  ])('of %s is in %s', (name, path, text) => {
    keep(path, text)
    expect(loginProblem(program(name), { HOME: home })).toBeUndefined()
  })

  test.each([
    ['claude', 'ANTHROPIC_API_KEY'],
    ['claude', 'CLAUDE_CODE_USE_BEDROCK'],
    ['codex', 'CODEX_API_KEY'],
    ['gemini', 'GOOGLE_GENAI_USE_VERTEXAI'],
    ['opencode', 'GROQ_API_KEY'],
    ['qwen', 'DASHSCOPE_API_KEY'],
    ['goose', 'GOOSE_PROVIDER'],
    ['copilot', 'GH_TOKEN'],
    ['copilot', 'COPILOT_PROVIDER_BASE_URL'],
  ])('of %s is %s', (name, variable) => {
    expect(loginProblem(program(name), { HOME: home, [variable]: 'x' })).toBeUndefined()
    if (isSecret(name)) return
    expect(loginProblem(program(name), { HOME: home, [variable]: '' })).toContain('no login')
    expect(loginProblem(program(name), { HOME: home }, { [variable]: 'x' })).toBe(
      `it has no login, because it does not inherit ${variable}; add inherit: [${variable}]`,
    )
  })

  test('may be in another folder, or say nothing to us', () => {
    keep('elsewhere/auth.json')
    expect(loginProblem(program('codex'), { HOME: home, CODEX_HOME: join(home, 'elsewhere') })).toBeUndefined()
    mkdirSync(join(home, '.codex/config.toml'), { recursive: true })
    expect(loginProblem(program('codex'), { HOME: home })).toBeUndefined()
    keep('.qwen/settings.json', '{"theme":"dark"}')
    expect(loginProblem(program('qwen'), { HOME: home })).toBe(MISSING.qwen)
  })

  test('is nothing of agents that have none', () => {
    expect(loginProblem(program('zot'), { HOME: home })).toBeUndefined()
  })
})

test.each([
  ['codex', '0.162.9', true],
  ['codex', '0.163.0', false],
  ['codex', '0.163', false],
  ['codex', '1.0.0-alpha.1', false],
  ['claude', '2.0.77', true],
  ['claude', '2.1.332', false],
  ['claude', '2', true],
  ['goose', '0.0.1', false],
  ['codex', undefined, false],
])('%s %s is too old: %s', (name, version, isOld) => {
  const { since } = program(name)
  const told = `${name} ${version} is older than ${since}, the oldest version that is known to work; type: ${installOf(program(name))}`
  expect(versionProblem(program(name), version)).toBe(isOld ? told : undefined)
})

test('an adapter has the login of its agent', () => {
  expect(knownAgent('/usr/bin/claude-agent-acp')).toMatchObject({ program: 'claude-agent-acp', title: 'Claude Code' })
  expect(knownAgent('codex-acp')).not.toHaveProperty('since')
  expect(installOf(knownAgent('codex-acp'))).toBe('npm install -g @agentclientprotocol/codex-acp@latest')
  expect(knownAgent('toString')).toBeUndefined()
})

test.each([
  ['npx', ['-y', '@google/gemini-cli@0.61.0', '--acp'], 'gemini', 'gemini'],
  ['/usr/bin/npx', ['opencode-ai', 'acp'], 'opencode', 'opencode auth login'],
  ['bunx', ['@agentclientprotocol/claude-agent-acp@latest'], 'claude-agent-acp', 'claude auth login'],
  ['npx', ['@openai/codex', 'app-server'], 'codex', 'codex login'],
  ['npx', ['zot'], undefined, undefined],
  ['npx', [], undefined, undefined],
  ['node', ['@openai/codex'], undefined, undefined],
])('%s %j starts %s', (command, args, expected, login) => {
  const known = knownAgent(command, args)
  expect([known?.program, known?.login?.command, known?.since]).toEqual([expected, login, undefined])
})

describe('the agents of a configuration', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>
  afterEach(() => gateway.close())

  test('are asked for their version in their own environment, and need what they do not have', async () => {
    keep('codex', '#!/bin/sh\necho "codex-cli $VERSION"\n')

    chmodSync(join(home, 'codex'), 0o755)
    const agent = (more: string) => `{ protocol: codex, command: ${home}/codex, args: [], ${more} }`
    gateway = await startGateway(`agents:
  old: ${agent(`env: { HOME: ${home}, VERSION: "0.1.0" }`)}
  new: ${agent(`env: { HOME: ${home}, VERSION: "0.171.0", CODEX_API_KEY: x }`)}
  other: { protocol: zot, command: sh, args: [] }
  far: { protocol: openharness, url: "http://127.0.0.1:1" }
  gone: { protocol: codex, command: /nowhere/codex, args: [] }
`)
    expect(await agentProblems(gateway.config, { PATH: process.env['PATH'] })).toEqual([
      'agent old: codex 0.1.0 is older than 0.163, the oldest version that is known to work; type: npm install -g @openai/codex@latest',
      'agent old: no login of codex was found; type: codex login',
    ])
  })
})

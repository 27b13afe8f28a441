import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installOf, KNOWN_AGENTS, knownAgent } from '../../src/cli/known-agents.ts'
import {
  findAgents,
  findProgram,
  isLauncher,
  missingPrograms,
  programOf,
  wrongProtocols,
} from '../../src/cli/programs.ts'
import type { AgentConfig, Config } from '../../src/config/index.ts'

/** A folder with `one/` and `two/`, each with programs. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-programs-'))
  for (const name of ['one', 'two', 'one/folder']) mkdirSync(join(folder, name))
  const write = (name: string, mode: number): void => {
    writeFileSync(join(folder, name), '#!/bin/sh\n')
    chmodSync(join(folder, name), mode)
  }
  for (const name of ['one/both', 'two/both', 'two/codex', 'two/zot', 'two/turnpike.sh']) write(name, 0o755)
  write('one/codex', 0o644)
  symlinkSync(join(folder, 'two/turnpike.sh'), join(folder, 'one/claude'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const inside = (name: string): string => join(folder, name)
const PATH = (...names: string[]): string => names.map(inside).join(delimiter)

const agent = (more: Partial<AgentConfig>): AgentConfig =>
  ({ name: 'a', kind: 'process', protocol: 'zot', cwd: folder, env: {}, ...more }) as AgentConfig
const config = (...agents: AgentConfig[]): Config =>
  ({ agents: new Map(agents.map((one) => [one.name, one])) }) as unknown as Config

describe('a program', () => {
  test('is the first of its name on the PATH that can be started', () => {
    expect(findProgram('both', PATH('one', 'two'))).toBe(inside('one/both'))
    expect(findProgram('both', PATH('two', 'one'))).toBe(inside('two/both'))
    // One that is not executable, and a folder, are passed over.
    expect(findProgram('codex', PATH('one', 'two'))).toBe(inside('two/codex'))
    expect(findProgram('folder', PATH('one', 'two'))).toBeUndefined()
    expect(findProgram('nothing', PATH('one', 'two'))).toBeUndefined()
  })

  test('is not in the working folder where the PATH has an empty place', () => {
    expect(findProgram('package.json', `${delimiter}${delimiter}`)).toBeUndefined()
    expect(findProgram('both', `${delimiter}${inside('one')}`)).toBe(inside('one/both'))
    expect(findProgram('both', '')).toBeUndefined()
  })

  test('is a stand-in of this gateway where it leads to its launcher', () => {
    expect([isLauncher(inside('one/claude')), isLauncher(inside('two/codex'))]).toEqual([true, false])
  })

  test('of a known agent is found, but no stand-in of it', () => {
    expect(findAgents(PATH('one', 'two')).map(({ program }) => program)).toEqual(['codex', 'zot'])
    expect(findAgents(PATH('one'))).toEqual([])
    expect(findAgents('')).toEqual([])
  })
})

describe('the program of an agent', () => {
  test.each<[Partial<AgentConfig>, host: string[] | undefined, found: string | undefined]>([
    [{ command: 'both' }, ['one'], 'one/both'],
    [{ command: 'both', env: {} }, undefined, undefined],
    [{ command: './two/codex' }, undefined, 'two/codex'],
    [{ command: 'two/codex' }, undefined, 'two/codex'],
    [{ command: 'one/codex' }, ['two'], undefined],
    [{ command: 'one/folder' }, undefined, undefined],
    [{}, ['one'], undefined],
  ])('of %j on the PATH %j is %s', (more, host, found) => {
    const env = host ? { PATH: PATH(...host) } : {}
    expect(programOf(agent(more), env)).toBe(found && inside(found))
  })

  test('is searched on the PATH of the agent before that of the gateway', () => {
    const own = agent({ command: 'both', env: { PATH: PATH('two') } })
    expect(programOf(own, { PATH: PATH('one') })).toBe(inside('two/both'))
  })

  test('is relative to the folder that the agent works in', () => {
    expect(programOf(agent({ command: './codex', cwd: inside('two') }), {})).toBe(inside('two/codex'))
  })
})

describe('what is missing', () => {
  const missing = (more: Partial<AgentConfig>): string[] =>
    missingPrograms(config(agent(more)), { PATH: PATH('two') }, 'tp check')

  test.each<[string, Partial<AgentConfig>]>([
    ['an HTTP agent', { kind: 'http', url: 'http://h' }],
    ['one on the PATH', { command: 'codex' }],
    ['one at its path', { command: './one/both' }],
    ['a command line of a protocol that splits it', { command: 'codex --x', protocol: 'agentproc', dialect: '0.1' }],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of an AgentProc profile
    ['a folder that is only known with a turn', { command: 'codex', cwd: '/${PROJECT}' }],
    ['one in a folder with a variable of a profile', { command: 'codex', cwd: '{{cwd}}/x' }],
  ])('is nothing for %s', (_what, more) => {
    expect(missing(more)).toEqual([])
  })

  test('is told with what to do', () => {
    expect(missing({ command: 'nothing' })).toEqual([
      'agent a: nothing cannot be started: it is not on the PATH; install it, or correct agents.a.command, then run tp check again',
    ])
    expect(missing({ command: './nothing' })).toEqual([
      'agent a: ./nothing cannot be started: there is no such program; install it, or correct agents.a.command, then run tp check again',
    ])
    expect(missing({ command: 'one/codex' })).toEqual([
      `agent a: one/codex cannot be started: it is not executable; type: chmod +x ${inside('one/codex')}`,
    ])
    expect(missing({ command: 'claude' })).toEqual([
      'agent a: claude cannot be started: it is not on the PATH; install it (npm install -g @anthropic-ai/claude-code@latest), or correct agents.a.command, then run tp check again',
    ])
  })

  test.each<[string, Partial<AgentConfig>, string]>([
    [
      'arguments in a command',
      { command: 'codex exec' },
      'codex exec cannot be started: it is no name of a program; write what follows the first word into agents.a.args, then',
    ],
    [
      'arguments in a command next to others',
      { command: 'codex exec', args: [], protocol: 'agentproc', dialect: '0.1' },
      'codex exec cannot be started: it is no name of a program; write what follows the first word into agents.a.args, then',
    ],
    [
      'arguments in a command of another dialect',
      { command: 'codex exec', protocol: 'agentproc', dialect: '0.4' },
      'codex exec cannot be started: it is no name of a program; write what follows the first word into agents.a.args, then',
    ],
    [
      'a missing folder',
      { command: 'codex', cwd: '/no/such' },
      'it cannot be started in /no/such: there is no such folder; make it, or correct agents.a.cwd, then',
    ],
    [
      'a folder that is a file',
      { command: 'codex', cwd: import.meta.filename },
      `it cannot be started in ${import.meta.filename}: there is no such folder; make it, or correct agents.a.cwd, then`,
    ],
  ])('is told for %s', (_what, more, told) => {
    expect(missing(more)).toEqual([`agent a: ${told} run tp check again`])
  })

  test('is told of each agent, in the order of the file', () => {
    const all = config(
      agent({ name: 'x', command: 'gone' }),
      agent({ name: 'y' }),
      agent({ name: 'z', command: 'away' }),
    )
    expect(missingPrograms(all, {}, 'tp check').map((line) => line.split(':')[0])).toEqual(['agent x', 'agent z'])
  })
})

describe('a protocol', () => {
  const wrong = (more: Partial<AgentConfig>): string[] => wrongProtocols(config(agent(more)), 'tp check')

  test.each<[Partial<AgentConfig>]>([
    [{ command: 'claude', protocol: 'claude-code' }],
    [{ command: '/usr/bin/codex', protocol: 'codex@exec' }],
    [{ command: 'qwen', protocol: 'qwen-code' }],
    [{ command: 'qwen', protocol: 'qwen' }],
    [{ command: 'qwen', protocol: 'acp' }],
    // Any program may print text.
    [{ command: 'claude', protocol: 'agentproc@0.4' }],
    [{ command: 'own-agent', protocol: 'zot' }],
    [{ kind: 'http', protocol: 'zene' }],
    [{ command: 'npx', args: ['-y', '@agentclientprotocol/claude-agent-acp'], protocol: 'acp' }],
  ])('of %j may be right', (more) => {
    expect(wrong(more)).toEqual([])
  })

  test.each<[Partial<AgentConfig>, string]>([
    [{ command: 'claude', protocol: 'acp' }, 'claude does not speak acp; write protocol: claude-code'],
    [{ command: 'bin/gemini', protocol: 'zot@rpc' }, 'gemini does not speak zot@rpc; write protocol: acp'],
    [
      { command: 'npx', args: ['@openai/codex@1.2'], protocol: 'acp' },
      'codex does not speak acp; write protocol: codex',
    ],
    [{ command: 'codex-acp', protocol: 'codex' }, 'codex-acp does not speak codex; write protocol: acp'],
  ])('of %j is wrong', (more, told) => {
    expect(wrong(more)).toEqual([`agent a: ${told}, then run tp check again`])
  })
})

describe('a known agent', () => {
  test('is known by its program, whatever its folder and its arguments', () => {
    for (const known of KNOWN_AGENTS) {
      expect(knownAgent(known.program)).toBe(known)
      expect(knownAgent(`/opt/${known.program}`, ['--x'])).toBe(known)
    }
    for (const command of ['', 'sh', 'claudes', 'claude.sh', '/claude/sh']) expect(knownAgent(command)).toBeUndefined()
  })

  test.each([
    [['@openai/codex'], 'codex'],
    [['-y', '@openai/codex@latest', 'app-server'], 'codex'],
    [['opencode-ai@1.18.0'], 'opencode'],
    [['-y'], undefined],
    [[], undefined],
    [['some-package'], undefined],
    [['--package', '@openai/codex'], 'codex'],
  ])('is known by its package, which a runner starts with %j: %s', (args, program) => {
    for (const runner of ['npx', '/usr/bin/bunx']) {
      const found = knownAgent(runner, args)
      expect(found?.program).toBe(program)
      // The version of what a runner gets is not known.
      if (found) expect(found).not.toHaveProperty('since')
    }
    expect(knownAgent('node', args)).toBeUndefined()
  })

  test('has its login used by an adapter, which speaks another protocol', () => {
    const claude = KNOWN_AGENTS.find(({ program }) => program === 'claude')!
    const adapter = knownAgent('claude-agent-acp')!
    expect(adapter).toMatchObject({
      program: 'claude-agent-acp',
      protocol: 'acp',
      package: '@agentclientprotocol/claude-agent-acp',
      login: claude.login,
    })
    expect(knownAgent('npx', ['@agentclientprotocol/claude-agent-acp@1'])).toEqual(adapter)
  })

  test('is installed from npm, where npm has it', () => {
    expect(installOf(knownAgent('codex'))).toBe('npm install -g @openai/codex@latest')
    expect(installOf(knownAgent('codex-acp'))).toBe('npm install -g @agentclientprotocol/codex-acp@latest')
    expect([installOf(knownAgent('goose')), installOf(undefined)]).toEqual([undefined, undefined])
  })
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type AgentConfig, type Config, DEFAULT_LIMITS } from '../../src/config/index.ts'
import { parse, problemsOf } from './codecs.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-profile-'))
mkdirSync(join(folder, 'agents'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The configuration with one agent `a` of the profile, with `beside` written beside it. */
function load(profile: string, beside = '', env: Record<string, string> = {}): Config {
  writeFileSync(join(folder, 'agents', 'profile.yaml'), profile)
  const entry = `protocol: agentproc, profile: ./agents/profile.yaml${beside === '' ? '' : `, ${beside}`}`
  return parse(`agents:\n  a: { ${entry} }\n`, env, folder)
}

const agent = (...args: Parameters<typeof load>): AgentConfig => load(...args).agents.get('a')!

/** What is wrong, as lines without their hints. */
function refused(...args: Parameters<typeof load>): string[] {
  const problems = problemsOf(() => load(...args))
  return problems.map(({ file, line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`)
}

describe('a profile', () => {
  it('gives the process and the options, with nothing of it expanded', () => {
    const profile = `
command: ./run.sh --fast
cwd: "{{PROFILE_DIR}}/work"
env:
  KEY: "\${SECRET}"
  VERSION: 1.10
  DEBUG: true
timeout_secs: 60
streaming: false
`
    expect(agent(profile, '', { SECRET: 'hidden' })).toEqual({
      name: 'a',
      protocol: 'agentproc',
      dialect: '0.1',
      kind: 'process',
      command: './run.sh --fast',
      cwd: '{{PROFILE_DIR}}/work',
      env: { KEY: `\${SECRET}`, VERSION: '1.10', DEBUG: 'true' },
      inherit: ['SECRET'],
      pool: { warm: 0, max: 8, idle: 600_000 },
      limits: { ...DEFAULT_LIMITS, firstEvent: 2_147_483_647, idle: 2_147_483_647, total: 60_000 },
      options: { stdin: 'none', timeout_secs: 60, streaming: false, expand: true },
      folder: join(folder, 'agents'),
      restore: 'fresh',
      breaker: { failures: 5, cooldown: 15_000 },
    })
  })

  it('may have its fields under "agentproc", as publishers write them', () => {
    const config = load(
      'name: demo\ndescription: a demo\nagentproc:\n  command: python3\n  args: [a, 5]\n  streaming: false\n',
    )
    expect(config.agents.get('a')).toMatchObject({
      command: 'python3',
      args: ['a', '5'],
      options: { streaming: false },
    })
    expect(config.warnings).toEqual([])
  })

  it('tells no args from an empty list', () => {
    expect(agent('command: x\n').args).toBeUndefined()
    expect(agent('command: x\nargs: []\n').args).toEqual([])
    expect(agent('command: x\nargs:\n').args).toBeUndefined()
  })

  it.each([
    ['command: x\n', 'agents'],
    ['command: x\ncwd: work\n', 'agents/work'],
    ['command: x\ncwd: ..\n', ''],
  ])('resolves its cwd from its own folder: %j', (profile, cwd) => {
    expect(agent(profile).cwd).toBe(join(folder, cwd).replace(/\/$/, ''))
  })

  it('goes behind what is written beside it, variable by variable', () => {
    const profile = 'command: x\nargs: [a]\ncwd: /p\nenv: { A: "1", B: "2" }\nstdin: message\nstreaming: true\n'
    const beside = 'command: ./y, args: [b], cwd: here, env: { B: "3", C: "4" }, stdin: none'
    expect(agent(profile, beside)).toMatchObject({
      command: join(folder, 'y'),
      args: ['b'],
      cwd: join(folder, 'here'),
      env: { A: '1', B: '3', C: '4' },
      options: { stdin: 'none', streaming: true },
      folder: join(folder, 'agents'),
    })
  })

  it('needs no command when one is beside it', () => {
    expect(agent('stdin: message\n', 'command: y')).toMatchObject({ command: 'y', options: { stdin: 'message' } })
  })

  it('passes an allowlist on and then inherits nothing else', () => {
    expect(agent('command: x\nenv_allowlist: [A]\n', '', { A: '1', B: '2' })).toMatchObject({
      inherit: [],
      options: { env_allowlist: ['A'] },
    })
  })

  it('ignores unknown fields with a warning each', () => {
    const config = load('command: x\nunknown_field: 1\nagent: { streming: x }\nstreming: false\n')
    expect(config.warnings).toEqual([
      'agents/profile.yaml:2:1 unknown_field: this field is unknown and ignored',
      'agents/profile.yaml:3:1 agent: this field is unknown and ignored',
      'agents/profile.yaml:4:1 streming: this field is unknown and ignored; did you mean "streaming"?',
    ])
  })
})

describe('a bad profile is refused with the place in its own file', () => {
  it.each([
    ['no command', 'stdin: none\n', 'turnpike.yaml:2:38 agents.a.profile: this profile has no command'],
    ['an empty file', '', 'turnpike.yaml:2:38 agents.a.profile: this profile has no command'],
    ['args that are a text', 'command: x\nargs: a b\n', 'agents/profile.yaml:2:7 args: must be a list'],
    ['an argument that is a list', 'command: x\nargs: [a, [b]]\n', 'agents/profile.yaml:2:11 args[1]: must be text'],
    [
      'a command that is a list',
      'agentproc:\n  command: [x]\n',
      'agents/profile.yaml:2:3 agentproc.command: must be text',
    ],
    [
      'an env that is a list',
      'command: x\nenv: [a]\n',
      'agents/profile.yaml:2:1 env: must be a table of keys and values',
    ],
    ['a list', '- command\n', 'agents/profile.yaml:1:1 : must be a table of keys and values'],
    [
      'wrong syntax',
      'command: [x\n',
      'agents/profile.yaml:2:1 : Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    [
      'an option that the codec refuses',
      'agentproc:\n  command: x\n  stdin: always\n',
      'agents/profile.yaml:3:10 agentproc.stdin: Invalid type: Expected ("none" | "message") but received another text',
    ],
    [
      'an executor',
      'executor: claude\n',
      'agents/profile.yaml:1:11 executor: names a driver inside another runner, which cannot be started as a process',
    ],
  ])('%s', (_, profile, line) => {
    expect(refused(profile)).toEqual([line])
  })

  it('and in the configuration for an option that is beside it', () => {
    expect(refused('command: x\nstdin: none\n', 'stdin: always')).toEqual([
      'turnpike.yaml:2:68 agents.a.stdin: Invalid type: Expected ("none" | "message") but received another text',
    ])
  })

  it('when a value beside it would be expanded a second time', () => {
    expect(refused('command: x\n', `env: { K: "\${S}" }`, { S: `x\${HOME}` })).toEqual([
      `turnpike.yaml:2:61 agents.a.env: the value of S holds "\${", which would be expanded again with the profile`,
    ])
    expect(agent('command: x\n', `env: { K: "\${S}" }`, { S: 'x' }).env).toEqual({ K: 'x' })
  })
})

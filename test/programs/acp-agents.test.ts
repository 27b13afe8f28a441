/** Agents of the Agent Client Protocol as they are installed, on a scripted model, behind clients of other protocols. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp, type ClientName, clientOf } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { describeLarge, installed, installedLarge, SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

const DOORS: readonly ClientName[] = ['openharness', 'zene', 'native', 'openai']

/** A program: how it is started, what it needs in its home, how its tools are called. */
interface Program {
  name: string
  /** The file that has to be there, and the command that runs it. */
  file: string
  command: readonly string[]
  env(model: string, home: string): Record<string, string>
  files?(model: string): Record<string, string>
  options?: object
  /** The call of its tool that writes a file, and of the one that runs a command. */
  write(file: string, text: string): string
  run(command: string): string
  /** A session goes on after its process is gone: with all that was said, or told it. */
  resumes: boolean
}

const call = (tool: string, args: object): string => `[[tool ${tool} ${JSON.stringify(args)}]]`
const node = (file: string, ...args: string[]): Pick<Program, 'file' | 'command'> => ({
  file,
  command: [process.execPath, file, ...args],
})
const OPENCODE = installedLarge(`opencode-${process.platform}-${process.arch}/bin/opencode`)
const QWEN_SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
  model: { generationConfig: { maxRetries: 0 } },
}

const PROGRAMS: readonly Program[] = [
  {
    name: 'Qwen Code 0.24.4 as an ACP agent',
    ...node(installed('@qwen-code/qwen-code/cli.js'), '--acp', '--approval-mode', 'default', '--auth-type=openai'),
    env: (model) => ({
      OPENAI_BASE_URL: `${model}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'mock',
      QWEN_CODE_NO_RELAUNCH: '1',
    }),
    files: () => ({ '.qwen/settings.json': JSON.stringify(QWEN_SETTINGS) }),
    write: (file_path, content) => call('write_file', { file_path, content }),
    run: (command) => call('run_shell_command', { command, is_background: false }),
    resumes: true,
  },
  {
    name: 'Gemini CLI 0.61.0',
    ...node(installedLarge('@google/gemini-cli/bundle/gemini.js'), '--acp', '--skip-trust', '-m', 'gemini-2.5-flash'),
    env: (model) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: 'none' }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    write: (file_path, content) => call('write_file', { file_path, content }),
    run: (command) => call('run_shell_command', { command }),
    // It does not find the session that it is to load.
    resumes: false,
  },
  {
    name: 'OpenCode 1.18.33',
    file: OPENCODE,
    command: [OPENCODE, 'acp'],
    env: (model) => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'mock/mock',
        small_model: 'mock/mock',
        share: 'disabled',
        permission: { edit: 'ask', bash: 'ask' },
        provider: {
          mock: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: 'none' },
            models: { mock: { name: 'mock', tool_call: true } },
          },
        },
      }),
    }),
    write: (filePath, content) => call('write', { filePath, content }),
    run: (command) => call('bash', { command, description: 'runs it' }),
    resumes: true,
  },
  {
    name: 'claude-agent-acp 0.101.0',
    ...node(installedLarge('@agentclientprotocol/claude-agent-acp/dist/index.js')),
    env: (model) => ({
      IS_SANDBOX: '1',
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
    }),
    options: { mode: 'default' },
    write: (file_path, content) => call('Write', { file_path, content }),
    run: (command) => call('Bash', { command, description: 'runs it' }),
    resumes: true,
  },
  {
    name: 'codex-acp 2.6.0',
    ...node(installedLarge('@agentclientprotocol/codex-acp/dist/index.js')),
    env: (_, home) => ({ OPENAI_API_KEY: 'none', CODEX_HOME: join(home, '.codex') }),
    files: (model) => ({
      '.codex/config.toml': `model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${model}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`,
    }),
    options: { mode: 'read-only' },
    write: (file, text) => asking(`printf '%s' '${text}' > ${file}`),
    run: (command) => asking(command),
    resumes: true,
  },
]

/** A command for which Codex asks. */
function asking(cmd: string): string {
  return call('exec_command', { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' })
}

for (const program of PROGRAMS) {
  describeLarge(`${program.name} as the agent`, [program.file], () => {
    let folder: string
    let model: ScriptedModel
    let gateway: TestGateway
    const work = (): string => join(folder, 'work')

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'turnpike-acp-'))
      const home = join(folder, 'home')
      mkdirSync(work())
      const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
      model = await startModel()
      for (const [path, text] of Object.entries(program.files?.(model.url) ?? {})) {
        mkdirSync(dirname(join(home, path)), { recursive: true })
        writeFileSync(join(home, path), text)
      }
      mkdirSync(home, { recursive: true })
      // Its processes are known by a path in this folder.
      const link = join(folder, basename(program.file))
      symlinkSync(program.file, link)
      const [command, ...args] = program.command.map((word) => (word === program.file ? link : word))
      const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config'), MARK: folder }
      const agent = {
        protocol: 'acp',
        command,
        args,
        cwd: work(),
        env: {
          ...env,
          XDG_CACHE_HOME: join(home, 'cache'),
          XDG_STATE_HOME: join(home, 'state'),
          ...program.env(model.url, home),
        },
        pool: { max: 4 },
        restore: 'replay',
        ...program.options,
      }
      gateway = await startGateway(
        `agents: ${JSON.stringify({ it: agent, careful: agent, mortal: agent, shared: { ...agent, pool: { max: 1, sessions: 2 } } })}
default: it
routes:
  - { when: { agent: careful }, agent: careful, approvals: deny }
  - { when: { agent: mortal }, agent: mortal }
  - { when: { agent: shared }, agent: shared, approvals: allow }
  - { agent: it, approvals: allow }
`,
      )
    })
    afterAll(async () => {
      await gateway?.close()
      await model?.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })

    const opened = (door: string, name: string): string => (door === 'openharness' ? '' : `${name}-${door}`)
    const ask = (door: ClientName, agent: string, text: string, session: string) =>
      askHttp(gateway.url, door, { text, session, agent, id: `r${Math.random()}` })

    /** True when one request to the model has all of these texts: some programs ask it for a title, too. */
    const wasAsked = (...texts: string[]): boolean =>
      model.requests.some((request) => texts.every((text) => JSON.stringify(request).includes(text)))

    test.each(DOORS)('for %s: two turns of one session', async (door) => {
      const first = await ask(door, 'it', 'Hello [[think]]', opened(door, 'plain'))
      expect(first, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'thought about it' })
      const second = await ask(door, 'it', 'Again [[think]]', first.session)
      expect(second).toMatchObject({ ok: true, text: 'thought about it' })
      expect(wasAsked('Again [[think]]', 'Hello [[think]]')).toBe(true)
    })

    test.each(['zene', 'openai'] as const)('for %s: a file is written when that is approved', async (door) => {
      const file = join(work(), `approved-${door}.txt`)
      const answer = await ask(door, 'it', program.write(file, 'as told'), opened(door, 'approved'))
      expect(answer, gateway.logged.join('\n')).toMatchObject({ ok: true })
      expect(readFileSync(file, 'utf8')).toBe('as told')
    })

    test('and not when it is denied', async () => {
      const file = join(work(), 'denied.txt')
      await ask('zene', 'careful', program.write(file, 'as told'), 'denied')
      expect(existsSync(file)).toBe(false)
    })

    test('the client itself is asked', async () => {
      const asked = await ask('native', 'it', program.write(join(work(), 'asked.txt'), 'x'), 'asked')
      expect(asked.raw).toContain('"outcome":"parked"')
      for (const turn of gateway.engine.turns) turn.cancel()
      await until(() => gateway.engine.turns.length === 0)
      expect(existsSync(join(work(), 'asked.txt'))).toBe(false)
    })

    test('a cancel ends the command that runs, and the session goes on', async () => {
      const sleep = `time.sleep(${54400 + PROGRAMS.indexOf(program)})`
      const running = ask('zene', 'it', program.run(`python3 -c "import time; ${sleep}"`), 'cancel')
      await until(() => pidsOf(sleep).length > 0)
      for (const turn of gateway.engine.turns) turn.cancel()
      expect(await running).toMatchObject({ ok: false })
      await until(() => pidsOf(sleep).length === 0)
      expect(await ask('zene', 'it', 'Still there? [[think]]', 'cancel')).toMatchObject({
        ok: true,
        text: 'thought about it',
      })
    })

    test('two sessions work in one process, and the cancel of one leaves the other alone', async () => {
      const sleep = `time.sleep(${54500 + PROGRAMS.indexOf(program)})`
      await ask('zene', 'shared', 'Here is one. [[think]]', 'one')
      const running = ask('zene', 'shared', program.run(`python3 -c "import time; ${sleep}"`), 'one')
      await until(() => pidsOf(sleep).length > 0)
      const other = await ask('zene', 'shared', 'Here is two. [[think]]', 'two')
      expect(other, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'thought about it' })
      for (const turn of gateway.engine.turns) turn.cancel()
      expect(await running).toMatchObject({ ok: false })
      await ask('zene', 'shared', 'Two again. [[think]]', 'two')
      await ask('zene', 'shared', 'One again. [[think]]', 'one')
      expect([wasAsked('Here is two.', 'Two again.'), wasAsked('Here is one.', 'One again.')]).toEqual([true, true])
      expect([wasAsked('Here is one.', 'Two again.'), wasAsked('Here is two.', 'One again.')]).toEqual([false, false])
    })

    test('a session goes on after its process was killed', async () => {
      await ask('zene', 'mortal', 'Remember 7. [[think]]', 'killed')
      for (const pid of pidsOf(folder)) process.kill(pid, 'SIGKILL')
      await until(() => pidsOf(folder).length === 0)
      await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes('"mortal"')))
      const answer = await ask('native', 'mortal', 'What was it? [[think]]', 'killed')
      expect(answer, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'thought about it' })
      expect(wasAsked('What was it?', 'Remember 7.')).toBe(true)
      expect(answer.raw.includes('session-reset')).toBe(!program.resumes)
    })

    test('a model that refuses the request fails the turn', async () => {
      const failed = await ask('native', 'it', '[[status 400]]', 'refused')
      expect(clientOf('native').failure(failed.raw)).toMatch(/^(provider-error|internal)$/)
    })
  })
}

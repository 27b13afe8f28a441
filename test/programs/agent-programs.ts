/** Agents as they are installed: how each is started on a scripted model, and how its tools are called. */
import { join } from 'node:path'
import { installed, installedLarge } from './kit.ts'

/** A program: how it is started, what it needs in its home, how its tools are called. */
export interface Program {
  name: string
  protocol: string
  /** The file that has to be there, and the command that runs it. */
  file: string
  command: readonly string[]
  env(model: string, home: string): Record<string, string>
  files?(model: string): Record<string, string>
  options?: object
  /** Its tools are these; each is a prompt for which the model calls one. */
  calls: Calls
  /** A session goes on after its process is gone: with all that was said, or told it. */
  resumes: boolean
  /** It puts several sessions into one process. */
  shares: boolean
  /** It copies its sessions itself. */
  copies: boolean
}

/** The prompts for which the model calls a tool. */
interface Calls {
  /** Runs a command, for which the agent asks. */
  run(command: string): string
  /** Replaces `teh` by `the` in a file with this content; a later prompt goes on after an earlier one. */
  edit(file: string): readonly string[]
  /** Writes down a plan of a step; absent: it has no tool for that, or shows no plan. */
  plan?: string
  /** Asks the user a question; absent: it has no tool for that. */
  question?: string
}

const call = (tool: string, args: object): string => `[[tool ${tool} ${JSON.stringify(args)}]]`
const node = (file: string, ...args: string[]): Pick<Program, 'file' | 'command'> => ({
  file,
  command: [process.execPath, file, ...args],
})
const binary = (file: string, ...args: string[]): Pick<Program, 'file' | 'command'> => ({
  file,
  command: [file, ...args],
})
/** The folder of the test, in a command. */
export const FOLDER = '{folder}'
const PLATFORM = `${process.platform}-${process.arch}`

/** A command for which Codex asks. */
const asking = (cmd: string): string =>
  call('exec_command', { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' })
const CODEX: Calls = {
  run: asking,
  edit: (file) => [
    call('exec_command', {
      cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${file}\n@@\n-teh\n+the\n*** End Patch\nEOF`,
    }),
  ],
}
const codexHome = (model: string, more: string): Record<string, string> => ({
  '.codex/config.toml': `model = "mock"
model_provider = "mock"
${more}
[model_providers.mock]
name = "mock"
base_url = "${model}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`,
})

const PLANNED = [{ content: 'One', status: 'pending', activeForm: 'Doing one' }]
const OPTIONS = ['A', 'B'].map((label) => ({ label, description: label }))
const ASKED = [{ question: 'Which one?', header: 'Pick', options: OPTIONS, multiSelect: false }]
const CLAUDE: Calls = {
  run: (command) => call('Bash', { command, description: 'runs it' }),
  edit: (file_path) => [call('Read', { file_path }), call('Edit', { file_path, old_string: 'teh', new_string: 'the' })],
  question: call('AskUserQuestion', { questions: ASKED }),
}
const claudeEnv = (model: string): Record<string, string> => ({
  // It may be root here.
  IS_SANDBOX: '1',
  ANTHROPIC_BASE_URL: model,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  CLAUDE_CODE_MAX_RETRIES: '0',
})

const QWEN_SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
  model: { generationConfig: { maxRetries: 0 } },
}

export const PROGRAMS: readonly Program[] = [
  {
    name: 'Qwen Code 0.24.4 (ACP)',
    protocol: 'acp',
    ...node(installed('@qwen-code/qwen-code/cli.js'), '--acp', '--approval-mode', 'default', '--auth-type=openai'),
    env: (model) => ({
      OPENAI_BASE_URL: `${model}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'mock',
      QWEN_CODE_NO_RELAUNCH: '1',
    }),
    files: () => ({ '.qwen/settings.json': JSON.stringify(QWEN_SETTINGS) }),
    calls: {
      run: (command) => call('run_shell_command', { command, is_background: false }),
      edit: (file_path) => [
        call('read_file', { file_path }),
        call('edit', { file_path, old_string: 'teh', new_string: 'the' }),
      ],
    },
    resumes: true,
    shares: true,
    copies: false,
  },
  {
    name: 'Gemini CLI 0.61.0',
    protocol: 'acp',
    ...node(installedLarge('@google/gemini-cli/bundle/gemini.js'), '--acp', '--skip-trust', '-m', 'gemini-2.5-flash'),
    env: (model) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: 'none' }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    calls: {
      run: (command) => call('run_shell_command', { command }),
      edit: (file_path) => [
        call('replace', { file_path, instruction: 'Mend it.', old_string: 'teh', new_string: 'the' }),
      ],
    },
    // It does not find the session that it is to load.
    resumes: false,
    shares: true,
    copies: false,
  },
  {
    name: 'OpenCode 1.18.33',
    protocol: 'acp',
    ...binary(installedLarge(`opencode-${PLATFORM}/bin/opencode`), 'acp'),
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
    calls: {
      run: (command) => call('bash', { command, description: 'runs it' }),
      edit: (filePath) => [call('read', { filePath }), call('edit', { filePath, oldString: 'teh', newString: 'the' })],
    },
    resumes: true,
    shares: true,
    copies: true,
  },
  {
    name: 'Copilot CLI 1.0.102',
    protocol: 'acp',
    ...binary(installedLarge(`@github/copilot-${PLATFORM}/copilot`), '--acp'),
    env: (model) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'mock',
    }),
    calls: {
      run: (command) => call('bash', { command, description: 'runs it' }),
      edit: (path) => [call('view', { path }), call('edit', { path, old_str: 'teh', new_str: 'the' })],
    },
    resumes: true,
    shares: true,
    copies: false,
  },
  {
    name: 'claude-agent-acp 0.101.0',
    protocol: 'acp',
    ...node(installedLarge('@agentclientprotocol/claude-agent-acp/dist/index.js')),
    env: claudeEnv,
    options: { mode: 'default' },
    calls: { ...CLAUDE, plan: call('TodoWrite', { todos: PLANNED }) },
    resumes: true,
    shares: true,
    copies: true,
  },
  {
    name: 'codex-acp 2.6.0',
    protocol: 'acp',
    ...node(installedLarge('@agentclientprotocol/codex-acp/dist/index.js')),
    env: (_, home) => ({ OPENAI_API_KEY: 'none', CODEX_HOME: join(home, '.codex') }),
    files: (model) => codexHome(model, ''),
    options: { mode: 'read-only' },
    calls: CODEX,
    resumes: true,
    shares: true,
    copies: true,
  },
  {
    name: 'Codex 0.171.0 (app-server)',
    protocol: 'codex',
    // It starts a program of its own, which is known by this word.
    ...node(installedLarge('@openai/codex/bin/codex.js'), '-c', `projects."${FOLDER}".trust_level="trusted"`),
    env: (_, home) => ({ CODEX_HOME: join(home, '.codex') }),
    files: (model) => codexHome(model, 'approval_policy = "on-request"\nsandbox_mode = "read-only"'),
    calls: CODEX,
    resumes: true,
    shares: false,
    copies: true,
  },
  {
    name: 'Claude Code 2.1.318 (claude -p)',
    protocol: 'claude-code',
    ...binary(installedLarge(`@anthropic-ai/claude-agent-sdk-${PLATFORM}/claude`)),
    env: claudeEnv,
    calls: CLAUDE,
    resumes: true,
    shares: false,
    copies: true,
  },
]

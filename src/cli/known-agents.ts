import { basename } from 'node:path'

/**
 * A place where a login is kept: a folder (of a variable, else below the home), a file in it, and a text that the file
 * must contain.
 */
export type LoginFile = readonly [variable: string, folder: string, file: string, says?: RegExp]

/** The signs of a login on this machine, and the command that makes one. */
export interface Login {
  /** Variables that hold a key or select another login. */
  readonly variables: RegExp
  readonly files: readonly LoginFile[]
  readonly command: string
  /** On macOS it is in the keychain, which is not read. */
  readonly keychain?: true
}

/** An agent that people install: its program, and how the gateway speaks to it. */
export interface KnownAgent {
  /** Its name in a configuration, and its program. */
  readonly program: string
  readonly title: string
  readonly protocol: string
  /** Other protocols that it speaks with other arguments. */
  readonly also?: readonly string[]
  readonly args: readonly string[]
  /** Variables that it inherits. */
  readonly inherit?: readonly string[]
  readonly login?: Login
  /** The oldest version that is known to work. */
  readonly since?: string
  /** Its package at npm; absent where it is not there. */
  readonly package?: string
}

/** The agents that are looked for, the most capable protocol first. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    program: 'claude',
    title: 'Claude Code',
    protocol: 'claude-code',
    args: [],
    inherit: ['ANTHROPIC_*', 'CLAUDE_*'],
    login: {
      variables: /^(?:ANTHROPIC_(?:API_KEY|AUTH_TOKEN)|CLAUDE_CODE_(?:OAUTH_TOKEN|USE_\w+))$/,
      files: [
        ['CLAUDE_CONFIG_DIR', '.claude', '.credentials.json'],
        ['CLAUDE_CONFIG_DIR', '.claude', 'settings.json', /apiKeyHelper|ANTHROPIC_|CLAUDE_CODE_USE_/],
      ],
      command: 'claude auth login',
      keychain: true,
    },
    since: '2.1',
    package: '@anthropic-ai/claude-code',
  },
  {
    program: 'codex',
    title: 'Codex',
    protocol: 'codex',
    args: [],
    inherit: ['CODEX_*', 'OPENAI_*'],
    login: {
      variables: /^(?:OPENAI_API_KEY|CODEX_(?:API_KEY|ACCESS_TOKEN))$/,
      files: [
        ['CODEX_HOME', '.codex', 'auth.json'],
        ['CODEX_HOME', '.codex', 'config.toml', /^\s*(?:model_provider|cli_auth_credentials_store)\s*=/m],
      ],
      command: 'codex login',
    },
    since: '0.163',
    package: '@openai/codex',
  },
  {
    program: 'gemini',
    title: 'Gemini CLI',
    protocol: 'acp',
    // In a folder that it does not trust it does nothing.
    args: ['--acp', '--skip-trust'],
    inherit: ['GEMINI_*', 'GOOGLE_*'],
    login: {
      variables: /^(?:GEMINI_API_KEY|GOOGLE_(?:API_KEY|GENAI_USE_\w+|APPLICATION_CREDENTIALS))$/,
      files: [
        ['GEMINI_CLI_HOME', '', '.gemini/oauth_creds.json'],
        ['GEMINI_CLI_HOME', '', '.gemini/gemini-credentials.json'],
        ['GEMINI_CLI_HOME', '', '.gemini/.env'],
      ],
      command: 'gemini',
    },
    since: '0.61',
    package: '@google/gemini-cli',
  },
  {
    program: 'opencode',
    title: 'OpenCode',
    protocol: 'acp',
    args: ['acp'],
    inherit: ['OPENCODE_*', '*_API_KEY'],
    login: {
      variables: /_API_KEY$|^OPENCODE_CONFIG/,
      files: [
        ['XDG_DATA_HOME', '.local/share', 'opencode/auth.json'],
        ['XDG_CONFIG_HOME', '.config', 'opencode/opencode.json', /"provider"/],
        ['XDG_CONFIG_HOME', '.config', 'opencode/opencode.jsonc', /"provider"/],
      ],
      command: 'opencode auth login',
    },
    since: '1.18',
    package: 'opencode-ai',
  },
  {
    program: 'qwen',
    title: 'Qwen Code',
    protocol: 'qwen-code',
    also: ['qwen', 'acp'],
    args: [],
    inherit: ['OPENAI_*', 'DASHSCOPE_*', 'QWEN_*'],
    login: {
      variables: /^(?:OPENAI|DASHSCOPE|ANTHROPIC|GEMINI)_API_KEY$/,
      files: [
        ['', '.qwen', 'oauth_creds.json'],
        ['', '.qwen', '.env'],
        ['', '.qwen', 'settings.json', /"selectedType"/],
      ],
      command: 'qwen',
    },
    since: '0.15',
    package: '@qwen-code/qwen-code',
  },
  {
    program: 'goose',
    title: 'Goose',
    protocol: 'acp',
    args: ['acp'],
    inherit: ['GOOSE_*', '*_API_KEY'],
    login: {
      variables: /^GOOSE_PROVIDER$/,
      files: [['XDG_CONFIG_HOME', '.config', 'goose/config.yaml', /GOOSE_PROVIDER|active_provider/]],
      command: 'goose configure',
    },
  },
  {
    program: 'copilot',
    title: 'GitHub Copilot CLI',
    protocol: 'acp',
    args: ['--acp'],
    inherit: ['GH_*', 'GITHUB_*', 'COPILOT_*'],
    login: {
      // With a model provider of the user's own it needs no login.
      variables: /^(?:(?:COPILOT_GITHUB|GH|GITHUB)_TOKEN|COPILOT_PROVIDER_BASE_URL)$/,
      files: [
        ['COPILOT_HOME', '.copilot', 'config.json', /logged_in_user/],
        ['XDG_CONFIG_HOME', '.config', 'gh/hosts.yml'],
      ],
      command: 'copilot login',
      keychain: true,
    },
    package: '@github/copilot',
  },
  { program: 'zot', title: 'zot', protocol: 'zot', args: ['rpc'] },
  {
    program: 'zene',
    title: 'Zene',
    protocol: 'zene',
    args: ['host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
  },
]

/** Programs that speak for a known agent, and use its login. */
const ADAPTERS = [
  { program: 'claude-agent-acp', of: 'claude', package: '@agentclientprotocol/claude-agent-acp' },
  { program: 'codex-acp', of: 'codex', package: '@agentclientprotocol/codex-acp' },
] as const

/** Programs that start the program of a package, which they get first. */
const RUNNERS: readonly string[] = ['npx', 'bunx']

/** The command that installs the newest version of a known agent; undefined where npm does not have it. */
export function installOf(agent: KnownAgent | undefined): string | undefined {
  return agent?.package === undefined ? undefined : `npm install -g ${agent.package}@latest`
}

/**
 * The known agent that a command starts, by its name or by its package (`npx PACKAGE`); for an adapter, the agent whose
 * login it uses. The version of one that is not started by its own name is not known.
 */
export function knownAgent(command: string, args: readonly string[] = []): KnownAgent | undefined {
  const program = basename(command)
  const run = RUNNERS.includes(program) ? packageOf(args) : undefined
  const starts = (one: Pick<KnownAgent, 'program' | 'package'>): boolean =>
    one.program === program || (run !== undefined && one.package === run)
  const adapter = ADAPTERS.find(starts)
  const known = KNOWN_AGENTS.find(adapter ? (one) => one.program === adapter.of : starts)
  if (!known || known.program === program) return known
  const { since: _, ...agent } = known
  return adapter ? { ...agent, program: adapter.program, protocol: 'acp', package: adapter.package } : agent
}

/** The package that a runner is to start, without its version. */
function packageOf(args: readonly string[]): string | undefined {
  return args.find((argument) => !argument.startsWith('-'))?.replace(/(?<=.)@.*$/, '')
}

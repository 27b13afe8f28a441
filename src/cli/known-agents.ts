import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { findProgram } from './programs.ts'

/** An agent that people install: its program, and how the gateway speaks to it. */
export interface KnownAgent {
  /** Its name in a configuration, and its program. */
  readonly program: string
  readonly title: string
  readonly protocol: string
  readonly args: readonly string[]
}

/** The agents that are looked for, the most capable protocol first. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  { program: 'claude', title: 'Claude Code', protocol: 'claude-code', args: [] },
  { program: 'codex', title: 'Codex', protocol: 'codex', args: [] },
  { program: 'gemini', title: 'Gemini CLI', protocol: 'acp', args: ['--acp'] },
  { program: 'opencode', title: 'OpenCode', protocol: 'acp', args: ['acp'] },
  { program: 'qwen', title: 'Qwen Code', protocol: 'qwen-code', args: [] },
  { program: 'goose', title: 'Goose', protocol: 'acp', args: ['acp'] },
  { program: 'copilot', title: 'GitHub Copilot CLI', protocol: 'acp', args: ['--acp'] },
  { program: 'zot', title: 'zot', protocol: 'zot', args: ['rpc'] },
  {
    program: 'zene',
    title: 'Zene',
    protocol: 'zene',
    args: ['host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
  },
]

/** The launcher of this program: a link of an agent's name to it is a stand-in, and no agent. */
const LAUNCHER = 'turnpike.sh'

/** The known agents whose program is in a folder of `path` (the variable PATH). */
export function findAgents(path: string): KnownAgent[] {
  return KNOWN_AGENTS.filter(({ program }) => {
    const file = findProgram(program, path)
    return file !== undefined && basename(realpathSync(file)) !== LAUNCHER
  })
}

/** Asks a program for its version; undefined when it says none within 10 s. */
export async function versionOf(program: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    const child = execFile(program, ['--version'], { timeout: 10_000, killSignal: 'SIGKILL' }, (error, stdout) => {
      resolve(error ? undefined : /\d+\.\d+[\w.+-]*/.exec(stdout)?.[0])
    })
    child.stdin?.end()
  })
}

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { configFile, DEFAULT_CONFIG, usualFile } from './config-file.ts'
import { packageRoot } from './package-root.ts'
import { findProgram, isLauncher } from './programs.ts'

/** The command that started this process. */
export interface Started {
  /** The environment. TURNPIKE_NAME is the launcher or the link to it, as it was called; absent without the launcher. */
  env: Readonly<Record<string, string | undefined>>
  /** The folder that a person types in. */
  cwd: string
  /** The file that Node.js runs. */
  script: string
  /** The folder of this package. */
  root: string
}

const NAME = 'turnpike'

/** The manifest of a folder of npm's; `_npx` is in those of npx. */
interface Manifest {
  _npx?: { packages?: string[] }
}

/**
 * The command that starts this program again, without arguments, as the person who started this process can type it in
 * the same folder (`here`) or in any (`anywhere`): `turnpike` when that is on the PATH, `npx` where that finds it, else
 * the path of the launcher or of the program.
 */
export function ownCommand(
  where: 'here' | 'anywhere' = 'here',
  { env, cwd, script, root }: Started = {
    env: process.env,
    cwd: process.cwd(),
    script: process.argv[1] ?? '',
    root: packageRoot,
  },
): string {
  // The PATH of npm's scripts has these folders in front: a shell does not.
  const path = (env['PATH'] ?? '').split(':').filter((folder) => !folder.endsWith('/node_modules/.bin'))
  const installed = findProgram(NAME, path.join(':'))
  if (installed !== undefined && isLauncher(installed)) return NAME
  const typed = (file: string): string => quoted(where === 'here' ? shortest(file, cwd) : resolve(cwd, file))
  const called = env['TURNPIKE_NAME']
  if (!called) return `node ${typed(script)}`
  const byNpx = dirname(resolve(cwd, called)).endsWith('/node_modules/.bin') ? npx(root, where) : undefined
  if (byNpx !== undefined) return byNpx
  // A link of another name is a stand-in.
  const launcher = basename(called) === NAME ? resolve(cwd, called) : join(root, 'src/cli/turnpike.sh')
  return typed(launcher)
}

/**
 * `npx` with the name that it was called with; undefined for a file or an address, which npm would install again, and
 * outside of a project that has the package. npm keeps a folder for each list of packages that it was called with.
 */
function npx(root: string, where: 'here' | 'anywhere'): string | undefined {
  const file = join(root, '../../package.json')
  const { _npx } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {}
  if (!_npx) return where === 'here' ? `npx ${NAME}` : undefined
  const [asked = ''] = _npx.packages ?? []
  return /^turnpike(@|$)/.test(asked) ? `npx ${asked}` : undefined
}

/** The path of a file for a person in `cwd`: relative when it is in that folder. */
function shortest(file: string, cwd: string): string {
  const near = relative(cwd, resolve(cwd, file))
  return near.startsWith('..') ? resolve(cwd, file) : `./${near}`
}

/**
 * The option by which a command that is typed in this folder uses this configuration, with a space before it; empty
 * where it does so without.
 */
export function namingConfig(file: string): string {
  const isUsual = file === usualFile() || file === (configFile(undefined) ?? DEFAULT_CONFIG)
  return isUsual ? '' : ` --config ${quoted(file)}`
}

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

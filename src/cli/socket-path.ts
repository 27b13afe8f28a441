import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quickDigest } from '../startup/index.ts'

/**
 * The path of the Unix socket on which a gateway listens for stand-ins of the same configuration file, in the user's
 * runtime folder. Gateways on different files are separate, and a stand-in finds its gateway without reading the file.
 */
export function socketPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return join(runtimeFolder(env), `${quickDigest(Buffer.from(realpathSync(configFile)))}.sock`)
}

/** The path of the compiled form of this configuration file. Undefined when the file does not exist. */
export function compiledPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return socketPath(configFile, env).replace(/sock$/, 'config')
}

/** A folder that only this user can enter: the system's runtime folder, else one below the temporary folder. */
export function runtimeFolder(env: Readonly<Record<string, string | undefined>>): string {
  const runtime = env['XDG_RUNTIME_DIR']
  return runtime ? join(runtime, 'turnpike') : join(tmpdir(), `turnpike-${process.getuid?.()}`)
}

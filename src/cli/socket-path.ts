import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The path of the Unix socket on which a gateway listens for stand-ins of the same configuration file, in the user's
 * runtime folder. Gateways on different files are separate, and a stand-in finds its gateway without reading the file.
 */
export function socketPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return join(runtimeFolder(env), `${digest(realpathSync(configFile))}.sock`)
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

/**
 * A 64-bit FNV-1a hash that distinguishes a user's own files: loading a cryptographic library would delay a stand-in.
 */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

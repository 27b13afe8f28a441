import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Where a gateway on this configuration file listens for stand-ins of the same file: a Unix socket in the user's
 * runtime folder. Two gateways on different files never mix, and nobody has to read the file to find its gateway.
 */
export function socketPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return join(runtimeFolder(env), `${digest(realpathSync(configFile))}.sock`)
}

/** Where the compiled form of this configuration file is kept. Undefined where there is no such file. */
export function compiledPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return socketPath(configFile, env).replace(/sock$/, 'config')
}

/** A folder that only this user can enter: the system's runtime folder, else one below the temporary folder. */
export function runtimeFolder(env: Readonly<Record<string, string | undefined>>): string {
  const runtime = env['XDG_RUNTIME_DIR']
  return runtime ? join(runtime, 'turnpike') : join(tmpdir(), `turnpike-${process.getuid?.()}`)
}

/** 64 bits that tell a user's own files apart, as FNV-1a makes them: a stand-in has no time to load a cryptographic library. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * Where a gateway on this configuration file listens for stand-ins of the same file: a Unix socket in the user's
 * runtime folder. Two gateways on different files never mix, and nobody has to read the file to find its gateway.
 */
export function socketPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  const name = createHash('sha256').update(realpathSync(configFile)).digest('hex').slice(0, 16)
  return join(runtimeFolder(env), `${name}.sock`)
}

/** A folder that only this user can enter: the system's runtime folder, else one below the temporary folder. */
export function runtimeFolder(env: Readonly<Record<string, string | undefined>>): string {
  const runtime = env['XDG_RUNTIME_DIR']
  return runtime ? join(runtime, 'turnpike') : join(tmpdir(), `turnpike-${userInfo().uid}`)
}

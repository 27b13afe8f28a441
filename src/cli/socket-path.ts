import { lstatSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { quickDigest } from '../startup/index.ts'

/**
 * The path of the Unix socket on which a gateway listens for stand-ins of the same configuration file, in the user's
 * runtime folder. Gateways on different files are separate, and a stand-in finds its gateway without reading the file.
 */
export function socketPath(configFile: string, env: Readonly<Record<string, string | undefined>>): string {
  return join(runtimeFolder(env), `${quickDigest(Buffer.from(realpathSync(configFile)))}.sock`)
}

/**
 * True when a socket is in a folder of this user that no other user may enter, as a gateway has it. Below the temporary
 * folder another user may have made the folder first, to get what stand-ins say.
 */
export function isPrivate(socket: string): boolean {
  const folder = lstatSync(dirname(socket), { throwIfNoEntry: false })
  return folder !== undefined && folder.uid === process.getuid?.() && (folder.mode & 0o077) === 0
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

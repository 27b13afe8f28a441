import type { CodecInfo, Config } from '../config/index.ts'
import type { AnyCodec } from '../contract/index.ts'

/** A configuration with the codecs that it names. */
export interface Configured {
  codecs: Readonly<Record<string, AnyCodec>>
  /** Further codecs, which are loaded when a turn goes to an agent of them: each agent speaks a dialect that has a back half. */
  late?: Readonly<Record<string, () => AnyCodec>>
  config: Config
}

/** The variables that a configuration may name. `TURNPIKE_NODE` is the Node.js that runs the gateway. */
export function configEnv(): Record<string, string | undefined> {
  return { ...process.env, TURNPIKE_NODE: process.env['TURNPIKE_NODE'] ?? process.execPath }
}

/** Returns the parts of the codecs that a configuration needs. */
export function codecInfos(codecs: Readonly<Record<string, AnyCodec>>): Record<string, CodecInfo> {
  return Object.fromEntries(
    Object.entries(codecs).map(([name, { dialects, silent = false, servers = false, profile, options }]) => [
      name,
      {
        dialects: Object.keys(dialects),
        silent,
        servers,
        multiplexed: Object.keys(dialects).filter((dialect) => dialects[dialect]!.back?.multiplex),
        ...(profile && { profile }),
        options,
      },
    ]),
  )
}

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codecNames, loadCodecs } from '../../codecs/index.ts'
import {
  type CompiledOf,
  type Config,
  type Kept,
  readCompiled,
  resolveCompiled,
  writeCompiled,
} from '../config/index.ts'
import { build } from './build.ts'
import { type Configured, codecInfos, configEnv } from './configured.ts'
import { compiledPath } from './socket-path.ts'

/**
 * The configuration of a standalone stand-in of the protocol `front`, with only the codecs that the file names. Its
 * compiled form is cached in the folder of the gateways' sockets: for an unchanged file, neither a YAML parser nor a
 * schema is loaded. Throws the errors of reading the file.
 */
export async function standaloneConfig(file: string, front: string): Promise<Configured> {
  const place = placeOf(file)
  const kept = place && readCompiled(place.at, place.of)
  const known = kept && (await resolved(kept, file, front))
  if (known) return known
  const { readAndCompile, readConfig } = await import('./read-config.ts')
  try {
    const text = readFileSync(file, 'utf8')
    const codecs = await loadCodecs(codecNames.filter((name) => name === front || text.includes(name)))
    const { config, compiled } = readAndCompile(codecs, file)
    if (place && compiled) writeCompiled(place.at, place.of, { config: compiled, codecs: namesIn(config, codecs) })
    return { codecs, config }
  } catch {
    // With all codecs, so that the error message can suggest a name.
    const codecs = await loadCodecs()
    return { codecs, config: readConfig(codecs, file) }
  }
}

function placeOf(file: string): { at: string; of: CompiledOf } | undefined {
  try {
    return build === undefined ? undefined : { at: compiledPath(file, process.env), of: { build, file } }
  } catch {
    // No such file: reading it reports that.
    return undefined
  }
}

async function resolved({ config: compiled, codecs: names }: Kept, file: string, front: string) {
  const codecs = await loadCodecs(names.includes(front) ? names : [...names, front])
  const config = resolveCompiled(compiled, { folder: dirname(file), env: configEnv(), codecs: codecInfos(codecs) })
  return config && { codecs, config }
}

/** The codecs that agents and routes of a configuration name. */
function namesIn({ agents, routes }: Config, codecs: Configured['codecs']): string[] {
  const used = new Set([...agents.values()].map(({ protocol }) => protocol))
  const fronts = routes.flatMap(({ when }) => when.front ?? [])
  return Object.entries(codecs).flatMap(([name, { dialects }]) => {
    const isFront = fronts.some((front) => front.split('@')[0] === name || Object.hasOwn(dialects, front))
    return used.has(name) || isFront ? [name] : []
  })
}

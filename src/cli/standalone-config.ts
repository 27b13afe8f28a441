import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codecNames, loadCodecs } from '../../codecs/index.ts'
import {
  type CodecInfo,
  type CompiledOf,
  type Config,
  type Kept,
  readCompiled,
  resolveCompiled,
  writeCompiled,
} from '../config/index.ts'
import type { AnyCodec } from '../contract/index.ts'
import { build } from './build.ts'
import { type Configured, codecInfos, configEnv } from './configured.ts'
import { builtCodec, type CodecFacts, factsOf, lateInfo } from './late-codec.ts'
import { compiledPath } from './socket-path.ts'

/**
 * The configuration of a standalone stand-in of the protocol `front`, with only the codecs that the file names. Its
 * compiled form is cached in the folder of the gateways' sockets: for an unchanged file, neither a YAML parser nor a
 * schema is loaded, and the codecs of agents only when turns go to them. Throws the errors of reading the file.
 */
export async function standaloneConfig(file: string, front: string): Promise<Configured> {
  const place = placeOf(file)
  const kept = place && readCompiled<CodecFacts>(place.at, place.of)
  const known = kept && (await resolved(kept, file, front))
  if (known) return known
  const { readAndCompile, readConfig } = await import('./read-config.ts')
  try {
    const text = readFileSync(file, 'utf8')
    const codecs = await loadCodecs(codecNames.filter((name) => name === front || text.includes(name)))
    const { config, compiled } = readAndCompile(codecs, file)
    if (place && compiled) writeCompiled(place.at, place.of, { config: compiled, codecs: factsIn(config, codecs) })
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

async function resolved({ config: compiled, codecs: known }: Kept<CodecFacts>, file: string, front: string) {
  const late: Record<string, () => AnyCodec> = {}
  const infos: Record<string, CodecInfo> = {}
  for (const [name, facts] of Object.entries(known)) {
    if (facts === null || name === front) continue
    const load = builtCodec(name)
    late[name] = load
    infos[name] = lateInfo(facts, load)
  }
  const codecs = await loadCodecs([front, ...Object.keys(known).filter((name) => name !== front && !late[name])])
  const context = { folder: dirname(file), env: configEnv(), codecs: { ...codecInfos(codecs), ...infos } }
  const config = resolveCompiled(compiled, context)
  return config && { codecs, late, config }
}

/** The facts that are kept of the codecs that agents and routes of a configuration name; null for one that is always loaded. */
function factsIn(config: Config, codecs: Configured['codecs']): Record<string, CodecFacts | null> {
  return Object.fromEntries(
    namesIn(config, codecs).map((name) => {
      const facts = factsOf(codecs[name]!)
      const agents = [...config.agents.values()].filter(({ protocol }) => protocol === name)
      // An agent that speaks no dialect of an agent is refused when its codec is there.
      return [name, facts && agents.every(({ dialect }) => facts.backs.includes(dialect)) ? facts : null]
    }),
  )
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

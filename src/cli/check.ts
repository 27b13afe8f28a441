import { readFileSync } from 'node:fs'
import { loadCodecs } from '../../codecs/index.ts'
import { probeCollector } from '../../observability/index.ts'
import { type Config, ConfigError } from '../config/index.ts'
import { describeConfig, fixHints } from '../config/load.ts'
import { agentProblems } from './agent-probe.ts'
import { takeNothing, takeOptions } from './arguments.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import { gatewaysBesideThatOf } from './other-gateways.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { missingPrograms, wrongProtocols } from './programs.ts'
import { Progress } from './progress.ts'
import { readConfig } from './read-config.ts'
import { SCHEMA_FILE } from './schema-file.ts'
import { collectorOf, exportOptions } from './setup.ts'

const noFile = (): string =>
  `there is no turnpike.yaml in this folder, and neither --config nor TURNPIKE_CONFIG names a file; these are the
example agents, which only "${ownCommand()} serve" runs without one (${DEFAULT_CONFIG})`.replace('\n', ' ')

/**
 * `turnpike check`: reads the configuration and prints its resolved values, or its errors (exit code 3). Things that
 * can be missing at run time, such as an agent's program, its login or a collector, are warnings.
 */
export async function checkCommand(args: string[]): Promise<number> {
  const { options, rest } = takeOptions(args, ['config'])
  takeNothing(rest.filter((argument) => argument !== '--fix-hints'))
  const file = configFile(options.config)
  const config = await read(file ?? DEFAULT_CONFIG, rest.length > 0)
  if (!config) return 3
  const none = file === undefined ? [noFile()] : []
  const again = `${ownCommand()} check${namingConfig(file ?? DEFAULT_CONFIG)}`
  const missing = [...wrongProtocols(config, again), ...missingPrograms(config, process.env, again)]
  const progress = new Progress()
  progress.show('asking agents, other gateways and the collector')
  const [unready, others, telemetry] = await Promise.all([
    agentProblems(config, process.env),
    gatewaysBesideThatOf(file ?? DEFAULT_CONFIG, config),
    telemetryProblems(config),
  ])
  progress.end()
  for (const warning of [...none, ...config.warnings, ...missing, ...unready, ...others, ...telemetry]) {
    process.stderr.write(`warning: ${warning}\n`)
  }
  process.stdout.write(`${describeConfig(config)}\n`)
  return 0
}

/** Reads the file; with `hints` its errors are printed with the correction. */
async function read(file: string, hints: boolean): Promise<Config | undefined> {
  const codecs = await loadCodecs()
  try {
    return readConfig(codecs, file)
  } catch (error) {
    if (!hints || !(error instanceof ConfigError)) throw error
    process.stderr.write(fixHints(error.problems, readFileSync(SCHEMA_FILE, 'utf8')))
    return undefined
  }
}

async function telemetryProblems(config: Config): Promise<string[]> {
  const otlp = collectorOf(config)
  if (otlp === undefined) return []
  const { headers, metrics = true } = config.telemetry ?? {}
  const { problem, ...options } = exportOptions(config)
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const all = { ...environmentHeaders(), ...Object.fromEntries(own) }
  const found = await probeCollector({ otlp, metrics, ...options, headers: all })
  return problem === undefined ? found : [problem, ...found]
}

/** The headers of OTEL_EXPORTER_OTLP_HEADERS: `name=value` pairs between commas, the values percent-encoded. */
function environmentHeaders(): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const pair of (process.env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '').split(',')) {
    const at = pair.indexOf('=')
    if (at > 0) headers[pair.slice(0, at).trim().toLowerCase()] = decoded(pair.slice(at + 1).trim())
  }
  return headers
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

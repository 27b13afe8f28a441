import { loadCodecs } from '../../codecs/index.ts'
import { probeCollector } from '../../observability/index.ts'
import type { Config } from '../config/index.ts'
import { describeConfig } from '../config/load.ts'
import { takeNothing, takeOptions } from './arguments.ts'
import { configFile } from './config-file.ts'
import { readConfig } from './read-config.ts'
import { collectorOf, exportOptions } from './setup.ts'

/**
 * `turnpike check`: reads the configuration and prints what it means, or what is wrong with it (exit code 3). What may
 * be missed at run time, such as a collector that does not answer, is a warning.
 */
export async function checkCommand(args: string[]): Promise<number> {
  const { options, rest } = takeOptions(args, ['config'])
  takeNothing(rest)
  const config = readConfig(await loadCodecs(), configFile(options.config))
  for (const warning of [...config.warnings, ...(await telemetryProblems(config))]) {
    process.stderr.write(`warning: ${warning}\n`)
  }
  process.stdout.write(`${describeConfig(config)}\n`)
  return 0
}

async function telemetryProblems(config: Config): Promise<string[]> {
  const otlp = collectorOf(config)
  if (otlp === undefined) return []
  const { headers, metrics = true } = config.telemetry ?? {}
  const { problem, ...options } = exportOptions(config)
  const found = await probeCollector({ otlp, metrics, ...options, ...(headers && { headers }) })
  return problem === undefined ? found : [problem, ...found]
}

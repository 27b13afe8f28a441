import { loadCodecs } from '../../codecs/index.ts'
import { describeConfig } from '../config/index.ts'
import { takeOptions } from './arguments.ts'
import { configFile } from './config-file.ts'
import { readConfig } from './setup.ts'

/** `turnpike check`: reads the configuration and prints what it means, or what is wrong with it (exit code 3). */
export async function checkCommand(args: string[]): Promise<number> {
  const { options } = takeOptions(args, ['config'])
  const config = readConfig(await loadCodecs(), configFile(options.config))
  for (const warning of config.warnings) process.stderr.write(`warning: ${warning}\n`)
  process.stdout.write(`${describeConfig(config)}\n`)
  return 0
}

import { codecNames, standInFacts } from '../../codecs/index.ts'
import { takeOptions, UsageError } from './arguments.ts'
import { configFile } from './config-file.ts'
import { gatewayAddress } from './gateway-address.ts'
import { runThin, type ThinOptions } from './thin.ts'

/**
 * `turnpike as PROTOCOL`: stands in for that protocol's agent on stdio; stdout is protocol only. A running gateway (at
 * TURNPIKE_URL, or on the same configuration file) does the work; without one this process does.
 */
export async function asCommand(args: string[]): Promise<number> {
  const [protocol, ...own] = args
  if (protocol === undefined || !codecNames.includes(protocol)) {
    throw new UsageError(`name a protocol: ${codecNames.join(', ')}`)
  }
  const { options, rest } = takeOptions(own, ['agent', 'config'])
  const facts = standInFacts(protocol)
  const env = { ...process.env }
  const asked = { protocol, facts, argv: rest, env, ...(options.agent !== undefined && { agent: options.agent }) }
  const served = await serve(configFile(options.config), asked)
  if (typeof served === 'number') return served
  const { refuse } = await import('./last-words.ts')
  return refuse(asked, served, process)
}

/** The exit code of a stand-in that was served, or why it cannot be: its client has not been read then. */
async function serve(file: string, asked: ThinOptions): Promise<number | string> {
  const address = gatewayAddress(file)
  if (typeof address === 'string') return address
  const served = address && (await runThin(address, asked, process))
  if (served !== undefined) return served
  if (process.env['TURNPIKE_URL']) return 'no gateway answers at TURNPIKE_URL; start it, or unset the variable'
  const { runAlone } = await import('./alone.ts')
  return runAlone(file, asked)
}

import { codecNames } from '../../codecs/index.ts'
import { takeOptions } from './arguments.ts'
import { configFile } from './config-file.ts'
import { socketPath } from './socket-path.ts'
import { type GatewayAddress, runThin } from './thin.ts'

/**
 * `turnpike as PROTOCOL`: stands in for that protocol's agent on stdio; stdout is protocol only. A running gateway (at
 * TURNPIKE_URL, or on the same configuration file) does the work; without one this process does.
 */
export async function asCommand(args: string[]): Promise<number> {
  const [protocol, ...own] = args
  if (protocol === undefined || !codecNames.includes(protocol)) {
    process.stderr.write(`turnpike as: name a protocol: ${codecNames.join(', ')}\n`)
    return 2
  }
  const { options, rest } = takeOptions(own, ['agent', 'config'])
  const asked = { protocol, argv: rest, env: process.env, ...(options.agent !== undefined && { agent: options.agent }) }
  const file = configFile(options.config)
  const address = gatewayAddress(file)
  const served = address && (await runThin(address, asked, process))
  if (served !== undefined) return served
  if (process.env['TURNPIKE_URL']) {
    process.stderr.write('turnpike: no gateway answers at TURNPIKE_URL; start it, or unset the variable\n')
    return 3
  }
  const { runAlone } = await import('./alone.ts')
  return runAlone(file, asked)
}

function gatewayAddress(file: string): GatewayAddress | undefined {
  const { TURNPIKE_URL: url, TURNPIKE_KEY: key } = process.env
  if (url) return url.startsWith('unix:') ? { socket: url.slice('unix:'.length) } : { url, ...(key && { key }) }
  try {
    return { socket: socketPath(file, process.env) }
  } catch {
    // No such file: reading it will say so.
    return undefined
  }
}

import { codecNames, standInFacts, standInNames } from '../../codecs/index.ts'
import { takeOptions, UsageError } from './arguments.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import type { Refusal } from './finish-wire.ts'
import { gatewayAddress } from './gateway-address.ts'
import { runThin, type ThinOptions } from './thin.ts'

/**
 * `turnpike as PROTOCOL`: stands in for that protocol's agent on stdio; stdout is protocol only. A running gateway (at
 * TURNPIKE_URL, or on the same configuration file) runs the turns; without one this process does. Without a
 * configuration only a running gateway of the examples runs them: otherwise the client would take an example agent for
 * its own.
 */
export async function asCommand(args: string[]): Promise<number> {
  const [protocol, ...own] = args
  if (protocol === undefined || !codecNames.includes(protocol)) {
    throw new UsageError(`name a protocol: ${standInNames.join(', ')}`)
  }
  if (!standInNames.includes(protocol)) {
    const { ownCommand } = await import('./own-command.ts')
    throw new UsageError(`clients of ${protocol} start no program; they connect to a gateway: ${ownCommand()} serve`)
  }
  const { options, rest } = takeOptions(own, ['agent', 'config'])
  const facts = standInFacts(protocol)
  const env = { ...process.env }
  const asked = { protocol, facts, argv: rest, env, ...(options.agent !== undefined && { agent: options.agent }) }
  const [unexpected] = facts.noArguments ? rest : []
  const served: number | Refusal =
    unexpected === undefined
      ? await serve(configFile(options.config), asked)
      : { message: `unexpected argument ${nameOf(unexpected)}; a stand-in for ${protocol} takes --agent and --config` }
  if (typeof served === 'number') return served
  const { refuse } = await import('./finish-wire.ts')
  return refuse(asked, served, process)
}

/** The exit code of a served stand-in, or a refusal; then nothing was read from the client. */
async function serve(file: string | undefined, asked: ThinOptions): Promise<number | Refusal> {
  const address = gatewayAddress(file ?? DEFAULT_CONFIG)
  if (typeof address === 'string') return { message: address }
  const served = address && (await runThin(address, asked, process))
  if (typeof served === 'string') return { message: served }
  if (served !== undefined) return served
  if (process.env['TURNPIKE_URL'])
    return { message: 'no gateway answers at TURNPIKE_URL; start it, or unset the variable' }
  if (file === undefined) return { message: noConfiguration(process.cwd()) }
  const { runStandalone } = await import('./standalone.ts')
  return runStandalone(file, asked)
}

/** The value of an unknown flag may be a secret: only its name is shown. */
function nameOf(argument: string): string {
  return JSON.stringify(argument.split('=', 1)[0])
}

function noConfiguration(folder: string): string {
  return (
    `there is no turnpike.yaml in ${folder}; name a configuration with TURNPIKE_CONFIG or --config, ` +
    'or a running gateway with TURNPIKE_URL (http://HOST:PORT or unix:PATH)'
  )
}

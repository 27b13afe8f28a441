import { codecNames } from '../../codecs/index.ts'
import { readCarrier } from '../../observability/index.ts'
import { serveStdio } from '../stdio.ts'
import { takeOptions } from './arguments.ts'
import { setUp } from './setup.ts'

/** Sessions of a stand-in belong to the person at this machine, like those of a gateway without keys. */
const TENANT = 'local'

/** `turnpike as PROTOCOL`: stands in for that protocol's agent on stdio. stdout is protocol only. */
export async function asCommand(args: string[]): Promise<number> {
  const [protocol, ...own] = args
  if (protocol === undefined || !codecNames.includes(protocol)) {
    process.stderr.write(`turnpike as: name a protocol: ${codecNames.join(', ')}\n`)
    return 2
  }
  const { options, rest } = takeOptions(own, ['agent', 'config'])
  const { codecs, gateway, close } = await setUp(options.config, { quiet: true })
  const exitCode = await serveStdio({
    engine: gateway.engine,
    codec: codecs[protocol]!,
    argv: rest,
    env: process.env,
    carrier: readCarrier(process.env),
    tenant: TENANT,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    ...(options.agent !== undefined && { agent: options.agent }),
  })
  await close(0)
  return exitCode
}

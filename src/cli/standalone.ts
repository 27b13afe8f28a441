import { readCarrier } from '../../observability/index.ts'
import { LOCAL_TENANT, StoreError } from '../contract/index.ts'
import { serveStdio } from '../stdio.ts'
import type { Refusal } from './finish-wire.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { type Setup, setUp } from './setup.ts'
import { standaloneConfig } from './standalone-config.ts'
import type { ThinOptions } from './thin.ts'
import { unwritten } from './unwritten.ts'

/**
 * Serves a stand-in within this process. Returns its exit code when everything is written and no agent runs any more,
 * or the reason why the configuration cannot be used.
 */
export async function runStandalone(
  file: string,
  { protocol, facts, argv, agent, env }: ThinOptions,
): Promise<number | Refusal> {
  const setup = await trySetUp(file, protocol, env)
  if ('message' in setup) return setup
  const { codecs, gateway, close } = setup
  const exitCode = await serveStdio(
    gateway.engine,
    {
      codec: codecs[protocol]!,
      started: { argv, env },
      carrier: readCarrier(env, { baggage: true }),
      access: { tenant: LOCAL_TENANT, role: 'admin', ...(agent !== undefined && { agent }) },
    },
    process,
    (error) => unwritten(facts, error),
  )
  // There may never be a gateway that recovers this store. Its errors do not concern the client.
  await gateway.engine.recover().catch(() => {})
  await close(0)
  return exitCode
}

/** The gateway, or the refusal: the client's message has no details of the configuration. */
async function trySetUp(file: string, protocol: string, env: ThinOptions['env']): Promise<Setup | Refusal> {
  try {
    return await setUp(await standaloneConfig(file, protocol), { env, standalone: true })
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    // `check` does not open the store; `store migrate` does so as this process.
    const [what, how] = error instanceof StoreError ? ['store', 'store migrate'] : ['configuration', 'check']
    return {
      message: `the ${what} cannot be used; run "${ownCommand()} ${how}${namingConfig(file)}" to see why`,
      detail,
    }
  }
}

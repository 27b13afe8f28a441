import { loadCodecs } from '../../codecs/index.ts'
import { parseDuration } from '../config/load.ts'
import type { StoreLocation } from '../contract/index.ts'
import { takeNothing, takeOptions, UsageError } from './arguments.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { readConfig } from './read-config.ts'

/** The most turns that one transaction deletes. */
const PRUNED = 1000

/**
 * `turnpike store check | migrate | prune`: says which version the store's tables have, migrates them, or deletes the
 * turns that ended longer ago than the retention (or `--older`). Exit codes: 0, 2 (command line), 3 (the store cannot be
 * used).
 */
export async function storeCommand(args: string[]): Promise<number> {
  const { options, rest } = takeOptions(args, ['config', 'older'])
  const [action, ...more] = rest
  takeNothing(more)
  const file = configFile(options.config) ?? DEFAULT_CONFIG
  const { store: at } = readConfig(await loadCodecs(), file)
  if (action === 'check') process.stdout.write(`${await checked(at, file)}\n`)
  else if (action === 'migrate') process.stdout.write(`${await migrated(at)}\n`)
  else if (action === 'prune') {
    const older = options.older === undefined ? at.retention : parseDuration(options.older)
    if (older === undefined) throw new UsageError('--older needs a time, such as 20d or 12h')
    process.stdout.write(`${await pruned(at, Date.now() - older)} turns deleted\n`)
  } else throw new UsageError('needs check, migrate or prune')
  return 0
}

async function checked(at: StoreLocation, file: string): Promise<string> {
  const { storeVersion } = await import('../store/index.ts')
  const { place, version, latest } = await storeVersion(at)
  const [own, option] = [ownCommand(), namingConfig(file)]
  const either = `${own} serve${option} or ${own} store migrate${option}`
  if (version === 0) return `${place}: no tables yet; ${either} creates them`
  const newest = version < latest ? `; ${either} brings them to ${latest}` : ''
  return `${place}: tables of version ${version}${newest}`
}

async function migrated(at: StoreLocation): Promise<string> {
  const { openStore, storeVersion } = await import('../store/index.ts')
  const { place, version, latest } = await storeVersion(at)
  const store = await openStore(at)
  await store.close()
  return version < latest
    ? `${place}: migrated from version ${version} to ${latest}`
    : `${place}: tables of version ${version} already`
}

/** Gives the number of deleted turns. */
async function pruned(at: StoreLocation, before: number): Promise<number> {
  const { openStore } = await import('../store/index.ts')
  const store = await openStore(at)
  let all = 0
  for (let deleted = PRUNED; deleted === PRUNED; all += deleted) deleted = await store.prune(before, PRUNED)
  await store.close()
  return all
}

import type { CompiledConfig, Config } from '../config/index.ts'
import { loadAndCompile, loadConfig } from '../config/load.ts'
import { type Configured, codecInfos, configEnv } from './configured.ts'

type Codecs = Configured['codecs']

/** Reads a configuration file. */
export function readConfig(codecs: Codecs, file: string): Config {
  return loadConfig({ env: configEnv(), cwd: process.cwd(), codecs: codecInfos(codecs), file })!
}

/** The same, with the compiled form of the configuration, if it has one. */
export function readAndCompile(codecs: Codecs, file: string): { config: Config; compiled?: CompiledConfig } {
  return loadAndCompile({ env: configEnv(), cwd: process.cwd(), codecs: codecInfos(codecs), file })
}

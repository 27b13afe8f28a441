import { dropped } from '../../src/codec-kit/index.ts'
import type { TurnOptions } from '../../src/model/index.ts'
import type { Options } from './options.ts'
import type { Report } from './part-loss.ts'

/** The effort that a server is asked for, unless it takes none. */
export function effortOf({ effort }: TurnOptions, settings: Options, report: Report): string | undefined {
  if (effort === undefined || settings.reasoning_effort !== false) return effort
  report(dropped('option.effort', undefined, 'policy'))
  return undefined
}

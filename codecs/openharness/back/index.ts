import { TurnBack } from '../../../src/codec-kit/index.ts'
import type { BackHalf } from '../../../src/contract/index.ts'
import { backCapabilities } from '../capabilities.ts'
import type { Options } from '../options.ts'
import { EngineTurn } from './turn.ts'

/** The side of an engine: one HTTP call a turn, and one more for every approval that it asked and got. */
export const back: BackHalf<Options> = {
  capabilities: backCapabilities,
  memory: () => 'named',
  open: ({ options }, ports) => new TurnBack((start) => new EngineTurn(start, options, ports)),
}

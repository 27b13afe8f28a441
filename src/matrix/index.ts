export { lossesOf, type PairLoss } from './losses.ts'
export { type Named, namedDialects, type Pair, pairsOf } from './pairs.ts'
export { matrixJson, matrixText, summary } from './render.ts'

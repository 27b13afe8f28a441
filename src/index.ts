/** The public API: the model, the contract, and the engine for programs that embed it. */
export { loadCodec, loadCodecs } from '../codecs/index.ts'
export * from './contract/index.ts'
export { Engine, type EngineParts, type EngineSettings } from './engine/index.ts'
export { decode$, encode$ } from './engine/replay/index.ts'
export * from './model/index.ts'

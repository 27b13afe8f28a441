export type { Translated } from './output.ts'
export type { Party } from './party.ts'
export { plainWire, RecordingError, readRecording, type Step, type Wire } from './recording.ts'
export { type Translation, translate } from './translate.ts'

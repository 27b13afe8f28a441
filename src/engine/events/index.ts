export { appendLine, appendTexts, type EventLines, newLines, takeLines } from './event-lines.ts'
export { closingsOf, TurnLaws, type TurnReader } from './laws.ts'
export { foldUpTo, type Numbered, numbered, reissue } from './recorded.ts'
export { shapeOf } from './shape.ts'
export {
  acceptedTurn,
  cancelledTurn,
  type ErrorTexts,
  failedTurn,
  presented,
  presentedFault,
  presentedLink,
} from './turn-events.ts'
export { LiveView, viewOf } from './view.ts'

export { callExt, isAnswer } from './answer-message.ts'
export { type DefaultFlags, hasFlag, withDefaultFlags } from './arguments.ts'
export { askIdOf } from './ask-ids.ts'
export { isBase64 } from './base64.ts'
export { callIdOf, escapeToken, type ParkedCall, parkedCallOf, turnOf, unescapeToken } from './call-ids.ts'
export { CHAT_COUNTS, readChatUsage } from './chat-usage.ts'
export {
  type Cited,
  characters,
  citationAtEnd,
  citationsOf,
  citedPieces,
  joinedCitations,
  placedCitation,
} from './citations.ts'
export { type ControlAsk, ControlAsks, type ControlVerdict } from './control-asks.ts'
export { type ControlReply, ControlRequests, controlErrorText, controlResponse } from './control-requests.ts'
export { countMembers, growthOf, isUncounted, readCounts } from './counts.ts'
export { DeltaReader, type DeltaWire, type PlainDelta } from './delta-reader.ts'
export { DeltaShape, valuesOf } from './delta-shape.ts'
export { errorTable, NOT_REPEATED, UNRETRIED } from './error-table.ts'
export { type EventTable, unwritten, writeEvent } from './event-table.ts'
export { type Extensions, extensions, keysOf, unknownMembers } from './extensions.ts'
export { furtherMembers, hasFurther, type KnownMembers, reportFurther, withFurther } from './further-members.ts'
export { GatewayCalls, type GatewayReply } from './gateway-calls.ts'
export { Handshake } from './handshake.ts'
export { hollowFlags } from './hollow-flags.ts'
export { commandText, withInstruction } from './instruction.ts'
export { APPROVALS, COUNTS, FILES, TEXT_TURN, TOOL_CALLS } from './items.ts'
export {
  RPC_CODES,
  type RpcAnswer,
  RpcCalls,
  type RpcError,
  type RpcMessage,
  RpcWriter,
  readRpc,
  type TakeAnswer,
  withRpcId,
} from './json-rpc.ts'
export { isJsonSchema } from './json-schema.ts'
export { type Entry, messageLine } from './lines.ts'
export { looseObject } from './loose-object.ts'
export { dropped, invented, nonTextLosses, type Report, unparsed, weakened, wellFormed } from './losses.ts'
export { isJsonType, isLinesType, isLineType, refusesBody } from './media-types.ts'
export { type MessageMembers, messageMembers } from './message-members.ts'
export { agentOf, sendRequest, toolAnswer } from './model-client.ts'
export { answeredHistory, flatToolName, strayReply } from './model-history.ts'
export { type ListedAgent, ModelList } from './model-list.ts'
export { type CallResult, type ModelAnswer, type ModelApi, type ModelCall, ModelTurn } from './model-turn.ts'
export { ownOptions } from './own-options.ts'
export { PlainDeltas } from './plain-deltas.ts'
export { PromptQueue } from './prompt-queue.ts'
export { codeOfProviderStatus, codeOfProviderText, losesCode, wordsOfError } from './provider-errors.ts'
export type { ParkedAnswer } from './request-commands.ts'
export {
  answerFormat,
  count,
  flag,
  jsonSchema,
  maybe,
  namedValues,
  number,
  objects,
  record,
  text,
  texts,
  type WrongMember,
  whole,
  wrongMember,
} from './request-members.ts'
export type { StartRequest } from './request-start.ts'
export { retryAfterMs } from './retry-after.ts'
export { scalarText } from './scalar-text.ts'
export { type JsonLine, type LineReader, type Reading, StreamJsonBack } from './stream-json-back.ts'
export { StreamJsonProcess, type StreamJsonProgram } from './stream-json-process.ts'
export { numberedIds, ToolCalls } from './tool-calls.ts'
export { toolResultParts } from './tool-results.ts'
export { isDropped } from './tools.ts'
export { metaWith, readTrace, untraced } from './trace-context.ts'
export { type CallTurn, TurnBack } from './turn-back.ts'
export { type BodyOf, CANCELLED, type Ending, failedWith, TurnEmitter } from './turn-emitter.ts'
export { withSettings } from './turn-settings.ts'
export { UnaskedOutput, UnaskedTurn } from './unasked.ts'
export { UUID, Uuids } from './uuids.ts'
export { wireId } from './wire-id.ts'
export { wordTable } from './word-table.ts'

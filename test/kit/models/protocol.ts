/** A protocol of models as its clients and its servers write it, in terms that all of them share. */
import type { ErrorCode } from '../../../src/model/index.ts'

/** A JSON object of a wire. */
export type Json = Record<string, unknown>

/** A call of a tool by a model; `args` is JSON text. */
export interface Call {
  id: string
  name: string
  args: string
}

/** One message of a conversation. */
export interface Said {
  role: 'user' | 'assistant' | 'tool'
  text?: string
  /** A PNG in base64. */
  image?: string
  calls?: Call[]
  /** What the model thought before it said this, with what it knows that by. */
  thought?: { text: string; seal: string }
  /** The call that the text is the result of. */
  result?: string
}

/** A request of a client, or as a server got it. */
export interface Asked {
  model: string
  messages: Said[]
  system?: string
  tools?: { name: string; description: string; parameters: Json }[]
  toolChoice?: 'auto' | 'required' | { tool: string }
  parallel?: boolean
  /** The JSON Schema of the answer. */
  schema?: Json
  maxTokens?: number
  effort?: string
  /** The person whom the client acts for. */
  user?: string
  stream?: boolean
}

/** Why an answer ended. */
export type Stop = 'end' | 'length' | 'tools' | 'refusal'

/** Tokens of a request. `input` includes those that were cached, `output` those of reasoning. */
export interface Counts {
  input: number
  output: number
  cached?: number
  reasoning?: number
}

/** What a client reads of an answer; `error` is the code of the protocol's own. */
export interface Answered {
  text: string
  reasoning: string
  /** What the model knows its reasoning by. */
  seal?: string
  calls: Call[]
  stop?: Stop
  usage?: Counts
  error?: { code: string; message: string }
  /** The loss report, where its body has one. */
  losses?: { kind: string; item: string }[]
}

/** A piece of an answer, in its order. Reasoning may have the provider's seal, where the protocol has them. */
export type Piece = { text: string } | { reasoning: string; seal?: string } | { call: Call }

/** What a server does with a request. */
export interface Script {
  pieces?: Piece[]
  stop?: Stop
  usage?: Counts
  /** A failing status instead of an answer; or the error in a stream, behind the pieces. */
  error?: { status: number; code: string; message: string; headers?: Record<string, string> }
  /** Sends so many frames of its stream, and then nothing more, or cuts the connection. */
  only?: { frames: number; end: 'stall' | 'cut' }
}

/** What can be wrong with a request; each protocol writes its own, or has no such thing. */
export const WRONGS = [
  'half of a JSON text',
  'JSON that is no object',
  'no messages',
  'an empty list of messages',
  'a message that is none',
  'a role that there is not',
  'a content that is a number',
  'a part without a type',
  'an image that is no base64',
  'a sound that is no base64',
  'a file that is no base64',
  'a result without its call',
  'a result without an id',
  'a call without an id',
  'arguments that are no text',
  'tools that are no list',
  'a tool without a name',
  'a schema of a tool that is none',
  'a schema of the answer that is none',
  'a schema of the answer that is missing',
  'a choice of tools that there is not',
  'more than one answer',
  'a limit of tokens below one',
  'a stream that is neither true nor false',
  'a model that is a number',
] as const
/** The name of a wrong request. */
export type Wrong = (typeof WRONGS)[number]

/** Both sides of a protocol. */
export interface ModelProtocol {
  /** The codec, and its configuration as an agent at this URL. */
  codec: string
  agent(url: string): string
  /** The path of its clients. */
  path: string
  headers: Readonly<Record<string, string>>
  /** The header that names an answer. */
  requestId: string
  /** The reasoning of whose models its clients bring back with its seal: that of any, of its own provider, or none. */
  seals: 'any' | 'own' | 'none'
  /** Its answers have a place for the loss report. */
  losses: boolean
  write(asked: Asked): Json
  read(raw: string): Answered
  /** The member that an error names; null where it names none. */
  paramOf(raw: string): string | null
  readRequest(body: Json): Asked
  /** The frames of a streamed answer; each is whole, with its empty line. */
  frames(script: Script): string[]
  whole(script: Script): Json
  errorBody(error: NonNullable<Script['error']>): Json
  /** The wrong requests that the protocol can express: the body, and the name of the member at fault. */
  wrong: Readonly<Partial<Record<Wrong, { body: unknown; param?: string }>>>
  /** The status and code of an error before the answer begins. */
  refusal(code: ErrorCode): { status: number; code: string }
}

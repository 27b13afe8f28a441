/** A schema of JSON (draft 2020-12), or a reference to a named one: `{"$ref":"#/components/schemas/NAME"}`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A parameter of an endpoint besides the segments of its path. */
export interface OperationParameter {
  readonly name: string
  readonly in: 'query' | 'header'
  readonly description: string
  readonly schema: JsonSchema
}

/** A body by its media types. An example of a request can be sent as it is. */
export type Bodies = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>

/** An answer, by its media types; without any it has no body. `headers` describe those of its own. */
export interface OperationAnswer {
  readonly description: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bodies?: Bodies
}

/** The description of an endpoint: for people, and for programs that write clients of it. */
export interface Operation {
  /** The name of its function in a client, such as `listTurns`. */
  readonly id: string
  /** One sentence. */
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly OperationParameter[]
  readonly request?: Bodies
  /** By status, such as `200` or `default`. */
  readonly answers: Readonly<Record<string, OperationAnswer>>
}

/** The descriptions of endpoints, each by its method and path as in `Endpoint`, and the schemas that they name. */
export interface Operations {
  /** The protocol, under which tools group the endpoints. */
  readonly tag: string
  /** A description of the protocol, in one sentence. */
  readonly about: string
  readonly operations: Readonly<Record<string, Operation>>
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

import * as v from 'valibot'

const text = v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))
const folder = v.pipe(v.string('must be text.'), v.regex(/^\//, 'must be an absolute path.'))
const texts = v.record(v.string(), v.string('must be text.'))

/** A server of the Model Context Protocol: a program with its arguments, or a URL. */
const McpServer = v.union(
  [
    v.strictObject({ name: text, command: v.pipe(v.array(text), v.minLength(1)), env: v.optional(texts, {}) }),
    v.strictObject({
      name: text,
      url: text,
      type: v.optional(v.picklist(['http', 'sse']), 'http'),
      headers: v.optional(texts, {}),
    }),
  ],
  'must have a name, and a command (a list) or a url.',
)
export type McpServer = v.InferOutput<typeof McpServer>

/** The codec's own keys of an agent's configuration. */
export const Options = v.strictObject({
  /** The id of the way to log in that is chosen at the start (`authenticate`); absent: the agent is logged in already. */
  auth: v.optional(text),
  /** The mode and the model that sessions begin with. */
  mode: v.optional(text),
  model: v.optional(text),
  /** Work on files that the gateway does for the agent, within its folders: none, reading, or reading and writing. */
  client: v.optional(v.picklist(['none', 'read', 'workspace'], 'must be none, read or workspace.'), 'none'),
  /** Further folders that the agent works in. */
  folders: v.optional(v.array(folder, 'must be a list.'), []),
  mcp_servers: v.optional(v.array(McpServer, 'must be a list.'), []),
})

/** The codec's own keys of an agent's configuration, validated. */
export type Options = v.InferOutput<typeof Options>

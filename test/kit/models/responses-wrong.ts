import type { Json, ModelProtocol } from './protocol.ts'

const sound: Json = { model: 'helper', input: 'hi' }
const withItems = (...input: unknown[]): Json => ({ ...sound, input })
const user = (content: unknown): Json => withItems({ role: 'user', content })
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' }
const withTool = (tool: object): Json => ({ ...sound, tools: [{ type: 'function', ...tool }] })

/** Requests of Responses that are wrong. */
export const wrongs: ModelProtocol['wrong'] = {
  'half of a JSON text': { body: '{"model":"helper","input":[' },
  'JSON that is no object': { body: [sound] },
  'no messages': { body: { model: 'helper' }, param: 'input' },
  'an empty list of messages': { body: withItems(), param: 'input' },
  'a schema of the answer that is missing': {
    body: { ...sound, text: { format: { type: 'json_schema', name: 'a' } } },
    param: 'text.format.schema',
  },
  'a schema of the answer that is none': {
    body: { ...sound, text: { format: { type: 'json_schema', name: 'a', schema: ['object'] } } },
    param: 'text.format.schema',
  },
  'a role that there is not': { body: withItems({ role: 'judge', content: 'hi' }), param: 'input[0].role' },
  'a content that is a number': { body: user(7), param: 'input[0].content' },
  'an image that is no base64': {
    body: user([{ type: 'input_image', image_url: 'data:image/png;base64,§§§' }]),
    param: 'input[0].content[0]',
  },
  'a result without its call': {
    body: withItems(call, { type: 'function_call_output', call_id: 'call_2', output: '5' }),
    param: 'input[1].call_id',
  },
  'tools that are no list': { body: { ...sound, tools: {} }, param: 'tools' },
  'a schema of a tool that is none': {
    body: withTool({ name: 'add', parameters: { type: 'banana' } }),
    param: 'tools[0].parameters',
  },
  'a limit of tokens below one': { body: { ...sound, max_output_tokens: 0 }, param: 'max_output_tokens' },
  'a stream that is neither true nor false': { body: { ...sound, stream: 'yes' }, param: 'stream' },
  'a model that is a number': { body: { ...sound, model: 7 }, param: 'model' },
}

/** The official clients of OpenAI's Responses API, unmodified: the SDK, its stream helper, and the AI SDK. */
import { installed } from './kit.ts'
import { type Asked, aiSdk, type Client, PARAMETERS, type Place, type Shown } from './openai-clients.ts'

/** The files that they are loaded from. */
export const FILES = ['openai/index.mjs', 'ai/dist/index.js', '@ai-sdk/openai/dist/index.js'].map(installed)

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

/** The SDK's own client of responses. */
export async function responsesOf({ url, retries = 0 }: Place): Promise<Any> {
  const { default: OpenAI } = (await import(installed('openai/index.mjs'))) as Any
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: retries }).responses
}

const functions = (tools: Asked['tools']) =>
  tools && Object.entries(tools).map(([name, parameters]) => ({ type: 'function', name, parameters, strict: false }))
const imageOf = (base64: string) => ({ type: 'input_image', image_url: `data:image/png;base64,${base64}` })

/** A response that has failed is an error to those who look. */
function completed(response: Any): Any {
  if (response.status === 'failed') throw new Error(response.error.message)
  return response
}

function shown({ output, output_text: text, status, usage }: Any): Shown {
  return {
    text,
    finish: status,
    calls: output.flatMap(({ type, call_id: id, name, arguments: args }: Any) =>
      type === 'function_call' ? { id, name, args: JSON.parse(args) } : [],
    ),
    ...(usage && { tokens: [usage.input_tokens, usage.output_tokens] }),
  }
}

/** An answer as those put it together who iterate over the events: text by its pieces, calls by their items. */
async function iterated(events: AsyncIterable<Any>): Promise<Any> {
  const output: Any[] = []
  let text = ''
  let last: Any
  let sequence = -1
  for await (const event of events) {
    sequence += 1
    if (event.sequence_number !== sequence) throw new Error(`event ${event.sequence_number} in the place ${sequence}`)
    if (event.type === 'response.output_text.delta') text += event.delta
    if (event.type === 'response.output_item.done') output.push(event.item)
    last = event.response ?? last
  }
  if (last.status === 'in_progress') throw new Error('the stream has no end')
  return { ...last, output, output_text: text }
}

async function sdk(place: Place, helper: boolean): Promise<Client> {
  const responses = await responsesOf(place)
  const run = async (body: object, { stream, signal }: Pick<Asked, 'stream' | 'signal'>): Promise<Any> => {
    if (!stream) return completed(await responses.create(body, { signal }))
    if (helper) return completed(await responses.stream(body, { signal }).finalResponse())
    return completed(await iterated(await responses.create({ ...body, stream: true }, { signal })))
  }
  const request = ({ model, prompt, image, tools }: Asked) => ({
    model,
    input: image ? [{ role: 'user', content: [{ type: 'input_text', text: prompt }, imageOf(image)] }] : prompt,
    ...(tools && { tools: functions(tools) }),
  })
  return {
    ask: async (asked) => shown(await run(request(asked), asked)),
    async withTool(asked, add) {
      const { model, tools } = request({ ...asked, tools: { add: PARAMETERS } })
      let input: Any = asked.prompt
      let previous: string | undefined
      let text = ''
      for (;;) {
        const response = await run({ model, tools, input, previous_response_id: previous }, asked)
        const { calls, text: said } = shown(response)
        text += said
        if (calls.length === 0) return { text }
        previous = response.id
        // Results may come in any order.
        input = calls
          .reverse()
          .map(({ id, args }) => ({ type: 'function_call_output', call_id: id, output: add(args as Any) }))
      }
    },
    async structured(asked, schema) {
      const text = { format: { type: 'json_schema', name: 'answer', strict: true, schema } }
      return (await responses.parse({ ...request(asked), text })).output_parsed
    },
  }
}

async function openaiProvider(url: string): Promise<Any> {
  const { createOpenAI } = (await import(installed('@ai-sdk/openai/dist/index.js'))) as Any
  return createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
}

/** The clients by name. */
export const CLIENTS: Readonly<Record<string, (place: Place) => Promise<Client>>> = {
  'the OpenAI SDK': (place) => sdk(place, false),
  'the OpenAI SDK, with its stream helper': (place) => sdk(place, true),
  'the AI SDK': (place) => aiSdk(place, openaiProvider),
}

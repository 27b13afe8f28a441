/**
 * A server of models, by their three APIs: Chat Completions, the Responses API, the Messages API; whole, or streamed with
 * a write for each event. A prompt that says `long` is answered with many events. stdout: the port, as one line.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ModelApi, modelAnswer, modelEvents } from '../model-answers.ts'

const LONG = Number(process.argv[2])
const APIS: readonly (readonly [string, ModelApi])[] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
]
const answers = Object.fromEntries(
  APIS.map(([, api]) => [
    api,
    {
      short: modelEvents(api, 1),
      long: modelEvents(api, LONG),
      whole: modelAnswer(api, 1),
      all: modelAnswer(api, LONG),
    },
  ]),
) as Record<ModelApi, { short: string[]; long: string[]; whole: string; all: string }>

createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  request.on('end', () => {
    const api = APIS.find(([path]) => request.url!.split('?')[0]!.endsWith(path))?.[1] ?? 'chat'
    const { short, long, whole, all } = answers[api]
    const isLong = body.includes('long')
    if (!/"stream": ?true/.test(body)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(isLong ? all : whole)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of isLong ? long : short) response.write(event)
    response.end()
  })
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})

/**
 * The limit of a stream between two HTTP servers: a bare proxy over kept connections that parses the JSON of each event
 * once, writes it as JSON again, and writes whatever a read brings at once. argv: the port behind. stdout: its own port.
 */
import { Agent, request as call, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true })

/** The lines of a chunk, the JSON among them written anew. */
function anew(line: string): string {
  return line.startsWith('data: {') ? `data: ${JSON.stringify(JSON.parse(line.slice(6)))}` : line
}

createServer((request, response) => {
  const { 'content-length': length = '0', 'content-type': type = 'application/json' } = request.headers
  const headers = { 'content-length': length, 'content-type': type }
  const there = call({ port, host: '127.0.0.1', path: request.url, method: 'POST', agent, headers }, (answer) => {
    let rest = ''
    response.writeHead(answer.statusCode!, answer.headers)
    answer.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      if (lines.length > 0) response.write(`${lines.map(anew).join('\n')}\n`)
    })
    answer.on('end', () => response.end(rest))
  })
  request.pipe(there)
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})

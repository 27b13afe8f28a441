/** The limit between two HTTP servers: a bare proxy over kept connections. argv: the port behind. stdout: its own port. */
import { Agent, request as call, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true })

createServer((request, response) => {
  const { 'content-length': length = '0', 'content-type': type = 'application/json' } = request.headers
  const headers = { 'content-length': length, 'content-type': type }
  const there = call({ port, host: '127.0.0.1', path: request.url, method: 'POST', agent, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(response)
  })
  request.pipe(there)
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})

/** A telemetry collector that takes everything and keeps nothing. stdout: the port, as one line. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})

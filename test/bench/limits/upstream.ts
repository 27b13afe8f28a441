/** An agent that is an HTTP server: answers every OpenHarness envelope with the same one. stdout: the port, as one line. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ANSWER = JSON.stringify({
  protocol_version: '1.0.0',
  request_id: 'r',
  response: {
    status: 'success',
    action_directives: [
      { action_type: 'render_message', priority: 'normal', risk_tier: 'safe', payload: { text: 'tick' } },
    ],
  },
})

createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(ANSWER)
  })
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})

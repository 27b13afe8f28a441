/** An OpenHarness engine that asks for approval: its first answer to a session asks, the next one says "told". */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const OPTIONS =
  '[{"id":"once","kind":"allow","scope":"once","label":"Yes"},{"id":"ever","kind":"allow","scope":"always","label":"Always"},{"id":"no","kind":"deny","scope":"once","label":"No"}]'

/** An engine that listens. */
export interface AskingEngine {
  url: string
  close(): void
}

/** Starts it on a free port. What it is told is kept, line by line, in a file of the folder named like the session. */
export async function startAskingEngine(folder: string): Promise<AskingEngine> {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const { request_id, request: asked } = JSON.parse(text) as {
        request_id: string
        request: { context: { session_id: string; continuation?: object } }
      }
      const { session_id: session, continuation } = asked.context
      if (continuation) appendFileSync(join(folder, session), `${text}\n`)
      const directive = continuation
        ? '{"action_type":"render_message","payload":{"text":"told"}}'
        : `{"action_type":"request_approval","requires_user_approval":true,"payload":{"approval_id":"p1","tool":"rm","args":{"path":"/x","n":1.0},"message":"Removes a file.","options":${OPTIONS},"continuation":{"run_id":"r1","continuation_token":"theirs"}}}`
      const answer = `{"protocol_version":"1.0.0","request_id":${JSON.stringify(request_id)},"response":{"status":"success","action_directives":[${directive}]}}`
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

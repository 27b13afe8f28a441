import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

/** More than the buffers of two sockets hold. */
const LENGTH = 3_000_000

test('a gateway that closes sends the rest of an answer to a client that is still reading it', async () => {
  const args = JSON.stringify(['-e', `console.log('x'.repeat(${LENGTH}))`])
  const gateway = await startGateway(`
agents: { wordy: { protocol: agentproc, command: ${process.execPath}, args: ${args}, max_reply_chars: 20000000 } }
limits: { line: 20MiB, body: 20MiB }
`)
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  socket.setEncoding('latin1').pause()
  socket.write(
    'POST /v1/turns/wordy HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"input":"hi"}',
  )
  await until(async () => (await (await fetch(`${gateway.url}/v1/turns`)).text()).includes('"completed"'))
  let answer = ''
  const closed = gateway.close()
  socket.on('data', (text: string) => {
    answer += text
  })
  socket.resume()
  await once(socket, 'end')
  await closed
  const length = Number(/^content-length: (\d+)/im.exec(answer)?.[1])
  expect(answer.length - answer.indexOf('\r\n\r\n') - 4).toBe(length)
  expect(length).toBeGreaterThan(LENGTH)
})

#!/usr/bin/env node
// Begins to answer in the protocol that its argument names, then is killed in the middle.
const begins = {
  zot: () => {
    process.stdin.setEncoding('utf8').on('data', (text) => {
      for (const line of text.split('\n').filter(Boolean)) {
        const { id, type } = JSON.parse(line)
        const data = type === 'hello' ? { protocol_version: 1 } : { started: true }
        console.log(JSON.stringify({ type: 'response', id, command: type, success: true, data }))
        if (type === 'hello') continue
        console.log(
          '{"type":"turn_start","step":1}\n{"type":"assistant_start"}\n{"type":"text_delta","delta":"half an "}',
        )
        process.stdout.write('{"type":"text_delta","del', () => process.kill(process.pid, 'SIGKILL'))
      }
    })
  },
  zene: () => process.stdout.write('{"ok":true,"request_id":"r1","te', () => process.kill(process.pid, 'SIGKILL')),
  agentproc: () => process.stdout.write('half an answer', () => process.kill(process.pid, 'SIGKILL')),
}
begins[process.argv[2]]()

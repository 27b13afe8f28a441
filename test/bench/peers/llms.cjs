/** Starts the server of `@musistudio/llms`: `llms.cjs NODE_MODULES PORT URL`. */
const { createRequire } = require('node:module')

const [folder, port, upstream] = process.argv.slice(2)
const { default: Server } = createRequire(`${folder}/`)('@musistudio/llms')
const provider = { name: 'bench', api_base_url: `${upstream}/chat/completions`, api_key: 'none', models: ['chat'] }
const initialConfig = { HOST: '127.0.0.1', PORT: port, providers: [provider] }
const server = new Server({ logger: false, useJsonFile: false, useEnvFile: false, initialConfig })
// It knows a model by its provider and its name.
server.addHook('preHandler', async ({ body }) => {
  if (body?.model) body.model = `bench,${body.model}`
})
server.start()

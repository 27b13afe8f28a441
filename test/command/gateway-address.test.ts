import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { gatewayAddress } from '../../src/cli/gateway-address.ts'
import { socketPath } from '../../src/cli/socket-path.ts'

let runtime: string
let file: string
let folder: string

beforeEach(() => {
  runtime = mkdtempSync(join(tmpdir(), 'turnpike-address-'))
  file = join(runtime, 'turnpike.yaml')
  writeFileSync(file, '')
  vi.stubEnv('TURNPIKE_URL', undefined)
  vi.stubEnv('XDG_RUNTIME_DIR', runtime)
  folder = dirname(socketPath(file, process.env))
})

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(runtime, { recursive: true })
})

test('the gateway of a file has its socket in a folder that is this user’s alone', () => {
  mkdirSync(folder, { mode: 0o700 })
  expect(gatewayAddress(file)).toEqual({ socket: socketPath(file, process.env) })
})

describe('there is no gateway at a socket that another user may have made', () => {
  test.each([0o701, 0o710, 0o777])('in a folder of mode %o', (mode) => {
    mkdirSync(folder)
    chmodSync(folder, mode)
    expect(gatewayAddress(file)).toBeUndefined()
  })

  test('in a folder of another user', () => {
    mkdirSync(folder, { mode: 0o700 })
    vi.spyOn(process, 'getuid').mockReturnValue(process.getuid!() + 1)
    expect(gatewayAddress(file)).toBeUndefined()
  })

  test('in a link to a folder', () => {
    const other = join(runtime, 'other')
    mkdirSync(other, { mode: 0o700 })
    symlinkSync(other, folder)
    expect(gatewayAddress(file)).toBeUndefined()
  })
})

test('without the folder there is none', () => {
  expect(gatewayAddress(file)).toBeUndefined()
})

test('an address in TURNPIKE_URL is taken as it is', () => {
  vi.stubEnv('TURNPIKE_URL', 'unix:/srv/turnpike.sock')
  expect(gatewayAddress(file)).toEqual({ socket: '/srv/turnpike.sock' })
})

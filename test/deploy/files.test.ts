/** The files of deploy/ say what the product does: ports, commands, variables, paths and times. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { loadCodecs } from '../../codecs/index.ts'
import { INSTRUMENTS } from '../../observability/instruments.ts'
import { prometheusName } from '../../observability/prometheus.ts'
import type { CodecInfos } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'
import { ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const FILES = readdirSync(join(ROOT, 'deploy'), { recursive: true }).map((name) => `deploy/${name}`)

/** The text of the product's sources. */
const PRODUCT = ['src', 'routes', 'observability']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${name}`))
  .filter((path) => path.endsWith('.ts'))
  .map(read)
  .join('\n')

const DOCKERFILE = read('deploy/image/Dockerfile')
const UNIT = read('deploy/systemd/turnpike.service')
const compose = parseYaml(read('deploy/compose/compose.yaml'), { merge: true })
const service = compose.services.turnpike
const pod = parseYaml(read('deploy/kubernetes/deployment.yaml')).spec.template.spec
const [container] = pod.containers

/** The sources of the product, for names that must be in them. */
const SOURCES = ['src/cli/main.ts', 'src/cli/config-file.ts', 'src/cli/turnpike.sh', 'src/startup/cached.cjs'].map(read)
const PACKAGE = JSON.parse(read('package.json'))

/** Milliseconds that running turns get after SIGTERM. */
const DRAIN_MS = Number(/DRAIN_MS = ([\d_]+)/.exec(read('src/cli/serve.ts'))![1]!.replaceAll('_', ''))

let codecs: CodecInfos
beforeAll(async () => {
  const all = Object.entries(await loadCodecs())
  codecs = Object.fromEntries(all.map(([name, codec]) => [name, { ...codec, dialects: Object.keys(codec.dialects) }]))
})

/** The variables of a container of Kubernetes. */
const podVariables: string[] = container.env.map(({ name }: { name: string }) => name)

describe('the files', () => {
  test.each(FILES.filter((path) => path.endsWith('.yaml')))('%s is YAML', (path) => {
    for (const { errors } of parseAllDocuments(read(path))) expect(errors).toEqual([])
  })

  test.each([
    // The name of a container is a variable that it always has.
    ['deploy/compose/turnpike.yaml', ['HOSTNAME', ...Object.keys(service.environment)]],
    ['deploy/kubernetes/turnpike.yaml', podVariables],
  ])('%s is a configuration with the variables that its gateways get', (path, names) => {
    const env = Object.fromEntries(names.map((name, n) => [name, `value-${n}.of.a.variable`]))
    const config = parseConfig(read(path), { file: path, folder: '/etc/turnpike', env, codecs })
    expect(config.warnings).toEqual([])
    expect(config.server.keys.map(({ name, role }) => [name, role])).toEqual([
      ['client', 'user'],
      ['operator', 'admin'],
    ])
    expect(config.store.kind).toBe('postgres')
    expect(config.cluster?.address).toMatch(/^http:\/\/value-\d\.of\.a\.variable:8484$/)
    expect(names.filter((name) => !read(path).includes(name))).toEqual([])
    for (const { args = [] } of config.agents.values()) {
      const examples = args.filter((arg) => arg.startsWith('/opt/turnpike/'))
      expect(examples.filter((arg) => !existsSync(join(ROOT, arg.slice('/opt/turnpike/'.length))))).toEqual([])
    }
  })

  test('of compose get their secrets from variables that .env.example names', () => {
    const used = new Set([...read('deploy/compose/compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name))
    const named = read('deploy/compose/.env.example').match(/^\w+(?==)/gm)
    expect([...used].toSorted()).toEqual(named!.toSorted())
  })

  test('of Kubernetes get them from the secret that the page to begin with makes', () => {
    const secrets = container.env.flatMap((entry: { valueFrom: { secretKeyRef?: { key: string } } }) =>
      entry.valueFrom.secretKeyRef ? [entry.valueFrom.secretKeyRef.key] : [],
    )
    const made = [...read('deploy/kubernetes/kustomization.yaml').matchAll(/--from-literal=([\w-]+)/g)]
    expect(secrets.toSorted()).toEqual(made.map(([, key]) => key).toSorted())
  })

  test('of Kubernetes are all in kustomization.yaml', () => {
    const { resources, configMapGenerator } = parseYaml(read('deploy/kubernetes/kustomization.yaml'))
    const listed = [...resources, ...configMapGenerator[0].files, 'kustomization.yaml']
    const there = readdirSync(join(ROOT, 'deploy/kubernetes'))
    expect(there.toSorted()).toEqual(listed.toSorted())
  })

  test.each(['deploy/compose/compose.yaml'])('%s mounts files that are there', (path) => {
    const { services } = parseYaml(read(path))
    const mounted = Object.values(services as Record<string, { volumes?: string[] }>).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0]!).filter((from) => from.startsWith('.')),
    )
    expect(mounted.filter((from) => !existsSync(join(ROOT, path, '..', from)))).toEqual([])
    expect(mounted.length).toBeGreaterThan(5)
  })
})

describe('ports and paths', () => {
  let port: number
  beforeAll(() => {
    port = parseConfig('', { file: 'x', folder: '/', env: {}, codecs }).server.port
  })

  test('are those of a gateway', () => {
    const policy = parseYaml(read('deploy/kubernetes/network-policy.yaml')).spec
    expect([
      Number(/^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]),
      Number(/127\.0\.0\.1:(\d+)/.exec(read('deploy/image/health.mjs'))![1]),
      Number(/server-template gateway \d+ turnpike:(\d+)/.exec(read('deploy/compose/haproxy.cfg'))![1]),
      parseYaml(read('deploy/compose/prometheus.yaml')).scrape_configs[0].dns_sd_configs[0].port,
      container.ports[0].containerPort,
      policy.ingress[0].ports[0].port,
    ]).toEqual(Array(6).fill(port))
  })

  test('as many gateways are behind the balancer as there are', () => {
    const places = /server-template gateway (\d+)/.exec(read('deploy/compose/haproxy.cfg'))![1]
    expect(service.deploy.replicas).toBe(Number(places))
  })

  describe('of health', () => {
    let gateway: TestGateway
    beforeAll(async () => {
      gateway = await startGateway('agents: {}')
    })
    afterAll(() => gateway.close())

    test('are answered', async () => {
      const checked = /http-check send meth GET uri (\S+)/.exec(read('deploy/compose/haproxy.cfg'))![1]!
      const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet)
      for (const path of [checked, ...probes.map(({ path }) => path)]) {
        expect((await fetch(gateway.url + path)).status).toBe(200)
      }
      expect(probes.map(({ port: name }) => name)).toEqual(Array(3).fill(container.ports[0].name))
    })

    test('are asked by the check of the image, which fails without a gateway', async () => {
      const check = async (url: string): Promise<number> => {
        const child = spawn(process.execPath, [join(ROOT, 'deploy/image/health.mjs'), url])
        const [code] = await once(child, 'exit')
        return code
      }
      expect(await check(`${gateway.url}/healthz`)).toBe(0)
      expect(await check(`${gateway.url}/nowhere`)).toBe(1)
      expect(await check('http://127.0.0.1:1/healthz')).toBe(1)
    })
  })
})

describe('the image', () => {
  test('is made of files that are there', () => {
    const copied = [...DOCKERFILE.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, from]) => from!.split(' '))
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    expect(copied).toContain('package-lock.json')
  })

  test('leaves nothing out that npm packs or builds of', () => {
    const ignored = read('.dockerignore').match(/^\w[^\n]*$/gm)!
    const needed = [...PACKAGE.files, 'src', 'codecs', 'routes', 'observability', 'console', 'deploy']
    // The build makes it anew.
    expect(ignored.filter((name) => needed.includes(name) && name !== 'dist')).toEqual([])
  })

  test('is built by the steps of the package', () => {
    const steps = [...DOCKERFILE.matchAll(/(?:RUN|&&) npm (\w+)/g)].map(([, step]) => step)
    expect(new Set(steps)).toEqual(new Set(['ci', 'pack']))
    expect(PACKAGE.scripts.prepack).toBe('sh deploy/bootstrap.sh package')
  })

  test('starts what the launcher starts, with a Node.js that it may have', () => {
    const launcher = read('src/cli/turnpike.sh')
    const [node, ...flags] = JSON.parse(`[${/^ENTRYPOINT \[(.*)\]$/m.exec(DOCKERFILE)![1]}]`)
    const program = flags.pop()
    expect(node).toBe('node')
    expect(launcher).toContain(`garbage='${flags.join(' ')}'\n`)
    const set = [...launcher.matchAll(/^export (MALLOC_\w+)="\$\{\1:-(\d+)\}"$/gm)].map(
      ([, name, value]) => `${name}=${value}`,
    )
    expect(set).toHaveLength(3)
    expect(DOCKERFILE).toContain(`    ${set.join(' ')} \\\n`)
    expect(launcher).toContain(`"$root/${program.slice('/opt/turnpike/'.length)}"`)
    const major = /^ARG BASE=node:(\d+)-/m.exec(DOCKERFILE)![1]
    expect(read('deploy/bootstrap.sh')).toContain(`node-$platform@${major}"`)
  })
})

describe('commands, variables and times', () => {
  test('are those of the program', () => {
    const started = [...UNIT.matchAll(/^Exec\w+=\/opt\/turnpike\/bin\/turnpike (\w+)/gm)].map(([, name]) => name!)
    const commands = [...started, ...JSON.parse(/^CMD (\[.*\])$/m.exec(DOCKERFILE)![1]!)]
    expect(commands.toSorted()).toEqual(['check', 'serve', 'serve'])
    for (const name of commands) expect(read('src/cli/main.ts')).toMatch(new RegExp(`^  ${name}: `, 'm'))
  })

  test('that the program reads', () => {
    const set = [...`${DOCKERFILE}\n${UNIT}`.matchAll(/\b(TURNPIKE_\w+)=/g)].map(([, name]) => name!)
    expect(set.filter((name) => !SOURCES.some((source) => source.includes(name)))).toEqual([])
    expect(set.length).toBeGreaterThan(1)
  })

  test('leave running turns the time that they get', () => {
    const seconds = [
      Number.parseInt(service.stop_grace_period, 10),
      Number(/^TimeoutStopSec=(\d+)$/m.exec(UNIT)![1]),
      pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds,
    ]
    expect(seconds.filter((time) => time * 1000 < DRAIN_MS + 10_000)).toEqual([])
  })

  test('are nobody else’s: the user of the image is that of its pods', () => {
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(DOCKERFILE)!
    const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext
    expect([runAsUser, runAsGroup, runAsNonRoot]).toEqual([Number(user), Number(group), true])
    expect(service.tmpfs).toContain(`/var/lib/turnpike:uid=${user},gid=${group}`)
  })
})

describe('docs/operations.md', () => {
  /** The rows of the table of failures, the only one with four columns. */
  const failures = read('docs/operations.md')
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .filter(({ length }) => length === 4)
  const quoted = (column: number): string[] =>
    failures.flatMap((cells) => [...cells[column]!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!))

  test('quotes the log as it is', () => {
    const told = quoted(2)
    expect(told.filter((text) => !PRODUCT.includes(text))).toEqual([])
    expect(told.length).toBeGreaterThan(8)
  })

  test('names metrics that there are', () => {
    const own = Object.values(INSTRUMENTS).map((instrument) => prometheusName(instrument))
    const names = quoted(1).filter((text) => /^(?:turnpike|nodejs|process)_/.test(text))
    expect(names.filter((name) => !own.includes(name) && !PRODUCT.includes(name))).toEqual([])
    expect(names.length).toBeGreaterThan(10)
  })
})

describe('checks of other programs', () => {
  const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0

  test.skipIf(!has('systemd-analyze', '--version'))('systemd-analyze verify', () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-unit-'))
    const file = join(folder, 'turnpike.service')
    // The program is not installed here.
    writeFileSync(file, UNIT.replaceAll('/opt/turnpike/bin/turnpike', '/bin/true'))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect([stderr, status]).toEqual(['', 0])
  })

  test.skipIf(!has('kubectl', 'kustomize', '--help'))('kubectl kustomize', () => {
    const { status, stdout } = spawnSync('kubectl', ['kustomize', 'deploy/kubernetes'], { cwd: ROOT, encoding: 'utf8' })
    const kinds = stdout.match(/^kind: \w+$/gm)!.map((line) => line.slice('kind: '.length))
    expect(status).toBe(0)
    expect(kinds.toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ])
  })
})

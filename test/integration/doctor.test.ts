import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { createAuthority, selfSigned } from '../support/network/certificates.ts'
import { runCommand } from '../support/process/in-process-command.ts'
import { startInstallation } from '../support/process/test-installation.ts'
import { answer, answering, startScriptedServer } from '../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()

const doctor = async (configFile: string, env: Record<string, string> = {}) => {
  const { code, out } = await runCommand(['doctor', '--config', configFile], {
    env: { ...(process.env as Record<string, string>), ...env },
  })
  return { code, lines: out.trimEnd().split('\n') }
}

it('examines a whole installation: passed checks, warnings and failures', async () => {
  const authority = createAuthority()
  const folder = await configFolder({ 'ca.pem': authority.cert })
  const receiving = async (leaf?: { cert: string; key: string }) =>
    closing(await startScriptedServer(answering(answer(200)), leaf))
  const good = await receiving(authority.issue({ validTo: 100 }))
  const soonOver = await receiving(authority.issue({ validTo: 3.5 }))
  const expired = await receiving(authority.issue({ validFrom: -9, validTo: -1 }))
  const untrusted = await receiving(selfSigned())
  const gone = await receiving()
  await gone.close()
  const endpoints = { good, soonOver, expired, untrusted, gone }
  const destinations = Object.entries(endpoints).map(([id, { url }]) => ({
    ...{
      id,
      sources: ['web'],
      sharedSecret: `secret-of-ours-at-${id}`,
      webhooks: [{ url: url('/hook?key=secret-of-theirs') }],
    },
  }))
  const installation = closing(
    await startInstallation({
      network: { allow: ['127.0.0.0/8'], caFile: `${folder}/ca.pem` },
      sources: [{ id: 'web', writeKey: 'a-key-of-the-source' }],
      destinations: [
        ...destinations,
        { id: 'inside', sources: ['web'], webhooks: [{ url: 'https://localhost.localhost:22222/' }] },
      ],
    }),
  )
  const { code, lines } = await doctor(installation.configFile)
  expect(code).toBe(1)
  const starts = [
    'ok    configuration: 1 source, 6 destinations, 6 webhooks',
    'ok    kafka: 1 broker, reachable at its advertised address',
    'ok    access: this client may read 16 topics, write to 17 topics and join 3 consumer groups',
    'ok    topics: 17 topics with the required settings',
    'warn  topics: topics.replicationFactor is 1',
    'ok    registry: 3 schemas registered',
    "ok    clock: this machine's clock agrees with the broker's clock",
    `ok    endpoint good/0 ${new URL(good.url()).origin}: connected to 127.0.0.1 in `,
    `warn  endpoint soonOver/0 ${new URL(soonOver.url()).origin}: connected to 127.0.0.1 in `,
    `fail  endpoint expired/0 ${new URL(expired.url()).origin}: tls_untrusted: certificate has expired`,
    `fail  endpoint untrusted/0 ${new URL(untrusted.url()).origin}: tls_untrusted: self-signed certificate`,
    `fail  endpoint gone/0 ${new URL(gone.url()).origin}: connect: `,
    'fail  endpoint inside/0 https://localhost.localhost:22222: blocked_address: ',
    'ok    transport: the HTTP client "got" takes ',
  ]
  expect(lines.map((line, index) => line.slice(0, starts[index]?.length))).toEqual(starts)
  expect(lines.join('\n')).not.toContain('secret')
  expect([good, soonOver].map(({ bytes }) => bytes())).toEqual([0, 0])
  // `hookline doctor` writes only tombstones, which have no effect.
  expect(await installation.read(installation.topics.deadLetter)).toMatchObject([{ value: null }, { value: null }])
  const { out } = await runCommand(['dead-letters', '--json', '--config', installation.configFile], {
    env: process.env as Record<string, string>,
  })
  expect(out).toBe('')
})

it('reports missing topics and schemas, and an unreachable Kafka and registry', async () => {
  const installation = closing(await startInstallation({ destinations: [] }))
  await installation.configure({
    destinations: [],
    topics: { prefix: 'nothing-here', partitions: 4, replicationFactor: 1 } as never,
  })
  const bare = await doctor(installation.configFile)
  expect(bare.code).toBe(1)
  expect(bare.lines).toContain(
    'fail  topics nothing-here.events: does not exist; create it with: hookline topics apply',
  )
  expect(bare.lines.some(line => line.startsWith('fail  registry nothing-here.events-value: absent'))).toBe(true)

  const lost = await doctor(installation.configFile, {
    KAFKA_BROKERS: '127.0.0.1:1',
    SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
  })
  expect(lost.code).toBe(1)
  expect(lost.lines.filter(line => line.startsWith('fail'))).toEqual([
    expect.stringMatching(/^fail {2}kafka 127\.0\.0\.1:1: .*ECONNREFUSED.*; check kafka\.brokers/),
    expect.stringMatching(/^fail {2}registry: the schema registry at http:\/\/127\.0\.0\.1:1 cannot be used/),
  ])
})

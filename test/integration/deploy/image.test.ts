import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { nodeFlags } from '../../../deploy/tools/local/node-flags.ts'
import { durationMs } from '../../../src/core/time.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { buildImage, type Image } from '../../support/deploy/image/build-image.ts'
import { type Container, runInContainer, startContainer } from '../../support/deploy/image/container.ts'
import { whyNot } from '../../support/deploy/image/linux-namespaces.ts'
import { until } from '../../support/kafka/admin.ts'
import {
  startInstallation,
  type TestInstallation,
  trackEvents,
  webKey,
} from '../../support/process/test-installation.ts'
import { RecordingReceiver } from '../../support/webhook/recording-receiver.ts'

/* Builds deploy/image/Dockerfile with other base images, and runs the image as Kubernetes does. */

const closing = closingAfterEach()
let image: Image

if (whyNot === undefined) {
  beforeAll(async () => {
    image = await buildImage({ VERSION: '9.8.7' })
  }, 240_000)
  afterAll(() => image?.close())
}
const onlyHere = whyNot === undefined ? describe : describe.skip

/**
 * An installation whose configuration is mounted as in Kubernetes: readable for all users, through
 * a symbolic link that an update replaces.
 */
async function mountedInstallation(
  receiver: RecordingReceiver,
): Promise<TestInstallation & { readonly mounted: string }> {
  const installation = closing(
    await startInstallation({
      delivery: { perWebhook: 16 },
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
    }),
  )
  const mounted = join(dirname(installation.configFile), 'mounted')
  mkdirSync(join(mounted, '..2026'), { recursive: true })
  copyFileSync(installation.configFile, join(mounted, '..2026/hookline.yaml'))
  symlinkSync('..2026', join(mounted, '..data'))
  symlinkSync('..data/hookline.yaml', join(mounted, 'hookline.yaml'))
  return { ...installation, mounted }
}

onlyHere('what is in the image', () => {
  it('contains the program, and no build or test files', () => {
    const has = (path: string): boolean => existsSync(join(image.root, 'app', path))
    for (const path of [
      'bin/hookline',
      'dist/src/main.js',
      'dist/console/index.html',
      'schemas',
      'LICENSE',
      'sbom.cdx.json',
    ])
      expect([path, has(path)]).toEqual([path, true])
    for (const path of [
      ...[
        'src',
        'test',
        '.npmrc',
        'dist/cjs',
        'node_modules/jest',
        'node_modules/typescript',
        'node_modules/node',
        'node_modules/preact',
      ],
    ])
      expect([path, has(path)]).toEqual([path, false])
  })

  it('lists every package that it contains', () => {
    const bom = JSON.parse(readFileSync(join(image.root, 'app/sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string }[]
    }
    const manifests = readdirSync(join(image.root, 'app/node_modules'), { recursive: true, encoding: 'utf8' }).filter(
      isManifest,
    )
    const held = manifests.map(file => {
      const { name, version } = JSON.parse(readFileSync(join(image.root, 'app/node_modules', file), 'utf8'))
      return `${name} ${version}`
    })
    expect(held.length).toBeGreaterThan(90)
    expect(new Set(bom.components.map(({ name, version }) => `${name} ${version}`))).toEqual(new Set(held))
  })

  it('has labels that describe it', () => {
    expect(image.labels.get('org.opencontainers.image.version')).toBe('9.8.7')
    expect(image).toMatchObject({
      user: '65532:65532',
      ports: ['8080', '9464'],
      entrypoint: ['/app/bin/node', ...nodeFlags, '/app/bin/hookline'],
      command: ['run'],
    })
  })
})

/**
 * Whether a file is a package's package.json, and not one that only sets the module type of a
 * folder.
 */
const isManifest = (file: string): boolean => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(file)

onlyHere('a container of it', () => {
  it('is confined: its own user, no capabilities, a read-only file system', async () => {
    const installation = await mountedInstallation(closing(await RecordingReceiver.started()))
    const probe = `
      const { writeFileSync, readFileSync } = require('node:fs')
      const tried = ['/x', '/app/x', '/tmp/x', '/etc/hookline/x'].map(path => { try { writeFileSync(path, ''); return path } catch ({ code }) { return code } })
      const status = readFileSync('/proc/self/status', 'utf8')
      const of = name => new RegExp('^' + name + ':\\\\s*(.*)$', 'm').exec(status)[1]
      console.log(JSON.stringify({ tried, uid: process.getuid(), groups: process.getgroups(), pid: process.pid, caps: of('CapEff') + of('CapPrm'), noNew: of('NoNewPrivs') }))`
    const { stdout, stderr } = await runInContainer(image, installation.mounted, ['/nodejs/bin/node', '-e', probe])
    expect({ ...JSON.parse(stdout || '{}'), stderr }).toEqual({
      tried: Array(4).fill('EROFS'),
      uid: 65532,
      groups: [65532],
      pid: 1,
      caps: '0'.repeat(32),
      noNew: '1',
      stderr: '',
    })
  })

  it('has the command for `kubectl exec`', async () => {
    const installation = await mountedInstallation(closing(await RecordingReceiver.started()))
    const { code, stdout } = await runInContainer(image, installation.mounted, ['hookline', 'topics', 'check'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('topics are ready') })
  })

  it('runs as process 1, accepts and delivers messages, and on SIGTERM loses and repeats nothing', async () => {
    const receiver = closing(await RecordingReceiver.started({ latency: durationMs(300) }))
    const installation = await mountedInstallation(receiver)
    const first: Container = closing(await startContainer(image, installation.mounted))
    expect(first.status()).toMatch(/^NSpid:\s+\d+\s+1$/m)
    await until(async () => ((await first.readyz()) === 200 ? true : undefined))
    const answer = await fetch(`${first.collector}/v1/track`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${webKey}:`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ userId: 'u', event: 'Through the image' }),
    })
    expect(answer.status).toBe(200)
    await installation.send(trackEvents(200))
    await receiver.until(() => receiver.requests.length >= 40)
    const { code, milliseconds } = await first.stop()
    expect(code).toBe(0)
    // A process needs at most 25 s to drain.
    expect(milliseconds).toBeLessThan(25_000)
    const second = closing(await startContainer(image, installation.mounted))
    await receiver.untilDelivered(201)
    expect((await second.stop()).code).toBe(0)
    expect(receiver.duplicates).toBe(0)
  })

  it('exits with 2 and the position of the error when the configuration is invalid', async () => {
    const { mounted } = await mountedInstallation(closing(await RecordingReceiver.started()))
    writeFileSync(join(mounted, '..2026/hookline.yaml'), 'kafka: { brokers: [127.0.0.1:9092] }\nregistrie: {}\n')
    const { code, stderr } = await runInContainer(image, mounted, [...image.entrypoint, ...image.command])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('/etc/hookline/config/hookline.yaml:2:1: registrie: unknown key'),
    })
  })
})

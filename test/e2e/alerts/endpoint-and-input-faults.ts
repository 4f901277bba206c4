import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { selfSigned } from '../../support/network/certificates.ts'
import { type Load, startLoad } from '../../support/process/repeated-load.ts'
import {
  type ConfigurationOverrides,
  startInstallation,
  type TestInstallation,
  trackEvents,
} from '../../support/process/test-installation.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import { ChangingEndpoint } from '../../support/webhook/changing-endpoint.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'endpoints'
const loopback = { allow: ['127.0.0.0/8'] }
const breaksCalls = new URL('break-requests-preload.mjs', import.meta.url).href

interface Parts {
  readonly gone: ChangingEndpoint
  readonly refusing: ChangingEndpoint
  readonly heart: ChangingEndpoint
  /**
   * A working endpoint. `breakCalls` makes the requests to it fail before they leave the process.
   */
  readonly beyond: ChangingEndpoint
  readonly untrusted: ChangingEndpoint
}

/**
 * One process under a steady load. All endpoints work at first, and then fail in different ways.
 */
class Endpoints {
  readonly all: Parts
  readonly #installation: TestInstallation
  readonly #load: Load
  #writesNonsense = false

  private constructor(all: Parts, installation: TestInstallation) {
    this.all = all
    this.#installation = installation
    this.#load = startLoad(() => this.#round())
  }

  static async started(prometheus: LivePrometheus): Promise<Endpoints> {
    const tls = selfSigned()
    const [gone, refusing, heart, beyond] = await Promise.all([0, 1, 2, 3].map(() => ChangingEndpoint.started()))
    const untrusted = await ChangingEndpoint.started(tls)
    const all = { gone, refusing, heart, beyond, untrusted } as Parts
    const installation = await startInstallation(configuration(all, wellAtFirst))
    await writeFile(join(dirname(installation.configFile), 'ca.pem'), tls.cert)
    const service = await installation.run({
      NODE_OPTIONS: `--import=${breaksCalls}`,
      BROKEN_ADDRESS_FILE: brokenAddressFile(installation),
    })
    await prometheus.scrape({ instance: job, job, address: opsOf(service) })
    const started = new Endpoints(all, installation)
    // `heart` gets only canary messages, the first one some seconds after the start of the process.
    await Promise.all([all.gone.delivers(3), all.heart.delivers(1)])
    return started
  }

  /**
   * Adds the destination whose endpoint has a self-signed certificate. `network` can contain the
   * CA.
   */
  async configure(network: object): Promise<void> {
    await this.#installation.configure(configuration(this.all, [...wellAtFirst, 'untrusted'], network))
  }

  async breakCalls(areBroken: boolean): Promise<void> {
    const file = brokenAddressFile(this.#installation)
    if (areBroken) await writeFile(file, new URL(this.all.beyond.url).host)
    else await rm(file)
  }

  async writeNonsense(isWritten: boolean): Promise<void> {
    this.#writesNonsense = isWritten
  }

  async close(): Promise<void> {
    await this.#load.stop()
    await this.#installation.close()
    await Promise.all(Object.values(this.all).map((endpoint: ChangingEndpoint) => endpoint.close()))
  }

  async #round(): Promise<void> {
    await this.#installation.send(trackEvents(3, `m-${performance.now()}`))
    if (!this.#writesNonsense) return
    await this.#installation.write(this.#installation.topics.events, [
      { key: null, value: Buffer.from('{'), headers: {} },
    ])
  }
}

const wellAtFirst = ['gone', 'refusing', 'heart', 'beyond'] as const

const brokenAddressFile = ({ configFile }: TestInstallation): string => join(dirname(configFile), 'broken-address')

const configuration = (all: Parts, ids: readonly (keyof Parts)[], network: object = {}): ConfigurationOverrides => ({
  network: { ...loopback, ...network },
  sources: ['web', 'none'].map(id => ({ id, writeKey: `${id}-key` })),
  destinations: ids.map(id => ({
    ...{ id, webhooks: [{ url: all[id].url }] },
    // The test sends no messages of the source `none`, so `heart` gets only canary messages.
    sources: [id === 'heart' ? 'none' : 'web'],
  })),
  canary: { destination: 'heart', every: '1s' },
})

const answers =
  (which: keyof Parts, status: number) =>
  async ({ all }: Endpoints): Promise<void> => {
    all[which].status = status
  }

const faults: readonly Fault<Endpoints>[] = [
  {
    cause: 'an endpoint responds 410',
    cure: 'the endpoint responds 200 again',
    alerts: { HooklineEndpointGone: { destination: 'gone' }, HooklineDeliveriesGivenUp: { destination: 'gone' } },
    begin: answers('gone', 410),
    end: answers('gone', 200),
  },
  {
    cause: 'an endpoint responds 401',
    cure: 'the endpoint responds 200',
    alerts: { HooklineDestinationFailing: { destination: 'refusing' } },
    begin: answers('refusing', 401),
    end: answers('refusing', 200),
  },
  {
    cause: 'the endpoint of the canary messages responds 404',
    cure: 'the endpoint accepts canary messages',
    alerts: { HooklineHeartbeatsLost: {} },
    begin: answers('heart', 404),
    end: answers('heart', 200),
  },
  {
    cause: 'the certificate of an endpoint is signed by an unknown authority',
    cure: 'the certificate is trusted',
    alerts: { HooklineEndpointRefused: { destination: 'untrusted', outcome: 'tls_untrusted' } },
    begin: endpoints => endpoints.configure({}),
    end: endpoints => endpoints.configure({ caFile: 'ca.pem' }),
  },
  {
    cause: 'requests to an endpoint fail within the process with an unknown error',
    cure: 'requests leave the process again',
    alerts: { HooklineInternalErrors: {} },
    begin: endpoints => endpoints.breakCalls(true),
    end: endpoints => endpoints.breakCalls(false),
  },
  {
    cause: 'a producer writes invalid records to the events topic',
    cure: 'the producer stops',
    alerts: { HooklineInputRefused: {} },
    begin: endpoints => endpoints.writeNonsense(true),
    end: endpoints => endpoints.writeNonsense(false),
  },
]

/** The faults of endpoints and of senders, all in one round. */
export const endpoints: Installation<Endpoints> = {
  job,
  rounds: [faults],
  open: prometheus => Endpoints.started(prometheus),
}

import type { Command } from 'commander'
import { createRegistry } from '../../../adapters/avro/schema-registry.ts'
import { processClock as clock } from '../../../adapters/clock/process-clock.ts'
import { createKafka } from '../../../adapters/kafka/kafkajs/client.ts'
import { createClusterProbe } from '../../../adapters/kafka/log/doctor-cluster-probe.ts'
import { createAdmin } from '../../../adapters/kafka/log/topic-admin.ts'
import { createEndpointDialer } from '../../../adapters/webhook/doctor-endpoint-probe.ts'
import { type Finding, formatFinding } from '../../../core/doctor/finding.ts'
import { everyService, type ServiceName } from '../../../core/settings/service-names.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { durationMs } from '../../../core/time.ts'
import {
  CommandFailed,
  type CommandIo,
  commandLogger,
  createCommand,
  printData,
  withExamples,
} from '../../create-command.ts'
import { loadSettings } from '../../load-settings.ts'
import { mergeConfigTopic } from '../../merged-settings-of-command.ts'
import { withConfigOption, withJsonOption, withServicesOption } from '../../options.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'
import { examine, type Instruments } from './examine.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly services?: ReadonlySet<ServiceName>
}

type OpenInstruments = (settings: Settings, io: CommandIo) => Instruments & { close(): void }

/**
 * Time limit of one run: 5 s to read the config topic, and 10 s for up to 800 unreachable
 * endpoints. `examine` dials 400 endpoints concurrently, and each dial takes at most 5 s.
 */
const limit = durationMs(15_000)
/** Time limit for reading the config topic, before the other checks. */
const configTopicLimit = durationMs(5_000)

const description = [
  'Checks from this machine what the services need: the Kafka brokers at their advertised addresses, the ACLs of this client, topics, schemas, clocks, and the endpoints of all enabled destinations (DNS name, permitted address, connection, TLS certificate). The command does not check the token endpoints of OAuth 2.0.',
  'Sends no HTTP request to any endpoint. Writes two empty records to the dead-letter topic, to check that the topic accepts records, and to read the time of the broker. Hookline does not treat these records as dead letters.',
  'Prints one line for each check: "ok", "warn" (works now, but a problem is likely) or "fail", and what to do. Stops after at most 15 seconds. The exit code is 1 if a check fails.',
].join('\n\n')

/** `hookline doctor` */
export function doctorCommand(io: CommandIo, open: OpenInstruments = openInstruments): Command {
  const command = createCommand('doctor', 'check Kafka, the schema registry, topics, clocks and every endpoint', io)
  command.description(description)
  withServicesOption(withJsonOption(withConfigOption(command)), 'run only the checks that these services need')
  command.action((options: Options) => run(options, io, open))
  return withExamples(command, [
    'hookline doctor --config hookline.yaml',
    'hookline doctor --services collector',
    `hookline doctor --json | jq -r '.findings[] | select(.level != "ok") | .which'`,
  ])
}

async function run(options: Options, io: CommandIo, open: OpenInstruments): Promise<void> {
  const { services = everyService } = options
  const file = await loadSettings(options, io, services)
  const instruments = open(file, io)
  const startedAt = instruments.clock.monotonic()
  const merged = await mergeConfigTopic(file, io, configTopicLimit).then(
    settings => ({ settings }),
    (error: Error) => ({ settings: file, configTopicError: error.message }),
  )
  const remaining = durationMs(Math.max(0, limit - (instruments.clock.monotonic() - startedAt)))
  const findings = await examine({ ...merged, services }, instruments, remaining).finally(() => instruments.close())
  const count = (level: Finding['level']): number => findings.filter(finding => finding.level === level).length
  const failed = count('fail')
  printData(
    io,
    options,
    { ok: failed === 0, findings },
    findings.map(finding => printable(formatFinding(finding))),
  )
  if (failed > 0)
    throw new CommandFailed(
      `${failed} of ${findings.length} checks failed; the lines that begin with "fail" say what to do`,
    )
}

const openInstruments: OpenInstruments = (settings, io) => {
  const logger = commandLogger(io)
  const admin = createAdmin(createKafka(settings.kafka, logger))
  const { network, delivery } = settings
  const endpoints = createEndpointDialer({ network, timeout: delivery.timeout, clock })
  return {
    cluster: createClusterProbe(settings.kafka, { logger }),
    admin,
    registry: createRegistry(settings.registry),
    endpoints,
    clock,
    close() {
      endpoints.close()
      // Not awaited, because the connection to Kafka may be blocked.
      admin.close().catch(() => undefined)
    },
  }
}

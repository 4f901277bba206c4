import { audienceCommand } from '../../../src/app/commands/audience/audience.ts'
import type { CommandIo } from '../../../src/app/create-command.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { configFolder } from '../config/config-folder.ts'
import { OperatorHarness } from '../operator/deletion-and-audience-command-harness.ts'
import { runCommand } from '../process/in-process-command.ts'

export const folder = await configFolder({
  'hookline.yaml': `
kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: secret-key }]
destinations:
  - { id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/" }] }
  - { id: erp, sources: [web], webhooks: [{ url: "https://erp.example.com/" }] }
  - { id: "off", enabled: false, sources: [web], webhooks: [{ url: "https://off.example.com/" }] }
audiences:
  list:
    - { name: First time shopper, destinations: [crm, erp] }
    - { name: Lifetime value, kind: trait, destinations: [crm] }
    - { name: Idle, destinations: ["off"] }
`,
  'empty.yaml': `
kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: secret-key }]
`,
  'members.txt': 'ada\nbob\n',
  'members.csv': 'userId,value\nada,12\nbob,gold\n',
  'wrong.ndjson': '{"userId":"ada"}\n{"value":true}\n',
  'nobody.txt': '\n',
})
export const shoppers = ['--name', 'First time shopper']
/** Id of a sync that began at 2026-03-01T00:00:00Z. */
export const firstId = Date.parse('2026-03-01') * 1_024

/** Runs `hookline audience …` on an in-memory installation, with the files of `folder`. */
export class AudienceCommandHarness extends OperatorHarness {
  run(argv: readonly string[], given: Parameters<typeof runCommand>[1] = {}, config = 'hookline.yaml') {
    const load = async () => (io: CommandIo) => audienceCommand(io, () => this.access())
    const [subcommand = '', ...options] = argv
    const words = ['audience', subcommand, '--config', `${folder}/${config}`, ...options]
    return this.during(runCommand(words, given, [{ name: 'audience', summary: '', load }]))
  }

  keepShopper(userId: string, state: Parameters<OperatorHarness['keep']>[1], destination = 'crm'): void {
    this.keep({ audience: 'First time shopper', userId, destination }, state)
  }

  inFlight() {
    return { value: 'true' as JsonText, since: this.clock.now(), isOvertaken: false }
  }
}

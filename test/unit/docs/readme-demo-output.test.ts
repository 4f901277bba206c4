import { expect, it } from '@jest/globals'
import { report, type Seen } from '../../../deploy/tools/local/demo-report.ts'
import { pageAt } from '../../support/docs/pages.ts'

/* With these counts, `make demo` must print exactly the output in README.md. */

const none: Seen = {
  ...{ delivered: 0, retried: 0, calls: 1_000, deadLettered: 0, reasons: [] },
  ...{ requests: 0, badSignatures: 0, messages: 0 },
}
const seen = new Map<string, Seen>([
  ['crm', { ...none, delivered: 354, messages: 354, requests: 354 }],
  ['warehouse', { ...none, delivered: 350, messages: 350, requests: 700 }],
  ['flaky', { ...none, delivered: 4, messages: 4, retried: 8, requests: 12 }],
  ['dead', { ...none, deadLettered: 350, reasons: ['retry_window_over'], retried: 20 }],
  ['self-signed', { ...none, deadLettered: 350, reasons: ['tls_untrusted'] }],
])

it('README.md shows what the demo prints', () => {
  const { lines, allRight } = report(seen, { collector: 154, kafka: 150, deletion: 50 })
  expect(allRight).toBe(true)
  expect(pageAt('README.md').text).toContain(lines.join('\n'))
})

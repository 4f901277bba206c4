import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createChosenTransport } from '../../../src/adapters/webhook/got-or-undici-transport.ts'
import type { DeliverySettings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { WebhookTransport } from '../../../src/core/webhook-ports.ts'

const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }

/** Creates a transport for a separate process, which gets the name as an argument. */
export const transportByName = (name: string | undefined, timeoutMs: number): Promise<WebhookTransport> =>
  createChosenTransport(name as DeliverySettings['transport'], {
    network: () => network,
    timeout: durationMs(timeoutMs),
    clock: processClock,
  })

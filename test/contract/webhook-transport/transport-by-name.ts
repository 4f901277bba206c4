import { systemClock } from '../../../src/adapters/clock/clock.ts'
import { createChosenTransport } from '../../../src/adapters/webhook/webhook.ts'
import type { WebhookTransport } from '../../../src/core/ports.ts'
import type { DeliverySettings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/units.ts'

const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }

/** For programs of their own, which are told the name in their arguments. */
export const transportByName = (name: string | undefined, timeoutMs: number): Promise<WebhookTransport> =>
  createChosenTransport(name as DeliverySettings['transport'], {
    network: () => network,
    timeout: durationMs(timeoutMs),
    clock: systemClock,
  })

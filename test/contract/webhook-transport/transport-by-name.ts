import { systemClock } from '../../../src/adapters/clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import { createUndiciTransport } from '../../../src/adapters/webhook/undici.ts'
import type { WebhookTransport } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/units.ts'

const transports = { got: createGotTransport, undici: createUndiciTransport }
const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }

/** For programs of their own, which are told the name in their arguments. */
export const transportByName = (name: string | undefined, timeoutMs: number): WebhookTransport =>
  transports[name as keyof typeof transports]({
    network: () => network,
    timeout: durationMs(timeoutMs),
    clock: systemClock,
  })

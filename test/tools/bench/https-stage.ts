import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthority } from '../../support/network/certificates.ts'
import { domain, hostName } from './host-urls.ts'
import { startReceiver } from './receiver/receiver.ts'
import type { Stage } from './test-bed.ts'

/**
 * Runs `use` with an HTTPS receiver for all hosts of `hostUrls`. The forwarders trust its
 * authority.
 */
export async function withHttps<T>(stage: Stage, use: (stage: Stage) => Promise<T>): Promise<T> {
  const authority = createAuthority('bench authority')
  const authorityFile = join(stage.directory, 'authority.pem')
  await writeFile(authorityFile, authority.cert)
  const leaf = authority.issue({ names: [`*.${domain}`] })
  const receiver = await startReceiver({ ...leaf, host: hostName(0) })
  try {
    return await use({ ...stage, receiver, authorityFile })
  } finally {
    await receiver.stop()
  }
}

import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)
const downloadTimeoutMs = 10 * 60_000

/* `go/autoscalers/go.mod` builds the same versions of these Go modules. */
export const keda = 'github.com/kedacore/keda/v2@v2.21.0'
export const metricsServer = 'sigs.k8s.io/metrics-server@v0.9.0'

/** Go downloads the module the first time. */
export async function moduleDirectory(module: string): Promise<string> {
  // Run Go in a directory without a go.mod, so that no go.mod affects the download.
  const { stdout } = await run('go', ['mod', 'download', '-json', module], {
    cwd: tmpdir(),
    timeout: downloadTimeoutMs,
  })
  const { Dir: directory } = JSON.parse(stdout) as { readonly Dir: string }
  return directory
}

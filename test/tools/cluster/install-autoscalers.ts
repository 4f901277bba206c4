import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthority } from '../../support/network/certificates.ts'
import { program } from './built-programs.ts'
import { keda, metricsServer, moduleDirectory } from './download-go-module.ts'
import type { Installation } from './installation.ts'
import { emptyImage } from './kafka-pods.ts'
import { withLogs } from './scenario-steps.ts'

/** Removes the installed programs. Does not wait until their pods have ended. */
export type Removal = () => Promise<void>

/**
 * Installs the operator and metrics server of KEDA. Resolves when the API server has the API for
 * external metrics.
 */
export async function installKeda({ shell, directory }: Installation): Promise<Removal> {
  const place = join(directory, 'keda')
  await cp(join(await moduleDirectory(keda), 'config'), place, { recursive: true })
  const { secret, ca } = kedaCertificates()
  const programs = await program('autoscalers')
  const certificates = ['--tls-cert-file=/certs/tls.crt', '--tls-private-key-file=/certs/tls.key', '--cert-dir=/certs']
  return apply(shell, place, {
    namespace: 'keda',
    resources: ['minimal', secret],
    patches: [
      runs({ ...{ namespace: 'keda', name: 'keda-operator', programs, program: 'operator' }, args: [] }),
      runs({
        ...{ namespace: 'keda', name: 'keda-metrics-apiserver', programs, program: 'adapter' },
        args: ['--secure-port=6443', '--client-ca-file=/certs/ca.crt', ...certificates],
      }),
      apiService('v1beta1.external.metrics.k8s.io', { caBundle: Buffer.from(ca).toString('base64') }),
    ],
    waits: [
      'kubectl --namespace keda rollout status deployment/keda-operator deployment/keda-metrics-apiserver',
      'kubectl wait --for=condition=Available apiservice/v1beta1.external.metrics.k8s.io --timeout=60s',
    ],
  })
}

/**
 * Installs the metrics server of Kubernetes. Resolves when the API server serves `metrics.k8s.io`,
 * the API for the use of CPU and memory.
 */
export async function installMetricsServer({ shell, directory }: Installation): Promise<Removal> {
  const place = join(directory, 'metrics-server')
  await cp(join(await moduleDirectory(metricsServer), 'manifests'), place, { recursive: true })
  const serving = ['--cert-dir=/tmp', '--secure-port=10250']
  const addresses = ['--kubelet-preferred-address-types=InternalIP', '--kubelet-use-node-status-port']
  return apply(shell, place, {
    namespace: 'kube-system',
    resources: ['base'],
    patches: [
      runs({
        ...{ namespace: 'kube-system', name: 'metrics-server', program: 'metrics-server' },
        programs: await program('autoscalers'),
        // The certificate of the kubelet is self-signed.
        args: [...serving, ...addresses, '--kubelet-insecure-tls', '--metric-resolution=15s'],
      }),
    ],
    waits: [
      'kubectl --namespace kube-system rollout status deployment/metrics-server',
      'kubectl wait --for=condition=Available apiservice/v1beta1.metrics.k8s.io --timeout=60s',
    ],
  })
}

interface Overlay {
  readonly namespace: string
  /** Objects, or names of manifest directories next to the overlay. */
  readonly resources: readonly (string | object)[]
  readonly patches: readonly object[]
  readonly waits: readonly string[]
}

/**
 * Applies manifests with kustomize, and waits until the programs are ready. After an error, removes
 * the manifests again.
 */
export async function apply(
  shell: Installation['shell'],
  directory: string,
  { namespace, resources, patches, waits }: Overlay,
): Promise<Removal> {
  const overlay = join(directory, 'overlay')
  await mkdir(overlay)
  const names = resources.map((resource, index) => (typeof resource === 'string' ? `../${resource}` : `${index}.yaml`))
  for (const [index, resource] of resources.entries())
    if (typeof resource !== 'string') await writeFile(join(overlay, `${index}.yaml`), JSON.stringify(resource))
  const kustomization = { resources: names, patches: patches.map(patch => ({ patch: JSON.stringify(patch) })) }
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization))
  const commands = [`kubectl apply --server-side --kustomize '${overlay}'`, ...waits]
  const remove: Removal = async () =>
    void (await shell(`kubectl delete --wait=false --ignore-not-found --kustomize '${overlay}'`))
  try {
    for (const command of commands) await withLogs({ shell }, namespace, () => shell(command))
  } catch (error) {
    await remove()
    throw error
  }
  return remove
}

interface Runs {
  readonly namespace: string
  readonly name: string
  readonly programs: string
  readonly program: string
  readonly args: readonly string[]
}

/** Lets the container of a Deployment run a program of this machine. */
export const runs = ({ namespace, name, programs, program: file, args }: Runs): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace, name },
  spec: {
    template: {
      spec: {
        containers: [
          {
            ...{ name, image: emptyImage, imagePullPolicy: 'Never', command: [`/programs/${file}`], args },
            resources: { requests: { cpu: '20m' } },
            securityContext: { runAsUser: 1_000 },
            volumeMounts: [{ name: 'programs', mountPath: '/programs', readOnly: true }],
          },
        ],
        volumes: [{ name: 'programs', hostPath: { path: programs } }],
      },
    },
  },
})

const apiService = (name: string, spec: object): object => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name },
  spec,
})

/** The Secret of both programs of KEDA for mutual TLS, and the CA of its certificate. */
function kedaCertificates() {
  const authority = createAuthority('keda')
  const names = ['keda-operator.keda.svc.cluster.local', 'keda-metrics-apiserver.keda.svc']
  const { cert, key } = authority.issue({ names, usage: 'both' })
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'keda', name: 'kedaorg-certs' },
    stringData: { 'ca.crt': authority.cert, 'tls.crt': cert, 'tls.key': key },
  }
  return { secret, ca: authority.cert }
}

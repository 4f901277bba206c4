import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { emptyImage } from './kafka-pods.ts'
import { nodeAddress } from './node-addresses-and-files.ts'

export const ingressNamespace = 'ingress'
const name = 'traefik'
const metadata = { name, namespace: ingressNamespace }
const labels = { app: name }

/** The settings of the Helm chart of Traefik, except that only the port for TLS is reachable. */
const args = [
  '--entryPoints.websecure.address=:8443',
  '--entryPoints.websecure.http.tls=true',
  '--entryPoints.traefik.address=:8080',
  '--ping=true',
  '--providers.kubernetesingress=true',
  '--accesslog=true',
  '--global.checknewversion=false',
  '--global.sendanonymoususage=false',
]

const rules = [
  { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: ['get', 'list', 'watch'] },
]

const container = {
  ...{ name, image: emptyImage, command: ['/traefik', ...args] },
  // Without a CPU request, the pod would get almost no CPU time while other pods start.
  resources: { requests: { cpu: '100m' } },
  volumeMounts: [{ name: 'program', mountPath: '/traefik', readOnly: true }],
  ports: [{ containerPort: 8443 }],
  readinessProbe: { httpGet: { path: '/ping', port: 8080 }, periodSeconds: 1 },
}

/**
 * Manifests of Traefik, whose program is at the path `program`. `externalTrafficPolicy: Local` lets
 * Traefik see the client's address.
 */
export function traefikManifests(program: string, classes: readonly string[]): readonly Manifest[] {
  const volumes = [{ name: 'program', hostPath: { path: program, type: 'File' } }]
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const service = {
    ...{ type: 'LoadBalancer', externalIPs: [nodeAddress], externalTrafficPolicy: 'Local', selector: labels },
    ports: [{ port: 443, targetPort: 8443 }],
  }
  const spec = { serviceAccountName: name, enableServiceLinks: false, containers: [container], volumes }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ingressNamespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name } },
      ...{ roleRef: role, subjects: [{ kind: 'ServiceAccount', ...metadata }] },
    },
    ...classes.map(each => ({
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: each } },
      spec: { controller: 'traefik.io/ingress-controller' },
    })),
    { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  ]
}

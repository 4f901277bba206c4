import { realpathSync } from 'node:fs'
import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { type Java, javaFlags } from '../../../deploy/tools/local/find-java.ts'
import type { KafkaJars } from '../../../deploy/tools/local/kafka-jars.ts'
import { metaProperties, newId, serverProperties } from '../../../deploy/tools/local/server-properties.ts'

/** An image without files. The programs of a pod are in mounted directories of this machine. */
export const emptyImage = 'hookline.test/empty:1'
const namespace = 'kafka'
const systemDirectories = ['/usr', '/etc', '/bin', '/lib', '/lib64'] as const

export interface JavaPods {
  readonly java: Java
  readonly jars: KafkaJars
  readonly registry: { readonly home: string; readonly jar: string }
  /** The directory of this machine for the data of Kafka. The data stays when its pod ends. */
  readonly data: string
}

/**
 * Kafka and a schema registry as pods. The Services have the names in
 * docs/how-to/deploy-on-kubernetes.md.
 */
export function kafkaManifests({ java, jars, registry, data }: JavaPods): readonly Manifest[] {
  const properties = serverProperties({
    ...{ logDir: '/data/log', port: 9092, controllerPort: 9093 },
    properties: {
      listeners: 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093',
      'advertised.listeners': 'PLAINTEXT://kafka-bootstrap.kafka:9092',
    },
  })
  const files = { 'server.properties': properties, 'meta.properties': metaProperties(newId()) }
  const kafka = [
    `[ -d /data/log ] || { cp -R ${jars.formatted} /data/log && cp /config/meta.properties /data/log/; }`,
    `exec ${java.command} ${javaFlags.join(' ')} -cp '${jars.classPath}' kafka.Kafka /config/server.properties`,
  ].join('\n')
  const apicurio = [
    `cd ${registry.home}`,
    `exec ${java.command} ${javaFlags.join(' ')} -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=8081 -Dquarkus.log.level=WARN -jar ${registry.jar}`,
  ].join('\n')
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kafka', namespace }, data: files },
    // Without a CPU request, a pod would get almost no CPU time while other pods start.
    ...service('kafka-bootstrap', 9092, kafka, {
      ...{ directories: [jars.directory], cpu: '250m' },
      data: { hostPath: { path: data, type: 'DirectoryOrCreate' } },
    }),
    ...service('schema-registry', 8081, apicurio, {
      ...{ directories: [registry.home], cpu: '50m' },
      data: { emptyDir: {} },
    }),
  ]
}

interface ServicePod {
  readonly directories: readonly string[]
  readonly cpu: string
  readonly data: object
}

function service(
  name: string,
  port: number,
  script: string,
  { directories, cpu, data }: ServicePod,
): readonly Manifest[] {
  const labels = { app: name }
  const metadata = { name, namespace }
  const mounted = [...systemDirectories, ...directories.map(path => realpathSync(path))]
  const volumes = [
    ...mounted.map((path, index) => ({ name: `machine-${index}`, hostPath: { path } })),
    { name: 'data', ...data },
    { name: 'tmp', emptyDir: {} },
    { name: 'config', configMap: { name: 'kafka' } },
  ]
  const volumeMounts = [
    ...mounted.map((path, index) => ({ name: `machine-${index}`, mountPath: path, readOnly: true })),
    { name: 'data', mountPath: '/data' },
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'config', mountPath: '/config' },
  ]
  const container = {
    name,
    image: emptyImage,
    command: ['/bin/sh', '-c', script],
    resources: { requests: { cpu } },
    env: [
      { name: 'PATH', value: '/usr/bin:/bin' },
      { name: 'REGISTRY_DATASOURCE_URL', value: 'jdbc:h2:mem:registry' },
    ],
    volumeMounts,
    ports: [{ containerPort: port }],
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
  }
  const spec = { enableServiceLinks: false, automountServiceAccountToken: false, containers: [container], volumes }
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port, targetPort: port }] } },
  ]
}

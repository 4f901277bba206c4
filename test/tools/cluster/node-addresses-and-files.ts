import { join } from 'node:path'

/** The addresses of both ends of the cable (a veth pair) between this machine and the node. */
export const machineAddress = '10.90.0.2'
export const nodeAddress = '10.90.0.1'
/**
 * An address of this machine that network policies treat as public. RFC 5737 reserves it for
 * documentation.
 */
export const publicAddress = '203.0.113.1'
/** An address of this machine for clients that must not share `machineAddress` with the load. */
export const clientAddress = '10.90.0.3'
export const podAddresses = '10.244.0.0/16'
/** This image exists only in the node's store of images. The node and its pods pull no image. */
export const pauseImage = 'hookline.test/pause:1'

export interface NodePlace {
  /** An existing directory for all files of the node. */
  readonly directory: string
  readonly packages: string
}

/**
 * Returns the content of each configuration file, by name. The YAML files contain JSON, which is
 * valid YAML.
 */
export function nodeFiles({ directory, packages }: NodePlace): ReadonlyMap<string, string> {
  const file = (name: string): string => join(directory, name)
  return new Map([
    ['containerd.toml', containerdConfiguration(directory, packages)],
    ['cni/10-pods.conflist', JSON.stringify(podNetwork(file('addresses')))],
    ['resolv.conf', `nameserver ${machineAddress}\n`],
    ['kubelet.yaml', JSON.stringify(kubeletConfiguration(directory))],
    ['proxy.yaml', JSON.stringify(proxyConfiguration(file('proxy.conf')))],
  ])
}

const containerdConfiguration = (directory: string, packages: string): string => `
version = 2
root = "${directory}/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "${directory}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # In a container or virtual machine, root may lack CAP_SYS_RESOURCE, which is needed to lower the
  # OOM score of a process. runc then fails with "can't get final child's PID from pipe: EOF".
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${packages}/usr/lib/cni"
    conf_dir = "${directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "${packages}/usr/sbin/runc"
`

const podNetwork = (dataDir: string): object => ({
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'pods0',
      isDefaultGateway: true,
      hairpinMode: true,
      ipam: { type: 'host-local', dataDir, ranges: [[{ subnet: podAddresses }]] },
    },
  ],
})

const kubeletConfiguration = (directory: string): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: nodeAddress,
  // Only this machine and the pods reach the node, so the kubelet needs no authentication.
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  // This machine may have cgroup v1.
  failCgroupV1: false,
  failSwapOn: false,
  clusterDomain: 'cluster.local',
  clusterDNS: [machineAddress],
  resolvConf: join(directory, 'resolv.conf'),
  containerRuntimeEndpoint: `unix://${directory}/containerd.sock`,
  volumePluginDir: join(directory, 'plugins'),
  // The images (`imagefs`) are on a disk of this machine, which may be almost full.
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '1%' },
  // How long DiskPressure lasts after the disk has space again. The default of five minutes would
  // block new pods.
  evictionPressureTransitionPeriod: '15s',
  imageGCHighThresholdPercent: 100,
})

const proxyConfiguration = (kubeconfig: string): object => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'nftables',
  clientConnection: { kubeconfig },
  clusterCIDR: podAddresses,
  hostnameOverride: 'node',
  bindAddress: nodeAddress,
  metricsBindAddress: '127.0.0.1:10249',
  healthzBindAddress: '127.0.0.1:10256',
  // In the network namespace of the node, kube-proxy cannot set these limits. With 0, it does not
  // try.
  conntrack: { maxPerCore: 0, tcpCloseWaitTimeout: '0s', tcpEstablishedTimeout: '0s' },
})

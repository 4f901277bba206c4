import { counter, gauge, histogram } from './metric-spec-builders.ts'

const bytes = { unit: 'bytes', use: 'debug' } as const
const lag = { unit: 'seconds', use: 'debug' } as const
const resources = { unit: 'resources', use: 'debug' } as const
const space = { values: 'names of the V8 heap spaces', canOverflow: false } as const
const type = { values: 'resource types of Node', canOverflow: false } as const

/**
 * Metrics that prom-client provides about Node and the process. They are declared here for
 * `schemas/metrics.yaml`.
 */
export const runtimeMetrics = [
  counter('process_cpu_user_seconds_total', 'CPU time in user mode.', { unit: 'seconds', use: 'dashboard' }),
  counter('process_cpu_system_seconds_total', 'CPU time in the kernel.', { unit: 'seconds', use: 'dashboard' }),
  counter('process_cpu_seconds_total', 'CPU time in user mode and in the kernel.', { unit: 'seconds', use: 'debug' }),
  gauge('process_start_time_seconds', 'Start time of the process.', { unit: 'Unix time', use: 'alert' }),
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', { unit: 'bytes', use: 'dashboard' }),
  gauge('process_virtual_memory_bytes', 'Virtual memory of the process.', bytes),
  gauge('process_heap_bytes', 'Size of the data segment of the process.', bytes),
  gauge('process_open_fds', 'Open file descriptors.', { unit: 'descriptors', use: 'dashboard' }),
  gauge('process_max_fds', 'Maximum number of open file descriptors.', { unit: 'descriptors', use: 'dashboard' }),
  gauge(
    'nodejs_eventloop_lag_seconds',
    'Time for which one callback waited for the event loop. Measured once at each scrape.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_min_seconds',
    'Minimum delay of the event loop since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_max_seconds',
    'Maximum delay of the event loop since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_mean_seconds',
    'Mean delay of the event loop since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_stddev_seconds',
    'Standard deviation of the event loop delay since the previous scrape.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_p50_seconds',
    'Median of the event loop delay since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    {
      unit: 'seconds',
      use: 'dashboard',
    },
  ),
  gauge(
    'nodejs_eventloop_lag_p90_seconds',
    '90th percentile of the event loop delay since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    lag,
  ),
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    '99th percentile of the event loop delay since the previous scrape. The value includes the sampling interval of 0.05 seconds, so 0.05 means no delay.',
    {
      unit: 'seconds',
      use: 'alert',
    },
  ),
  gauge('nodejs_active_resources', 'Resources that keep the event loop alive, by type.', {
    ...resources,
    labels: { type },
  }),
  gauge('nodejs_active_resources_total', 'Total number of resources that keep the event loop alive.', resources),
  gauge('nodejs_active_handles', 'Open handles, by type.', { ...resources, labels: { type } }),
  gauge('nodejs_active_handles_total', 'Total number of open handles.', { unit: 'resources', use: 'dashboard' }),
  gauge('nodejs_active_requests', 'Active libuv requests, by type.', { ...resources, labels: { type } }),
  gauge('nodejs_active_requests_total', 'Total number of active libuv requests.', resources),
  gauge('nodejs_heap_size_total_bytes', 'Total size of the V8 heap.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_heap_size_used_bytes', 'Used size of the V8 heap.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the V8 heap.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_heap_space_size_total_bytes', 'Total size of a V8 heap space.', { ...bytes, labels: { space } }),
  gauge('nodejs_heap_space_size_used_bytes', 'Used size of a V8 heap space.', { ...bytes, labels: { space } }),
  gauge('nodejs_heap_space_size_available_bytes', 'Free size of a V8 heap space.', { ...bytes, labels: { space } }),
  gauge('nodejs_version_info', 'Always 1. The labels contain the version of Node.', {
    unit: 'state',
    use: 'debug',
    labels: {
      version: { values: 'the version of Node', canOverflow: false },
      major: { values: 'the major version', canOverflow: false },
      minor: { values: 'the minor version', canOverflow: false },
      patch: { values: 'the patch version', canOverflow: false },
    },
  }),
  histogram('nodejs_gc_duration_seconds', 'Pauses of the garbage collector, by kind.', {
    unit: 'seconds',
    use: 'dashboard',
    labels: { kind: ['major', 'minor', 'incremental', 'weakcb'] },
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
  }),
] as const

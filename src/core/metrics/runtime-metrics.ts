import { counter, gauge, histogram } from './spec.ts'

const bytes = { unit: 'bytes', use: 'debug' } as const
const lag = { unit: 'seconds', use: 'debug' } as const
const resources = { unit: 'resources', use: 'debug' } as const
const space = { values: 'spaces of V8’s heap', folds: false } as const
const type = { values: 'kinds of resource that Node names', folds: false } as const

/** What prom-client tells of Node and the process by itself: in the contract, so that rules and dashboards that use it are checked too. */
export const runtimeMetrics = [
  counter('process_cpu_user_seconds_total', 'CPU time in user mode.', { unit: 'seconds', use: 'dashboard' }),
  counter('process_cpu_system_seconds_total', 'CPU time in the kernel.', { unit: 'seconds', use: 'dashboard' }),
  counter('process_cpu_seconds_total', 'CPU time, user mode and kernel.', { unit: 'seconds', use: 'debug' }),
  gauge('process_start_time_seconds', 'When the process started.', { unit: 'Unix time', use: 'alert' }),
  gauge('process_resident_memory_bytes', 'Memory in RAM.', { unit: 'bytes', use: 'dashboard' }),
  gauge('process_virtual_memory_bytes', 'Address space in use.', bytes),
  gauge('process_heap_bytes', 'The data segment.', bytes),
  gauge('process_open_fds', 'Open file descriptors.', { unit: 'descriptors', use: 'dashboard' }),
  gauge('process_max_fds', 'File descriptors that may be open.', { unit: 'descriptors', use: 'dashboard' }),
  gauge('nodejs_eventloop_lag_seconds', 'How late a callback came, measured at the scrape.', lag),
  gauge('nodejs_eventloop_lag_min_seconds', 'Shortest delay of the event loop since the scrape before.', lag),
  gauge('nodejs_eventloop_lag_max_seconds', 'Longest delay of the event loop since the scrape before.', lag),
  gauge('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the scrape before.', lag),
  gauge('nodejs_eventloop_lag_stddev_seconds', 'Standard deviation of that delay.', lag),
  gauge('nodejs_eventloop_lag_p50_seconds', 'Median of that delay.', { unit: 'seconds', use: 'dashboard' }),
  gauge('nodejs_eventloop_lag_p90_seconds', '90th percentile of that delay.', lag),
  gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of that delay.', { unit: 'seconds', use: 'alert' }),
  gauge('nodejs_active_resources', 'What keeps the event loop alive, by type.', { ...resources, labels: { type } }),
  gauge('nodejs_active_resources_total', 'All that keeps the event loop alive.', resources),
  gauge('nodejs_active_handles', 'Open handles, by type.', { ...resources, labels: { type } }),
  gauge('nodejs_active_handles_total', 'All open handles.', { unit: 'resources', use: 'dashboard' }),
  gauge('nodejs_active_requests', 'Requests of libuv under way, by type.', { ...resources, labels: { type } }),
  gauge('nodejs_active_requests_total', 'All requests of libuv under way.', resources),
  gauge('nodejs_heap_size_total_bytes', 'V8’s heap.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_heap_size_used_bytes', 'What of V8’s heap is in use.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_external_memory_bytes', 'Buffers outside V8’s heap.', { unit: 'bytes', use: 'dashboard' }),
  gauge('nodejs_heap_space_size_total_bytes', 'A space of V8’s heap.', { ...bytes, labels: { space } }),
  gauge('nodejs_heap_space_size_used_bytes', 'What of it is in use.', { ...bytes, labels: { space } }),
  gauge('nodejs_heap_space_size_available_bytes', 'What of it is free.', { ...bytes, labels: { space } }),
  gauge('nodejs_version_info', 'Always 1; its labels say which Node runs.', {
    unit: 'state',
    use: 'debug',
    labels: {
      version: { values: 'the version of Node', folds: false },
      major: { values: 'its first number', folds: false },
      minor: { values: 'its second number', folds: false },
      patch: { values: 'its third number', folds: false },
    },
  }),
  histogram('nodejs_gc_duration_seconds', 'Pauses of the garbage collector.', {
    unit: 'seconds',
    use: 'dashboard',
    labels: { kind: ['major', 'minor', 'incremental', 'weakcb'] },
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
  }),
] as const

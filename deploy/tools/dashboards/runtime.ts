import { logLineColours } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { rateBy, secondsSince, selector } from './queries.ts'

const chosen = 'instance=~"$instance"'
const rateOf = (name: string): string => `rate(${selector(name, chosen)}[$__rate_interval])`

const load: Row = {
  title: 'Load',
  panels: [
    {
      title: 'CPU',
      description: 'CPU cores in use. A process uses at most one core, plus a little for its garbage collector.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: rateOf('process_cpu_user_seconds_total'), legend: '{{instance}} user' },
        { expr: rateOf('process_cpu_system_seconds_total'), legend: '{{instance}} system' },
      ],
      bad: { from: 1 },
    },
    {
      title: 'Event loop',
      description:
        'Delay of the event loop of each process. 50 ms (the sampling interval) means no delay. A 99th percentile above half a second is too high. After a delay of six seconds, Kafka assigns the partitions of the process to other processes.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        { expr: selector('nodejs_eventloop_lag_p50_seconds', chosen), legend: '{{instance}} p50' },
        { expr: selector('nodejs_eventloop_lag_p99_seconds', chosen), legend: '{{instance}} p99' },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Garbage collector',
      description:
        'Share of time that the process spends in pauses of the garbage collector. Above 10 %, the V8 heap is too small: give the process more memory.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      queries: [
        { expr: rateBy('instance, kind', 'nodejs_gc_duration_seconds_sum', chosen), legend: '{{instance}} {{kind}}' },
      ],
      bad: { from: 0.1 },
    },
    {
      title: 'Memory',
      description:
        'Resident memory of each process, which counts towards the container’s limit. If it never stops growing, the process has a memory leak.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('process_resident_memory_bytes', chosen), legend: '{{instance}}' }],
    },
    {
      title: 'Heap',
      description: 'V8 heap, used and reserved, and buffers outside of it.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [
        { expr: selector('nodejs_heap_size_used_bytes', chosen), legend: '{{instance}} used' },
        { expr: selector('nodejs_heap_size_total_bytes', chosen), legend: '{{instance}} reserved' },
        { expr: selector('nodejs_external_memory_bytes', chosen), legend: '{{instance}} buffers' },
      ],
    },
    {
      title: 'File descriptors',
      description: 'Open file descriptors as a share of their limit: connections to endpoints, senders and brokers.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      max: 1,
      queries: [
        {
          expr: `${selector('process_open_fds', chosen)} / ${selector('process_max_fds', chosen)}`,
          legend: '{{instance}}',
        },
      ],
      bad: { from: 0.8 },
    },
  ],
}

const state: Row = {
  title: 'Process state',
  panels: [
    {
      title: 'Versions',
      description: 'Number of processes with each version of Hookline and Node.',
      unit: 'none',
      as: 'table',
      width: 8,
      values: 'processes',
      queries: [{ expr: `count by (version, node) (${selector('hookline_build_info', chosen)})`, legend: '' }],
    },
    {
      title: 'Checks',
      description: '1 while a check of /livez or /readyz passes, 0 while it fails. Minimum of all processes.',
      unit: 'short',
      as: 'lines',
      width: 16,
      max: 1,
      queries: [
        { expr: `min by (probe, check) (${selector('hookline_check_ok', chosen)})`, legend: '{{probe}} {{check}}' },
      ],
    },
    {
      title: 'Uptime',
      description:
        'Time since the start of each process. Repeated drops to zero mean that the process crashes and restarts.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `${secondsSince('process_start_time_seconds', chosen)} and on (job, instance) ${selector('hookline_build_info', chosen)}`,
          legend: '{{instance}}',
        },
      ],
    },
    {
      title: 'Log lines',
      description: 'Log lines of the levels warn and error.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: logLineColours,
      queries: [{ expr: rateBy('level', 'hookline_log_lines_total', chosen), legend: '{{level}}' }],
    },
    {
      title: 'Open handles',
      description:
        'Open sockets, timers and other handles of Node. If the number never stops growing, the process has a leak.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('nodejs_active_handles_total', chosen), legend: '{{instance}}' }],
    },
    {
      title: 'Exposed series',
      description:
        'Time series with ids from the configuration as labels. From 6,000 series, a process counts new webhooks under the label value _other; from 8,000, also new destinations and sources. Lines that end in "folded": label combinations that a process began to count under _other.',
      unit: 'short',
      as: 'lines',
      width: 12,
      queries: [
        { expr: selector('hookline_metrics_series', chosen), legend: '{{instance}}' },
        {
          expr: `increase(${selector('hookline_metrics_series_folded_total', chosen)}[$__rate_interval])`,
          legend: '{{instance}} folded',
        },
      ],
      bad: { from: 8_000 },
    },
    {
      title: 'Clock offset',
      description:
        'Offset of the machine’s clock from the clock of the Kafka brokers. Hookline uses the brokers’ clock. Positive: the machine’s clock is ahead. 0: the clocks differ by less than half a second. An alert fires after five minutes above 30 s in either direction.',
      unit: 's',
      as: 'lines',
      width: 12,
      queries: [{ expr: selector('hookline_clock_offset_seconds', chosen), legend: '{{instance}}' }],
    },
  ],
}

export const runtime: Dashboard = {
  uid: 'hookline-runtime',
  title: 'Hookline: runtime',
  description: 'The processes: CPU, memory, event loop and checks.',
  variables: [...installation, { name: 'instance', label: 'Process', of: 'hookline_build_info' }],
  rows: [load, state],
}

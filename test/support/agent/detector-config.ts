/** Files of the problem detector for tests, in the format of node-problem-detector. */

type JsonObject = Readonly<Record<string, unknown>>;

export const DEADLOCK = {
  type: 'KernelDeadlock',
  reason: 'KernelHasNoDeadlock',
  message: 'kernel has no deadlock',
};
export const READ_ONLY = {
  type: 'ReadonlyFilesystem',
  reason: 'FilesystemIsNotReadOnly',
  message: 'not read-only',
};

const HUNG_PATTERN = 'task [\\S ]+:\\w+ blocked for more than \\w+ seconds\\.';

export const kernelMonitor: JsonObject = {
  plugin: 'kmsg',
  logPath: '/dev/kmsg',
  lookback: '5m',
  bufferSize: 10,
  source: 'kernel-monitor',
  metricsReporting: true,
  conditions: [DEADLOCK, READ_ONLY],
  rules: [
    { type: 'temporary', reason: 'TaskHung', pattern: HUNG_PATTERN },
    { type: 'temporary', reason: 'OOMKilling', pattern: 'Killed process \\d+ (.+) total-vm:\\d+kB.*' },
    {
      type: 'permanent',
      condition: 'KernelDeadlock',
      reason: 'DockerHung',
      pattern: 'task docker:\\w+ blocked for more than \\w+ seconds\\.',
    },
    {
      type: 'permanent',
      condition: 'ReadonlyFilesystem',
      reason: 'FilesystemIsReadOnly',
      pattern: 'Remounting filesystem read-only',
    },
    { type: 'temporary', reason: 'KernelOops', pattern: 'BUG: (?s:.*)\\nCall Trace:' },
  ],
};

export const fileMonitor: JsonObject = {
  plugin: 'filelog',
  pluginConfig: {
    timestamp: '^.{15}',
    message: 'kernel: \\[.*\\] (.*)',
    timestampFormat: 'Jan _2 15:04:05',
  },
  logPath: '/var/log/kern.log',
  source: 'file-monitor',
  conditions: [{ type: 'FileProblem', reason: 'NoFileProblem', message: 'no problem in the file' }],
  rules: [{ type: 'permanent', condition: 'FileProblem', reason: 'BadLine', pattern: 'bad line \\d+' }],
};

export const journalMonitor: JsonObject = {
  plugin: 'journald',
  pluginConfig: { source: 'kernel' },
  logPath: '/var/log/journal',
  source: 'hung-task-monitor',
  conditions: [{ type: 'FrequentTaskHung', reason: 'NoFrequentTaskHung', message: 'no task is hung' }],
  rules: [{ type: 'permanent', condition: 'FrequentTaskHung', reason: 'TaskHung', pattern: HUNG_PATTERN }],
};

export const pluginMonitor: JsonObject = {
  plugin: 'custom',
  pluginConfig: { invoke_interval: '30s', timeout: '20s', max_output_length: 80, concurrency: 2 },
  source: 'ntp-monitor',
  conditions: [{ type: 'NTPProblem', reason: 'NTPIsUp', message: 'ntp service is up' }],
  rules: [
    {
      type: 'permanent',
      condition: 'NTPProblem',
      reason: 'NTPIsDown',
      path: '/opt/check-ntp',
      timeout: '3s',
    },
    { type: 'temporary', reason: 'NTPIsSlow', path: '/opt/check-ntp', args: ['--slow'] },
  ],
};

/** Each way in which the files that node-problem-detector ships differ from each other. */
export const SHIPPED_SHAPES: readonly JsonObject[] = [
  {
    plugin: 'journald',
    pluginConfig: { source: 'crash-reporter' },
    logPath: '/var/log/journal',
    lookback: '5m',
    bufferSize: 10,
    source: 'crash-adaptor',
    conditions: [],
    rules: [{ type: 'temporary', reason: 'Crash', pattern: 'Program \\S+ \\(\\d+\\) crashed.*' }],
  },
  {
    plugin: 'filelog',
    pluginConfig: {
      timestamp: '^time="(\\S*)"',
      message: 'msg="([^\n]*)"',
      timestampFormat: '2006-01-02T15:04:05.999999999-07:00',
    },
    logPath: '/var/log/runtime.log',
    lookback: '5m',
    bufferSize: 10,
    source: 'runtime-monitor',
    conditions: [],
    rules: [],
  },
  {
    plugin: 'filelog',
    pluginConfig: {
      timestamp: '^.{15}',
      message: '(?i)bad.*blocks|(?i)unreadable blocks',
      timestampFormat: 'Jan _2 15:04:05',
    },
    logPath: '/var/log/messages',
    lookback: '10h',
    bufferSize: 1,
    source: 'disk-monitor',
    skipList: [' audit:', ' audit['],
    conditions: [{ type: 'DiskBadBlock', reason: 'DiskBadBlock', message: 'no bad block' }],
    rules: [
      {
        type: 'permanent',
        condition: 'DiskBadBlock',
        reason: 'DiskBadBlock',
        pattern: '.*([1-9]\\d{2,}) (bad.*blocks|unreadable blocks).*',
      },
    ],
  },
  healthChecker('Kubelet', ['--component=kubelet', '--enable-repair=false', '--cooldown-time=1m']),
  healthChecker('Runtime', [
    '--component=cri',
    '--enable-repair=false',
    '--pattern=Started (runtime|runtime.service).',
  ]),
  {
    plugin: 'custom',
    pluginConfig: { invoke_interval: '86400s', timeout: '5s', max_output_length: 80, concurrency: 1 },
    source: 'mode-monitor',
    metricsReporting: true,
    conditions: [],
    rules: [{ type: 'temporary', reason: 'ModeMismatch', path: '/opt/check-mode.sh', timeout: '5s' }],
  },
];

function healthChecker(name: string, args: readonly string[]): JsonObject {
  const condition = `${name}Unhealthy`;
  return {
    plugin: 'custom',
    pluginConfig: { invoke_interval: '10s', timeout: '3m', max_output_length: 80, concurrency: 1 },
    source: 'health-checker',
    metricsReporting: true,
    conditions: [{ type: condition, reason: `${name}IsHealthy`, message: `${name} works` }],
    rules: [
      { type: 'permanent', condition, reason: condition, path: '/opt/health-checker', args, timeout: '3m' },
    ],
  };
}

export function configFile(
  name: string,
  value: unknown,
): { readonly name: string; readonly content: string } {
  return { name, content: JSON.stringify(value) };
}

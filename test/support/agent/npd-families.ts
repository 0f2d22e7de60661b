/**
 * The families of files that node-problem-detector ships, each with the fields and the kinds of values of its family, in our own
 * words: what the agent makes of a file of that family.
 */
import { DEADLOCK, fileMonitor, kernelMonitor, READ_ONLY } from './detector-config.ts';

interface ShippedFile {
  readonly file: unknown;
  /** `kind source conditions rules` of the monitor, or why there is none. */
  readonly expected: string;
}

const NO_MONITOR =
  'plugin: missing: only files of the system log monitor and of the custom plug-in monitor are read, not those of metrics';
const NO_REPAIR =
  'args: the detector never repairs, as each repair needs a grant: pass --enable-repair=false, and use a NodeRemedier';

export const SHIPPED_FAMILIES: Readonly<Record<string, ShippedFile>> = {
  'crash-reporter': {
    file: journal('crash-reporter', 'crash-adaptor', [
      { type: 'temporary', reason: 'Crashed', pattern: 'Program \\S+ \\(\\d+\\) crashed.*' },
      { type: 'temporary', reason: 'KernelOops', pattern: 'System encountered .*\\((?:\\d+)\\).*' },
    ]),
    expected: 'Log crash-adaptor conditions=0 rules=2',
  },
  'kernel-monitor': { file: kernelMonitor, expected: 'Log kernel-monitor conditions=2 rules=5' },
  'kernel-monitor-filelog': {
    file: {
      ...fileMonitor,
      source: 'kernel-monitor',
      conditions: [DEADLOCK, READ_ONLY],
      rules: kernelMonitor['rules'],
    },
    expected: 'Log kernel-monitor conditions=2 rules=5',
  },
  'kernel-monitor-counter': {
    file: counter('kernel-monitor', ['FrequentWait']),
    expected: 'Plugin kernel-monitor conditions=1 rules=1',
  },
  'readonly-monitor': {
    file: {
      ...kernelMonitor,
      source: 'readonly-monitor',
      conditions: [READ_ONLY],
      rules: [
        {
          type: 'permanent',
          condition: READ_ONLY.type,
          reason: 'FilesystemIsReadOnly',
          pattern: 'read-only',
        },
      ],
    },
    expected: 'Log readonly-monitor conditions=1 rules=1',
  },
  'disk-log-message': {
    file: {
      ...fileMonitor,
      bufferSize: 0,
      lookback: '10h',
      source: 'disk-monitor',
      skipList: [' audit:', ' audit['],
      conditions: [{ type: 'DiskBadBlock', reason: 'DiskBadBlock', message: 'no bad block' }],
      rules: [
        {
          type: 'permanent',
          condition: 'DiskBadBlock',
          reason: 'DiskBadBlock',
          pattern: '.*([1-9]\\d{2,}) (bad.*blocks|unreadable blocks).*',
          patternGeneratedMessageSuffix: 'replace the disk',
        },
      ],
    },
    expected: 'Log disk-monitor conditions=1 rules=1',
  },
  'runtime-monitor': {
    file: journal('containerd', 'containerd', [
      { type: 'temporary', reason: 'MissingProgram', pattern: 'unpack program not found.*' },
    ]),
    expected: 'Log containerd conditions=0 rules=1',
  },
  'systemd-monitor': {
    file: journal('systemd', 'systemd-monitor', [
      { type: 'temporary', reason: 'KubeletStart', pattern: 'Started (?:The kubelet|kubelet\\.service)\\.' },
    ]),
    expected: 'Log systemd-monitor conditions=0 rules=1',
  },
  'systemd-monitor-counter': {
    file: counter('systemd-monitor', ['FrequentKubeletRestart', 'FrequentRuntimeRestart']),
    expected: 'Plugin systemd-monitor conditions=2 rules=2',
  },
  'network-problem-monitor': {
    file: plugins(
      'network-monitor',
      [],
      [
        { type: 'temporary', reason: 'ConntrackFull', path: '/opt/npd/check-conntrack.sh', timeout: '3s' },
        { type: 'temporary', reason: 'NoResolver', path: '/opt/npd/check-dns.sh', args: ['a', 'b'] },
      ],
    ),
    expected: 'Plugin network-monitor conditions=0 rules=2',
  },
  'health-checker': {
    file: healthChecker('/opt/npd/health-checker', false),
    expected: 'Plugin health-checker conditions=1 rules=1',
  },
  'health-checker-that-repairs': {
    file: healthChecker('/opt/npd/health-checker', true),
    expected: `health-checker-that-repairs.json: rules[0] (KubeletUnhealthy).${NO_REPAIR}`,
  },
  'plugin-of-the-image': {
    file: plugins(
      'ntp-monitor',
      [],
      [{ type: 'temporary', reason: 'NtpIsDown', path: './config/plugin/check_ntp.sh' }],
    ),
    expected:
      'plugin-of-the-image.json: rules[0] (NtpIsDown).path: expected an absolute path, got "./config/plugin/check_ntp.sh"',
  },
  'windows-runtime-monitor': {
    file: { ...fileMonitor, logPath: 'C:\\logs\\runtime.log' },
    expected:
      'windows-runtime-monitor.json: logPath: "C:\\\\logs\\\\runtime.log" is a path of Windows: use a file for Linux',
  },
  'windows-health-checker': {
    file: healthChecker('C:\\npd\\health-checker.exe', true),
    expected:
      'windows-health-checker.json: rules[0] (KubeletUnhealthy).path: "C:\\\\npd\\\\health-checker.exe" is a path of Windows: use a file for Linux',
  },
  'windows-plugin': {
    file: plugins(
      'defender',
      [],
      [{ type: 'temporary', reason: 'Threat', path: './config/plugin/check_threats.ps1' }],
    ),
    expected:
      'windows-plugin.json: rules[0] (Threat).path: "./config/plugin/check_threats.ps1" is a path of Windows: use a file for Linux',
  },
  'system-stats-monitor': {
    file: { cpu: { metricsConfigs: { 'cpu/load_1m': { displayName: 'load' } } }, invokeInterval: '60s' },
    expected: `system-stats-monitor.json: ${NO_MONITOR}`,
  },
  'stackdriver-exporter': {
    file: { apiEndpoint: 'metrics.example:443', exportPeriod: '60s' },
    expected: `stackdriver-exporter.json: ${NO_MONITOR}`,
  },
  'known-modules': {
    file: Array.from({ length: 40 }, () => ({ moduleName: 'ab' })),
    // Not all of it: an Event has no place for more.
    expected: `known-modules.json: expected an object, got [${'{"moduleName":"ab"},'.repeat(5).slice(0, 99)}…`,
  },
};

function journal(identifier: string, source: string, rules: readonly object[]): object {
  return {
    plugin: 'journald',
    pluginConfig: { source: identifier },
    logPath: '/var/log/journal',
    lookback: '5m',
    bufferSize: 10,
    source,
    conditions: [],
    rules,
  };
}

function plugins(source: string, conditions: readonly object[], rules: readonly object[]): object {
  const pluginConfig = { invoke_interval: '30s', timeout: '3m', max_output_length: 80, concurrency: 3 };
  return { plugin: 'custom', pluginConfig, source, metricsReporting: true, conditions, rules };
}

function counter(source: string, types: readonly string[]): object {
  const args = [
    '--journald-source=systemd',
    '--lookback=20m',
    '--delay=5m',
    '--count=5',
    '--pattern=Started (a|b).',
  ];
  return plugins(
    source,
    types.map((type) => ({ type, reason: `No${type}`, message: 'works' })),
    types.map((type) => ({
      type: 'permanent',
      condition: type,
      reason: type,
      path: '/opt/npd/log-counter',
      args,
    })),
  );
}

function healthChecker(path: string, repairs: boolean): object {
  const condition = 'KubeletUnhealthy';
  const args = ['--component=kubelet', `--enable-repair=${repairs}`, '--cooldown-time=1m'];
  return plugins(
    'health-checker',
    [{ type: condition, reason: 'KubeletIsHealthy', message: 'works' }],
    [{ type: 'permanent', condition, reason: condition, path, args, timeout: '3m' }],
  );
}

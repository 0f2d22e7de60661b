import { describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../../src/agent/detector/config/log-monitor.ts';
import {
  DEADLOCK,
  fileMonitor,
  journalMonitor,
  kernelMonitor,
} from '../../../support/agent/detector-config.ts';

const [firstRule] = kernelMonitor['rules'] as readonly object[];

describe('log monitor', () => {
  it('reads all fields', () => {
    const monitor = readLogMonitor({ ...kernelMonitor, delay: '1m', skipList: ['audit'] }, 'kernel.json');
    expect(monitor).toMatchObject({
      file: 'kernel.json',
      source: 'kernel-monitor',
      input: { plugin: 'kmsg' },
      lookbackMs: 300_000,
      delayMs: 60_000,
      bufferSize: 10,
      skipList: ['audit'],
    });
    expect(monitor.rules.map(({ reason, condition }) => [reason, condition])).toEqual([
      ['TaskHung', undefined],
      ['OOMKilling', undefined],
      ['DockerHung', 'KernelDeadlock'],
      ['FilesystemIsReadOnly', 'ReadonlyFilesystem'],
      ['KernelOops', undefined],
    ]);
  });

  it('takes a buffer of 0 lines for one that is not set, as node-problem-detector does', () => {
    expect(readLogMonitor({ ...kernelMonitor, bufferSize: 0 }, '').bufferSize).toBe(10);
  });

  it('reads where the lines come from', () => {
    expect(readLogMonitor(journalMonitor, '').input).toEqual({
      plugin: 'journald',
      identifier: 'kernel',
      directory: '/var/log/journal',
    });
    expect(readLogMonitor(fileMonitor, '').input).toMatchObject({
      plugin: 'filelog',
      path: '/var/log/kern.log',
    });
    expect(readLogMonitor(fileMonitor, '')).toMatchObject({ bufferSize: 10, lookbackMs: 0, delayMs: 0 });
  });

  it.each([
    [{ plugin: 'syslog' }, 'plugin: expected kmsg, journald, filelog or custom, got "syslog"'],
    [{ bufersize: 3 }, 'unknown field bufersize'],
    [{ bufferSize: -1 }, 'bufferSize: expected an integer from 0 to 1000, got -1'],
    [{ bufferSize: 1001 }, 'bufferSize: expected an integer from 0 to 1000, got 1001'],
    [
      { logPath: 'C:\\k\\kubelet.log', plugin: 'journald', pluginConfig: { source: 'kernel' } },
      'logPath: "C:\\\\k\\\\kubelet.log" is a path of Windows: use a file for Linux',
    ],
    [{ lookback: 'five' }, 'lookback: expected a duration such as 5m, got "five"'],
    [{ source: '' }, 'source: required, but it is missing or empty'],
    [
      { logPath: 'kmsg', plugin: 'journald', pluginConfig: { source: 'kernel' } },
      'logPath: expected an absolute path',
    ],
    [{ plugin: 'journald', pluginConfig: {} }, 'pluginConfig.source: required'],
    [{ pluginConfig: { source: 'kernel' } }, 'pluginConfig: unknown field source'],
    [
      { conditions: [{ ...DEADLOCK, type: 'Ready' }] },
      'conditions[0].type: Ready is a condition of the kubelet',
    ],
    [{ conditions: [DEADLOCK, DEADLOCK] }, 'conditions: the type KernelDeadlock is there twice'],
    [
      { rules: [{ ...firstRule, pattern: 'a(?=b)' }] },
      'rules[0] (TaskHung).pattern: invalid or unsupported Perl syntax',
    ],
    [{ rules: [{ ...firstRule, pattern: 'a\\' }] }, 'rules[0] (TaskHung).pattern: trailing backslash'],
    [
      { rules: [{ ...firstRule, type: 'fatal' }] },
      'rules[0] (TaskHung).type: expected temporary or permanent, got "fatal"',
    ],
    [
      { rules: [{ ...firstRule, type: 'permanent', condition: 'Other' }] },
      'Other is not in the list of conditions',
    ],
    [{ rules: [{ ...firstRule, taintEnabled: true }] }, 'taintEnabled is not supported'],
    [{ rules: [{ ...firstRule, reason: 'R'.repeat(129) }] }, 'longer than 128 characters'],
    [{ rules: ['TaskHung'] }, 'rules[0]: expected an object, got "TaskHung"'],
  ])('refuses %j', (change, problem) => {
    expect(() => readLogMonitor({ ...kernelMonitor, ...change }, 'kernel.json')).toThrow(problem);
  });

  it('needs all that is asked of a file', () => {
    const config = fileMonitor['pluginConfig'] as object;
    const missing = { ...fileMonitor, pluginConfig: { ...config, timestampFormat: '' } };
    const wrong = { ...fileMonitor, pluginConfig: { ...config, timestampFormat: '%b' } };
    expect(() => readLogMonitor(missing, '')).toThrow('pluginConfig.timestampFormat: required');
    expect(() => readLogMonitor(wrong, '')).toThrow('pluginConfig.timestampFormat: "%b" has no part');
    expect(() => readLogMonitor({ ...fileMonitor, logPath: '' }, '')).toThrow('logPath: required');
  });
});

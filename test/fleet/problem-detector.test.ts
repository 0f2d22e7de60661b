/** What the shipped configuration of the problem detector makes of lines of real kernels and of systemd. */
import { describe, expect, it } from 'vitest';
import { problemDetector } from '../../fleet/components/problem-detector.ts';
import { loadDetectorConfig } from '../../src/agent/detector/config/load.ts';
import {
  addEvidence,
  type Evidence,
  judgeLog,
  temporaryEvent,
} from '../../src/agent/detector/match/evidence.ts';
import { LogBuffer } from '../../src/agent/detector/match/log-buffer.ts';
import { NOW } from '../support/virtual-clock.ts';

const files = (problemDetector.files ?? []).map(({ path, content }) => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  content: content ?? '',
}));
const { monitors, problems } = loadDetectorConfig(files);

const HUNG = 'INFO: task kworker/u8:2:4711 blocked for more than 120 seconds.';
const KUBELET = 'kubelet.service: Scheduled restart job, restart counter is at 3.';
const RUNTIME = 'containerd.service: Scheduled restart job, restart counter is at 12.';

describe('the shipped configuration of the problem detector', () => {
  it('loads without a problem', () => {
    expect(problems).toEqual([]);
    expect(monitors.map(({ source }) => source)).toEqual(['kernel-monitor', 'systemd-monitor']);
  });

  it.each<[string, string, string[], string[]]>([
    ['any task that hangs three times', 'kernel-monitor', [HUNG, HUNG, HUNG], ['FrequentTaskHung TaskHung']],
    ['docker as any other task', 'kernel-monitor', dockers(3), ['FrequentTaskHung TaskHung']],
    ['not one task that hung twice', 'kernel-monitor', [HUNG, HUNG], []],
    [
      'a remount of ext4',
      'kernel-monitor',
      ['EXT4-fs (sda1): Remounting filesystem read-only'],
      ['ReadonlyFilesystem FilesystemIsReadOnly'],
    ],
    [
      'a forced one of btrfs',
      'kernel-monitor',
      ['BTRFS info (device sda1: state EA): forced readonly'],
      ['ReadonlyFilesystem FilesystemIsReadOnly'],
    ],
    [
      'a shutdown of XFS',
      'kernel-monitor',
      [
        'XFS (dm-0): Corruption of in-memory data (0x8) detected at xfs_trans_cancel.  Shutting down filesystem.',
      ],
      ['ReadonlyFilesystem FilesystemIsShutDown'],
    ],
    [
      'five restarts of the kubelet',
      'systemd-monitor',
      times(5, KUBELET),
      ['FrequentKubeletRestart KubeletRestarts'],
    ],
    ['not four', 'systemd-monitor', times(4, KUBELET), []],
    [
      'five restarts of the container runtime',
      'systemd-monitor',
      times(5, RUNTIME),
      ['FrequentContainerRuntimeRestart ContainerRuntimeRestarts'],
    ],
    [
      'not those of other services',
      'systemd-monitor',
      times(5, KUBELET.replace('kubelet', 'my-kubelet-proxy')),
      [],
    ],
  ])('raises a condition for %s', (_, source, lines, conditions) => {
    expect(play(source, lines).conditions).toEqual(conditions);
  });

  it.each([
    [
      'kernel-monitor',
      'Killed process 1012 (java) total-vm:32kB, anon-rss:3kB, file-rss:1kB, shmem-rss:0kB',
      'OOMKilling',
    ],
    ['kernel-monitor', 'BUG: kernel NULL pointer dereference, address: 0000000000000008', 'KernelOops'],
    ['kernel-monitor', 'watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [stress:1]', 'SoftLockup'],
    [
      'kernel-monitor',
      'I/O error, dev sdb, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2',
      'IOError',
    ],
    ['kernel-monitor', 'EXT4-fs error (device sda1): ext4_lookup:1855: inode #2: comm ls', 'Ext4Error'],
    ['systemd-monitor', "kubelet.service: Failed with result 'exit-code'.", 'KubeletFailed'],
    ['systemd-monitor', "crio.service: Failed with result 'signal'.", 'ContainerRuntimeFailed'],
  ])('makes an Event of a line of %s: %s', (source, line, reason) => {
    expect(play(source, [line])).toEqual({ conditions: [], events: [reason] });
  });
});

/** One line a second. */
function play(source: string, lines: readonly string[]): { conditions: string[]; events: string[] } {
  const monitor = monitors.find((each) => each.source === source);
  if (monitor?.kind !== 'Log') throw new Error(`no log monitor ${source}`);
  const buffer = new LogBuffer(monitor.bufferSize);
  let evidence: readonly Evidence[] = [];
  const events: string[] = [];
  for (const [second, message] of lines.entries()) {
    buffer.push({ time: new Date(NOW.getTime() + second * 1000), message });
    for (const rule of monitor.rules) {
      const found = buffer.match(rule.pattern);
      const [first, ...more] = found === 'TooLong' ? [] : found;
      if (!first) continue;
      const match = { rule, lines: [first, ...more] } as const;
      evidence = addEvidence(evidence, match);
      events.push(...[temporaryEvent(match) ?? []].flat().map(({ reason }) => reason));
    }
  }
  const now = new Date(NOW.getTime() + lines.length * 1000);
  const { conditions } = judgeLog({ monitor, evidence, before: [], now });
  const raised = conditions.filter(({ status }) => status === 'True');
  return { conditions: raised.map(({ type, reason }) => `${type} ${reason}`), events };
}

function times(count: number, line: string): string[] {
  return Array.from({ length: count }, () => line);
}

function dockers(count: number): string[] {
  return times(count, 'INFO: task docker:1234 blocked for more than 241 seconds.');
}

/** What the shipped configuration of the problem detector makes of lines of real kernels and of systemd. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemDetector } from '../../fleet/components/problem-detector.ts';
import { CHECK_CLOCK } from '../../fleet/components/problem-detector-files.ts';
import { loadDetectorConfig } from '../../src/agent/detector/config/load.ts';
import {
  addEvidence,
  type Evidence,
  judgeLog,
  temporaryEvent,
} from '../../src/agent/detector/match/evidence.ts';
import { LogBuffer } from '../../src/agent/detector/match/log-buffer.ts';
import { tempFolder } from '../support/temp.ts';
import { NOW } from '../support/virtual-clock.ts';

const files = (problemDetector.files ?? []).map(({ path, content }) => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  content: content ?? '',
}));
const { monitors, problems } = loadDetectorConfig(files.filter(({ name }) => name.endsWith('.json')));

const HUNG = 'INFO: task kworker/u8:2:4711 blocked for more than 120 seconds.';
const KUBELET = 'kubelet.service: Scheduled restart job, restart counter is at 3.';
const RUNTIME = 'containerd.service: Scheduled restart job, restart counter is at 12.';

const OOM =
  'Out of memory: Killed process 4711 (node) total-vm:989104kB, anon-rss:511232kB, file-rss:4kB, shmem-rss:0kB, UID:1000 pgtables:2212kB oom_score_adj:993';
const OLD_OOM = 'Out of memory: Kill process 8314 (java) score 974 or sacrifice child';
const CGROUP_OOM =
  'Memory cgroup out of memory: Killed process 23 (my app) total-vm:9kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:48kB oom_score_adj:-997';
const OLD_CGROUP_OOM = 'Memory cgroup out of memory: Kill process 23 (java) score 1974 or sacrifice child';
const CONNTRACK = 'nf_conntrack: nf_conntrack: table full, dropping packet';

describe('the shipped configuration of the problem detector', () => {
  it('loads without a problem', () => {
    expect(problems).toEqual([]);
    expect(monitors.map(({ source }) => source)).toEqual([
      'kernel-monitor',
      'systemd-monitor',
      'clock-monitor',
    ]);
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
      'five processes that a kernel of 6.1 ended',
      'kernel-monitor',
      times(5, OOM),
      ['FrequentSystemOOM SystemOOM'],
    ],
    [
      'five processes that a kernel of 4.18 ended',
      'kernel-monitor',
      times(5, OLD_OOM),
      ['FrequentSystemOOM SystemOOM'],
    ],
    ['not four', 'kernel-monitor', times(4, OOM), []],
    ['not those of one control group', 'kernel-monitor', times(9, CGROUP_OOM), []],
    ['not those of one control group before 5.1', 'kernel-monitor', times(9, OLD_CGROUP_OOM), []],
    ['three dropped packets', 'kernel-monitor', times(3, CONNTRACK), ['ConntrackFull ConntrackTableFull']],
    [
      'three dropped packets of a kernel of 3.10, and of a network namespace',
      'kernel-monitor',
      [
        CONNTRACK.replace('nf_conntrack: nf', 'nf'),
        CONNTRACK.replace('full', 'full in netns 4026531840'),
        `${CONNTRACK}.`,
      ],
      ['ConntrackFull ConntrackTableFull'],
    ],
    ['not two', 'kernel-monitor', times(2, CONNTRACK), []],
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

describe('the check of the clock', () => {
  it.each<[string, string | undefined, number]>([
    ['a clock that is synchronized', 'echo yes', 0],
    ['a clock that is not', 'echo no', 1],
    ['a host without D-Bus', 'echo "Failed to connect to bus" >&2; exit 1', 2],
    ['a timedatectl without the property', 'echo', 2],
    ['a timedatectl that answers something else', 'echo maybe', 2],
    ['a host without timedatectl', undefined, 2],
  ])('answers about %s', (_, timedatectl, code) => {
    const folder = tempFolder('clock');
    const program = join(folder, 'timedatectl');
    if (timedatectl !== undefined) writeFileSync(program, `#!/bin/sh\n${timedatectl}\n`, { mode: 0o755 });
    const { status, stdout } = spawnSync('/bin/sh', ['-c', CHECK_CLOCK], {
      env: { PATH: folder },
      encoding: 'utf8',
    });
    expect([status, stdout.trim() !== '']).toEqual([code, true]);
  });

  it('is a program that the file of the monitor names', () => {
    const path = '/etc/kubenode/detector/check-clock';
    const monitor = monitors.find(({ source }) => source === 'clock-monitor');
    expect(monitor?.kind === 'Plugin' && monitor.rules.map((rule) => rule.path)).toEqual([path]);
    expect((problemDetector.files ?? []).find((file) => file.path === path)).toMatchObject({
      mode: '0755',
      content: CHECK_CLOCK,
    });
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

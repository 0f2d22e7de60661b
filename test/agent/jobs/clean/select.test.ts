import { describe, expect, it } from 'vitest';
import type { FileStat } from '../../../../src/agent/host/port.ts';
import { type FileTarget, keepReason, withinLimit } from '../../../../src/agent/jobs/clean/select.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

function stat(fields: Partial<FileStat> = {}): FileStat {
  const modifiedAt = new Date(NOW.getTime() - HOUR_MS);
  const usual = { mode: '0644', owner: 'root:root', sizeBytes: 10, revision: '1', names: 1, inode: '8-1' };
  return { type: 'File', ...usual, modifiedAt, ...fields };
}

function at(hours: number): Date {
  return new Date(NOW.getTime() - hours * HOUR_MS);
}

function explain(name: string, target: FileTarget = 'rotatedLogs', fields: Partial<FileStat> = {}): string {
  const options = { target, minAgeSeconds: undefined, openInodes: new Set(['8-7']), now: NOW };
  return keepReason({ path: `/var/log/${name}`, stat: stat(fields) }, options) ?? 'delete';
}

describe('what CleanDisk may delete', () => {
  it.each([
    'syslog.1',
    'syslog.2.gz',
    'app.log.old',
    'app.log-20260101',
    'app.log-20260101.gz',
    '0.log.20260101-101010',
    '0.log.20260101-101010.gz',
    'wtmp.1',
    'boot.log.zst',
  ])('is the rotated log %s', (name) => {
    expect(explain(name)).toBe('delete');
  });

  it.each(['syslog', 'app.log', 'system.journal', 'system@0005.journal', 'lastlog', 'data.db', '.gz', 'old'])(
    'is not %s, which may be in use',
    (name) => {
      expect(explain(name)).toBe('another name');
    },
  );

  it.each(['core.1234', 'core.systemd.0.abc.zst', 'app.core', 'crash.dmp'])('is the core dump %s', (name) => {
    expect(explain(name, 'coreDumps')).toBe('delete');
  });

  it.each(['core', 'corefile', 'app.log', 'syslog.1'])('is not the core dump %s', (name) => {
    expect(explain(name, 'coreDumps')).toBe('another name');
  });

  it.each<[string, Partial<FileStat>, string]>([
    ['a link', { type: 'Link', target: '/etc/shadow' }, 'not a file'],
    ['a directory', { type: 'Directory' }, 'not a file'],
    ['a device', { type: 'Other' }, 'not a file'],
    ['a file with a hard link', { names: 2 }, 'it has other names'],
    ['an open file', { inode: '8-7' }, 'it is open'],
    [
      'a file that was written a moment ago',
      { modifiedAt: new Date(NOW.getTime() - 60_000) },
      'it is too young',
    ],
    ['a file of the future', { modifiedAt: new Date(NOW.getTime() + HOUR_MS) }, 'it is too young'],
  ])('R38 never deletes %s, whatever its name', (_, fields, expected) => {
    expect(explain('syslog.1', 'rotatedLogs', fields)).toBe(expected);
  });

  it('keeps the minimum age that the step asks for', () => {
    const options = { target: 'rotatedLogs', openInodes: new Set<string>(), now: NOW } as const;
    const file = { path: '/var/log/syslog.1', stat: stat() };
    expect(keepReason(file, { ...options, minAgeSeconds: 3600 })).toBeUndefined();
    expect(keepReason(file, { ...options, minAgeSeconds: 3601 })).toBe('it is too young');
  });

  it('takes the oldest files first, and no more bytes than allowed', () => {
    const files = [
      { path: '/a', stat: stat({ modifiedAt: at(1), sizeBytes: 5 }) },
      { path: '/b', stat: stat({ modifiedAt: at(3), sizeBytes: 6 }) },
      { path: '/c', stat: stat({ modifiedAt: at(2), sizeBytes: 50 }) },
    ];
    expect(withinLimit(files, 11).map(({ path }) => path)).toEqual(['/b', '/a']);
    expect(withinLimit(files, 5).map(({ path }) => path)).toEqual(['/a']);
    expect(withinLimit(files, 1000).map(({ path }) => path)).toEqual(['/b', '/c', '/a']);
  });
});

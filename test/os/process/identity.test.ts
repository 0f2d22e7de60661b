import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  isRunning,
  isSameProcess,
  isSuspended,
  parseStat,
  readProcessIdentity,
} from '../../../src/os/process/identity.ts';
import { tempFolder } from '../../support/temp.ts';

describe('readProcessIdentity', () => {
  it('identifies this process, with the same result each time', async () => {
    const first = await readProcessIdentity(process.pid);
    const second = await readProcessIdentity(process.pid);
    expect(first).toEqual(second);
    expect(first?.pid).toBe(process.pid);
    expect(first?.command[0]).toContain('node');
  });

  it('returns undefined for an unused pid', async () => {
    expect(await readProcessIdentity(2 ** 22 + 1)).toBeUndefined();
  });

  it('returns undefined for a process that ended', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    expect(await readProcessIdentity(child.pid ?? 0)).toBeUndefined();
  });

  it('tells a process that a signal has stopped from one that runs, is traced or has ended', async () => {
    const stopped = async (state: string): Promise<boolean> =>
      await isSuspended(7, fakeProc({ pid: 7, stat: statOf(state) }));
    expect(await Promise.all(['T', 't', 'S', 'R', 'D', 'Z'].map(stopped))).toEqual([
      true,
      ...Array.from({ length: 5 }, () => false),
    ]);
    expect(await isSuspended(8, fakeProc({ pid: 7, stat: statOf('T') }))).toBe(false);
  });

  it('treats a zombie as ended, because it holds no port and no file', async () => {
    const proc = fakeProc({ pid: 7, stat: statOf('Z') });
    expect(await readProcessIdentity(7, proc)).toBeUndefined();
  });

  it('treats a zombie whose other threads still exit as running, because they hold its ports', async () => {
    const proc = fakeProc({ pid: 7, stat: statOf('Z', 2) });
    expect(await readProcessIdentity(7, proc)).toMatchObject({ pid: 7, startTicks: '555' });
  });

  it('fails with a hint when /proc is not mounted', async () => {
    const file = join(tempFolder('proc'), 'a-file');
    writeFileSync(file, '');
    await expect(readProcessIdentity(7, file)).rejects.toMatchObject({ code: 'Unsupported' });
  });
});

describe('isRunning', () => {
  it.each<[string, string, Partial<Parameters<typeof isRunning>[0]>, boolean]>([
    ['runs', statOf('S'), {}, true],
    ['is a zombie', statOf('Z'), {}, false],
    ['is a zombie whose other threads still exit', statOf('Z', 12), {}, true],
    ['is dead', statOf('X', 2), {}, false],
    ['has the pid of an earlier one', statOf('S'), { startTicks: '554' }, false],
    ['has a pid that nothing has', statOf('S'), { pid: 8 }, false],
    ['started at that tick of another boot', statOf('S'), { bootId: 'two' }, false],
    ['started in this boot', statOf('S'), { bootId: 'one' }, true],
  ])('a process that %s', (_, stat, fields, expected) => {
    const proc = fakeProc({ pid: 7, stat });
    expect(isRunning({ pid: 7, startTicks: '555', ...fields }, proc)).toBe(expected);
  });

  it('agrees with the identity of this process', async () => {
    const identity = await readProcessIdentity(process.pid);
    expect(identity && isRunning(identity)).toBe(true);
  });

  it('fails with a hint when /proc is not mounted', () => {
    const file = join(tempFolder('proc'), 'a-file');
    writeFileSync(file, '');
    expect(() => isRunning({ pid: 7, startTicks: '1' }, file)).toThrow('cannot read process 7');
  });
});

describe('parseStat', () => {
  it.each([
    ['etcd', 'S', '555'],
    ['a name with ) and ( and blanks', 'R', '12'],
    [') S 1 1 1 1', 'D', '99'],
  ])('skips the name %j', (name, state, startTicks) => {
    const line = `42 (${name}) ${state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ${startTicks} 20 21\n`;
    expect(parseStat(line)).toEqual({ state, threads: 17, startTicks });
  });
});

describe('isSameProcess', () => {
  const known = { pid: 7, startTicks: '555', bootId: 'one', command: ['/bin/etcd', '--a'] };

  it.each([
    ['the very process', {}, true],
    ['it after it put another program in its place', { command: ['/bin/sh'] }, true],
    ['the next one with that pid', { startTicks: '556' }, false],
    ['one that started at that tick of another boot', { bootId: 'two' }, false],
    ['another pid', { pid: 8 }, false],
  ])('%s: %j', (_, change, expected) => {
    expect(isSameProcess(known, { ...known, ...change })).toBe(expected);
  });

  it('is false when there is no process', () => {
    expect(isSameProcess(known, undefined)).toBe(false);
  });

  it('distinguishes two real processes', async () => {
    const child = spawn('sleep', ['100']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [own, other] = [await readProcessIdentity(process.pid), await readProcessIdentity(child.pid ?? 0)];
    if (!own || !other) throw new Error('both run');
    expect(isSameProcess(own, { ...other, pid: own.pid })).toBe(false);
  });
});

function statOf(state: string, threads = 1): string {
  return `7 (etcd) ${state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 ${threads} 0 555 0`;
}

function fakeProc({ pid, stat }: { pid: number; stat: string }): string {
  const root = tempFolder('proc');
  mkdirSync(join(root, String(pid)));
  mkdirSync(join(root, 'sys/kernel/random'), { recursive: true });
  writeFileSync(join(root, 'sys/kernel/random/boot_id'), 'one\n');
  writeFileSync(join(root, String(pid), 'stat'), stat);
  writeFileSync(join(root, String(pid), 'cmdline'), 'etcd\0');
  return root;
}

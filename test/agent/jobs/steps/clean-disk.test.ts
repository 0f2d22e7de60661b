import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DiskUsage, HostFiles, RunResult } from '../../../../src/agent/host/port.ts';
import { sandboxFolders } from '../../../../src/agent/host/sandbox/folders.ts';
import type { SandboxHost } from '../../../../src/agent/host/sandbox/host.ts';
import { cleanDiskStep } from '../../../../src/agent/jobs/steps/clean-disk.ts';
import type { StepContext, StepResult } from '../../../../src/agent/jobs/steps/executor.ts';
import type { StepInputs } from '../../../../src/api/generated/steps.ts';
import { stepInput } from '../../../../src/api/steps/steps.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { stepProgress } from '../../../support/agent/jobs.ts';
import { endSandbox, openSandbox } from '../../../support/agent/sandbox.ts';
import { stepContext, stepRun } from '../../../support/agent/step-context.ts';
import { tempFolder } from '../../../support/temp.ts';

const clock = createSystemClock();
let directory: string;
let root: string;
let host: SandboxHost;
let context: StepContext;

beforeEach(async () => {
  directory = tempFolder('sandbox');
  ({ root } = sandboxFolders(directory));
  host = await openSandbox(directory);
  context = await stepContext({ host, clock });
});
afterEach(async () => {
  await host.close();
  await endSandbox(directory);
});

/** The file system of images is fuller than all others. */
async function fakeUsage(path: string): Promise<DiskUsage> {
  const usedBytes = path === '/data/images' ? 80 : 60;
  return { usedBytes, freeBytes: 100 - usedBytes, usedInodes: 0, freeInodes: 0 };
}

/** A day old, unless a test asks for another age. */
function place(path: string, size = 100, ageSeconds = 86_400): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'x'.repeat(size));
  const at = new Date(clock.now().getTime() - ageSeconds * 1000);
  utimesSync(file, at, at);
  return file;
}

function input(fields: object = {}): StepInputs['CleanDisk'] {
  return stepInput('CleanDisk', { targets: ['rotatedLogs', 'coreDumps'], maxDelete: '1Mi', ...fields });
}

/** The answer of the runtime to `ps` and `images`. */
function listed(command: string, images: readonly object[] = []): RunResult {
  const output = JSON.stringify(command === 'ps' ? { containers: [] } : { images });
  return { exitCode: 0, timedOut: false, truncated: false, output };
}

async function clean(fields: object = {}): Promise<StepResult> {
  const result = await cleanDiskStep.execute?.(context, input(fields), stepRun());
  if (!result) throw new Error('the executor carries nothing out');
  return result;
}

/** What others do while files are deleted. */
function afterFirstRemoval(act: () => void): void {
  const remove = host.files.remove.bind(host.files);
  let hasActed = false;
  host.files.remove = async (path) => {
    await remove(path);
    if (!hasActed) act();
    hasActed = true;
  };
}

describe('cleaning the disk of a sandbox', () => {
  it('deletes rotated logs and core dumps, and nothing else', async () => {
    const [old, dump] = [place('var/log/app.log.1'), place('var/crash/core.1234')];
    const kept = [place('var/log/app.log'), place('var/log/app.log.2', 100, 60), place('etc/app.log.1')];
    const result = await clean();
    expect(result.message).toBe('deleted 2 files, containers and images, 200 bytes');
    expect(result.output).toBe('/var/log/app.log.1 100 bytes\n/var/crash/core.1234 100 bytes');
    expect([old, dump].map((file) => existsSync(file))).toEqual([false, false]);
    expect(kept.every((file) => existsSync(file))).toBe(true);
  });

  it('R38 follows no link out of its directories, and deletes no open file and no file with another name', async () => {
    const outside = place('srv/data/app.log.1');
    mkdirSync(join(root, 'var/log'), { recursive: true });
    symlinkSync(join(root, 'srv/data'), join(root, 'var/log/data'));
    symlinkSync(outside, join(root, 'var/log/link.log.1'));
    const open = place('var/log/open.log.1');
    const descriptor = openSync(open, 'a');
    const named = place('var/log/named.log.1');
    linkSync(named, join(root, 'var/log/other-name'));
    const result = await clean();
    closeSync(descriptor);
    expect(result.message).toBe('deleted 0 files, containers and images, 0 bytes');
    expect([outside, open, named, join(root, 'var/log/link.log.1')].every((file) => existsSync(file))).toBe(
      true,
    );
  });

  it('R38 stays in its directories when one of them is itself behind a link', async () => {
    const outside = place('srv/log/app.log.1');
    mkdirSync(join(root, 'var'), { recursive: true });
    symlinkSync(join(root, 'srv/log'), join(root, 'var/log'));
    expect((await clean({ dryRun: true })).message).toContain('would delete 0 files');
    await clean();
    expect(existsSync(outside)).toBe(true);
  });

  it('R38 looks at each file again before it deletes it', async () => {
    const [first, second, third] = [
      place('var/log/a.log.1'),
      place('var/log/b.log.1'),
      place('var/log/c/d.log.1'),
    ];
    const remove = host.files.remove.bind(host.files);
    let descriptor: number | undefined;
    host.files.remove = async (path) => {
      await remove(path);
      // After the first one: one is written again, the folder of another one becomes a link.
      if (descriptor !== undefined) return;
      descriptor = openSync(second, 'a');
      writeFileSync(second, 'again');
      await remove('/var/log/c');
      place('srv/c/d.log.1');
      symlinkSync(join(root, 'srv/c'), join(root, 'var/log/c'));
    };
    const result = await clean();
    if (descriptor !== undefined) closeSync(descriptor);
    expect(result.message).toContain('deleted 1 files');
    expect([first, second, third].map((file) => existsSync(file))).toEqual([false, true, true]);
  });

  it('R38 deletes no file that took the place of the one that was found', async () => {
    const [first, second] = [place('var/log/a.log.1'), place('var/log/b.log.1')];
    afterFirstRemoval(() => {
      unlinkSync(second);
      place('var/log/b.log.1', 7);
    });
    expect((await clean()).message).toContain('deleted 1 files');
    expect([first, second].map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('R38 deletes no file that is behind a link since it was found', async () => {
    const [first, second] = [place('var/log/a.log.1'), place('var/log/c/b.log.1')];
    mkdirSync(join(root, 'srv'), { recursive: true });
    afterFirstRemoval(() => {
      renameSync(join(root, 'var/log/c'), join(root, 'srv/c'));
      symlinkSync(join(root, 'srv/c'), join(root, 'var/log/c'));
    });
    expect((await clean()).message).toContain('deleted 1 files');
    expect([first, second].map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('R38 deletes no file that was opened since it was found', async () => {
    const [first, second] = [place('var/log/a.log.1'), place('var/log/b.log.1')];
    let atMs = 0;
    context = { ...context, clock: { ...clock, monotonicMs: () => (atMs += 60_000) } };
    const opened: number[] = [];
    afterFirstRemoval(() => void opened.push(openSync(second, 'r')));
    expect((await clean()).message).toContain('deleted 1 files');
    for (const descriptor of opened) closeSync(descriptor);
    expect([first, second].map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('deletes nothing more once its time is over', async () => {
    const files = [place('var/log/a.log.1'), place('var/log/b.log.1')];
    const ended = new AbortController();
    afterFirstRemoval(() => ended.abort());
    await cleanDiskStep.execute?.(context, input(), stepRun({ signal: ended.signal }));
    expect(files.map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('keeps its limit of bytes with images, too', async () => {
    const removed: string[] = [];
    const images = ['a', 'b'].map((digit, index) => ({
      id: digit.repeat(64),
      size: String(700 - index * 400),
    }));
    const run: typeof host.processes.run = async ([, command = '', id = '']) => {
      if (command === 'rmi') removed.push(id);
      return listed(command, images);
    };
    context = { ...context, host: { ...host, processes: { ...host.processes, run } } };
    const result = await clean({ targets: ['unusedImages'], maxDelete: '512' });
    expect(result.message).toBe('deleted 1 files, containers and images, 300 bytes');
    expect(removed).toEqual(['b'.repeat(64)]);
  });

  it('removes the other images when the runtime refuses one, and reports why', async () => {
    const removed: string[] = [];
    const images = ['a', 'b'].map((digit) => ({ id: digit.repeat(64), size: '300' }));
    const run: typeof host.processes.run = async ([, command = '', id = '']) => {
      if (command === 'rmi' && id.startsWith('a')) {
        return { ...listed('rmi'), exitCode: 1, output: 'a warning\nthe image is in use\n' };
      }
      if (command === 'rmi') removed.push(id);
      return listed(command, images);
    };
    context = { ...context, host: { ...host, processes: { ...host.processes, run } } };
    const result = await clean({ targets: ['unusedImages'] });
    expect(removed).toEqual(['b'.repeat(64)]);
    expect(result.state).toBe('Succeeded');
    expect(result.message).toMatch(
      / 1 files, .* 300 bytes; not all: a{64} not removed: .*rmi failed: exit code 1: the image is in use$/,
    );
  });

  it('keeps its limit of bytes, and lists what it would delete in a dry run', async () => {
    const [oldest, newer] = [place('var/log/a.log.1', 700, 90_000), place('var/log/b.log.1', 700)];
    const dry = await clean({ dryRun: true, maxDelete: '1Ki' });
    expect(dry).toMatchObject({ message: 'would delete 1 files, containers and images, 700 bytes' });
    expect([oldest, newer].every((file) => existsSync(file))).toBe(true);
    await clean({ maxDelete: '1Ki' });
    expect([oldest, newer].map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('stops with each target when its file system is empty enough', async () => {
    const old = place('var/log/a.log.1');
    const images = [{ id: 'a'.repeat(64), size: '300' }];
    const run: typeof host.processes.run = async ([, command = '']) => listed(command, images);
    await host.files.makeDirectory('/data/images');
    const files = new Proxy(host.files, {
      get: (target, name: keyof HostFiles) => (name === 'usage' ? fakeUsage : target[name].bind(target)),
    });
    const filesystems = { imagefs: ['/data/images'] };
    context = await stepContext({ host, clock }, { filesystems });
    context = { ...context, host: { ...host, files, processes: { ...host.processes, run } } };
    const targets = ['rotatedLogs', 'unusedImages'];
    const result = await clean({ targets, stopAtUsedPercent: 70 });
    expect(result.message).toBe('deleted 1 files, containers and images, 300 bytes');
    expect(existsSync(old)).toBe(true);
  });

  it('stops when the disk is empty enough, and skips what it cannot do', async () => {
    const old = place('var/log/a.log.1');
    await clean({ stopAtUsedPercent: 100 });
    expect(existsSync(old)).toBe(true);
    context = await stepContext({ host, clock }, { crictl: '/does/not/exist' });
    const result = await clean({
      targets: ['deadContainers', 'rotatedLogs'],
    });
    expect(result.output?.split('\n').map((line) => line.replace(/:.*/, ''))).toEqual([
      '/var/log/a.log.1 100 bytes',
      'deadContainers skipped',
    ]);
    expect(result.message).toContain('100 bytes; not all: deadContainers skipped: /does/not/exist ps failed');
    const nothing = await clean({ targets: ['deadContainers'] });
    expect(nothing).toMatchObject({ state: 'Failed', code: 'NothingDeleted' });
  });

  it('AGT-51 tells after a restart whether everything was deleted', async () => {
    const progress = stepProgress({ action: 'CleanDisk', input: input() });
    place('var/log/a.log.1');
    expect(await cleanDiskStep.observe(context, progress)).toMatchObject({ happened: 'No' });
    await clean();
    expect(await cleanDiskStep.observe(context, progress)).toMatchObject({ happened: 'Yes' });
  });
});

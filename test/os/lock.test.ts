import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, lockHolder, tryAcquireLock, withLock } from '../../src/os/lock.ts';
import { tempFolder } from '../support/temp.ts';

const LOCK = new URL('../../src/os/lock.ts', import.meta.url).href;

describe('a lock', () => {
  it('admits one holder at a time, and every waiting one in the end', async () => {
    const what = tempFolder('lock');
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(what, {}, work)));
    expect(most).toBe(1);
    expect(inside).toBe(0);
  });

  it('is released when the work fails', async () => {
    const what = tempFolder('lock');
    await expect(withLock(what, {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await (await acquireLock(what)).release();
  });

  it('is independent of locks with other names', async () => {
    const first = await acquireLock(tempFolder('a'));
    const second = await acquireLock(tempFolder('b'));
    const releases = [first, second].map((lock) => lock.release());
    await expect(Promise.all(releases)).resolves.toHaveLength(2);
  });

  it('is tried without waiting for its holder', async () => {
    const what = tempFolder('lock');
    const lock = await tryAcquireLock(what);
    expect(await tryAcquireLock(what)).toBeUndefined();
    await lock?.release();
    await (await acquireLock(what)).release();
  });

  it('tells who holds it without waiting for it', async () => {
    const what = tempFolder('lock');
    expect(await lockHolder(what)).toBeUndefined();
    const lock = await acquireLock(what);
    expect(await lockHolder(what)).toBe(`pid ${process.pid}`);
    expect(await lockHolder(what, (process.getuid?.() ?? 0) + 1)).toBeUndefined();
    await lock.release();
    expect(await lockHolder(what)).toBeUndefined();
  });

  it('reports its holder to a waiting process once', async () => {
    const what = tempFolder('lock');
    const lock = await acquireLock(what);
    const holders: string[] = [];
    const next = acquireLock(what, {
      waiting: (holder) => {
        holders.push(holder);
        void lock.release();
      },
    });
    await (await next).release();
    expect(holders).toEqual([`pid ${process.pid}`]);
  });

  it('is released by the kernel when its holder is killed', async () => {
    const what = tempFolder('lock');
    const script = `import { acquireLock } from ${JSON.stringify(LOCK)};
      await acquireLock(${JSON.stringify(what)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const holders: string[] = [];
    const waiting = (who: string): void => {
      holders.push(who);
      holder.kill('SIGKILL');
    };
    await (await acquireLock(what, { waiting })).release();
    expect(holders).toEqual([`pid ${holder.pid}`]);
  });

  it('stops waiting when the signal is aborted', async () => {
    const what = tempFolder('lock');
    const lock = await acquireLock(what);
    const enough = new AbortController();
    const waiting = acquireLock(what, {
      signal: enough.signal,
      waiting: () => enough.abort(new Error('enough')),
    });
    await expect(waiting).rejects.toThrow('enough');
    await lock.release();
  });
});

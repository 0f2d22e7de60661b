import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, withLock } from '../../src/os/lock.ts';
import { tempFolder } from '../support/temp.ts';

const LOCK = new URL('../../src/os/lock.ts', import.meta.url).href;

describe('a lock', () => {
  it('lets one in at a time, and all in the end', async () => {
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

  it('is free again after a failure', async () => {
    const what = tempFolder('lock');
    await expect(withLock(what, {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await (await acquireLock(what)).release();
  });

  it('guards one thing and not another', async () => {
    const first = await acquireLock(tempFolder('a'));
    const second = await acquireLock(tempFolder('b'));
    const releases = [first, second].map((lock) => lock.release());
    await expect(Promise.all(releases)).resolves.toHaveLength(2);
  });

  it('tells who holds it, once', async () => {
    const what = tempFolder('lock');
    const lock = await acquireLock(what);
    const told: string[] = [];
    const next = acquireLock(what, {
      waiting: (holder) => {
        told.push(holder);
        void lock.release();
      },
    });
    await (await next).release();
    expect(told).toEqual([`pid ${process.pid}`]);
  });

  it('is given up by the kernel when its holder is killed', async () => {
    const what = tempFolder('lock');
    const script = `import { acquireLock } from ${JSON.stringify(LOCK)};
      await acquireLock(${JSON.stringify(what)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const told: string[] = [];
    const waiting = (who: string): void => {
      told.push(who);
      holder.kill('SIGKILL');
    };
    await (await acquireLock(what, { waiting })).release();
    expect(told).toEqual([`pid ${holder.pid}`]);
  });

  it('is not waited for once nobody wants it any more', async () => {
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

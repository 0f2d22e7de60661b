import { describe, expect, it } from 'vitest';
import { createWorkerSet, type WorkerSet } from '../../../src/sync/hub/worker-set.ts';

interface FakeWorker {
  close(): Promise<void>;
}

function createBed(): { set: WorkerSet<FakeWorker>; log: string[]; finish: () => void } {
  const log: string[] = [];
  const closed = Promise.withResolvers<void>();
  const set = createWorkerSet((name) => {
    log.push(`start ${name}`);
    return {
      close: async () => {
        log.push(`close ${name}`);
        await closed.promise;
        log.push(`closed ${name}`);
      },
    };
  });
  return { set, log, finish: () => closed.resolve() };
}

describe('createWorkerSet', () => {
  it('starts a worker for each new name and closes those of missing names', () => {
    const { set, log } = createBed();
    set.refresh(['a', 'b']);
    set.refresh(['b', 'c']);
    set.refresh(['b', 'c']);
    expect(log).toEqual(['start a', 'start b', 'close a', 'start c']);
    expect(set.get('a')).toBeUndefined();
    expect(set.all()).toHaveLength(2);
  });

  it('waits for every worker when it is closed, also for those that were closed before', async () => {
    const { set, log, finish } = createBed();
    set.refresh(['a', 'b']);
    set.refresh(['b']);
    const closing = set.close();
    expect(log.filter((line) => line.startsWith('closed'))).toEqual([]);
    finish();
    await closing;
    expect(log.filter((line) => line.startsWith('closed'))).toEqual(['closed a', 'closed b']);
  });

  it('starts no worker after it was closed: nothing would ever close that one', async () => {
    const { set, log, finish } = createBed();
    set.refresh(['a']);
    finish();
    await set.close();
    set.refresh(['a', 'b']);
    expect(log).toEqual(['start a', 'close a', 'closed a']);
    expect(set.all()).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { createConnectionCheck } from '../../../src/kube/cache/connection-check.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';

const NODES = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

/** Runs the check for as many waits as there are answers; true: the server answers. */
async function checkWith(code: KubeErrorCode, answers: readonly boolean[]): Promise<object> {
  const error = new KubeError(code, 'connect refused');
  const stop = new AbortController();
  const left = [...answers];
  let waits = 0;
  const counts = { retries: 0, notified: 0, asked: 0 };
  const reflector = {
    run: done,
    synced: done,
    freshness: () => ({ synced: true, lastContactAt: undefined, ageMs: 0, error }),
    retryNow: () => void (counts.retries += 1),
  };
  const clock = {
    async sleep() {
      if (waits === answers.length) stop.abort();
      waits += 1;
    },
  };
  const client = {
    async list() {
      counts.asked += 1;
      if (left.shift() !== true) throw error;
      return { items: [], resourceVersion: '1' };
    },
  };
  const check = createConnectionCheck(
    { client: client as never, clock },
    [{ resource: NODES, reflector }],
    () => void (counts.notified += 1),
  );
  await check.run(stop.signal);
  return { ...counts, error: check.error()?.message };
}

async function done(): Promise<void> {}

describe('createConnectionCheck', () => {
  it('reports the error of a watch until the server answers, and then retries the watch at once', async () => {
    const lost = { retries: 0, notified: 0, asked: 2, error: 'connect refused' };
    expect(await checkWith('Unreachable', [false, false])).toEqual(lost);
    const back = { retries: 1, notified: 1, asked: 2, error: undefined };
    expect(await checkWith('Timeout', [false, true])).toEqual(back);
  });

  it('leaves an error alone that is not a lost connection', async () => {
    const denied = { retries: 0, notified: 0, asked: 0, error: 'connect refused' };
    expect(await checkWith('Forbidden', [true])).toEqual(denied);
  });
});

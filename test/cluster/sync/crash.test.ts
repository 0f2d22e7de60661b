import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { killClient } from '../../support/fault-proxy/faults.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { slice } from '../../support/sweep-size.ts';
import { after, before, OBJECTS } from './crash-targets.ts';
import { startTargetCluster, startTestSync } from './target-cluster.ts';

let server: ApiServer;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startTargetCluster();
  await converge('before');
  await server.keep();
  proxy = await faultProxy(server);
});
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

const PROGRAM = fileURLToPath(new URL('./sync-process.ts', import.meta.url));
type Commit = 'before' | 'after';
/** Requests that a process has in flight when it is killed. */
const MAX_CONFLICTS = 8;

describe('S1 leaves no orphan and deletes nothing wrong when killed by SIGKILL around any call', () => {
  it('leaves no orphan and deletes nothing wrongly, killed before or after a call of an apply and its revert', {
    timeout: 12 * 3_600_000,
  }, async () => {
    const points = await crashPoints();
    expect(points.length).toBeGreaterThan(6 * OBJECTS);
    const faults: string[] = [];
    for (const point of slice(points, 6)) faults.push(...(await problemsAfterKill(point)));
    expect(faults).toEqual([]);
  });
});

interface Point {
  readonly which: Commit;
  readonly nth: number;
  readonly when: 'before' | 'after';
}

/** Before and after every request of a clean apply and of a clean revert, except watches: their answers do not end. */
async function crashPoints(): Promise<Point[]> {
  const points: Point[] = [];
  for (const which of ['after', 'before'] as const) {
    proxy.reset();
    const child = start(which);
    await ended(child);
    expect(child.exitCode).toBe(0);
    const calls = proxy.log.filter(({ verb }) => verb !== 'watch').length;
    for (let nth = 1; nth <= calls; nth += 1) {
      points.push({ which, nth, when: 'before' }, { which, nth, when: 'after' });
    }
  }
  return points;
}

async function problemsAfterKill({ which, nth, when }: Point): Promise<string[]> {
  await server.wipe();
  if (which === 'before') await converge('after');
  proxy.reset();
  let child: ChildProcess | undefined;
  const rule = proxy.on({ verb: NOT_WATCH, nth, fault: killClient(() => child?.pid ?? 0, when) });
  child = start(which);
  await ended(child);
  const label = `${which}, killed ${when} call ${nth}`;
  // A run may make one call less than the clean run.
  if (rule.fired === 0 && child.exitCode !== 0) return [`${label}: the process failed without a fault`];
  const early = await missingNow(which);
  await converge('before');
  const late = await names();
  const expected = ['old-0', 'old-1', 'x'];
  const orphans = late.filter((name) => !expected.includes(name));
  const missing = expected.filter((name) => !late.includes(name));
  return [
    ...early,
    ...orphans.map((name) => `orphan ${name}`),
    ...missing.map((name) => `missing ${name}`),
  ].map((problem) => `${label}: ${problem}`);
}

const NOT_WATCH = ['get', 'list', 'create', 'update', 'patch', 'apply', 'delete', 'discover', 'raw'] as const;

/** Objects of both commits exist at every moment. */
async function missingNow(which: Commit): Promise<string[]> {
  const present = new Set(await names());
  return ['old-0', 'old-1', 'x']
    .filter((name) => !present.has(name))
    .map((name) => `${name} is missing on the way to ${which}`);
}

async function names(): Promise<string[]> {
  const { items } = await server.client.list(CONFIG_MAPS, {
    namespace: 'default',
    labelSelector: 'kubenode.dev/hub',
    limit: 1000,
  });
  return items.map(({ metadata }) => metadata.name);
}

/** A write of the killed process may arrive after our reads: sync then starts over, as its worker does. */
async function converge(which: Commit, conflicts = 0): Promise<void> {
  try {
    await syncOnce(which);
  } catch (error) {
    if (!isKubeError(error, 'Conflict') || conflicts === MAX_CONFLICTS) throw error;
    await converge(which, conflicts + 1);
  }
}

async function syncOnce(which: Commit): Promise<void> {
  const sync = await startTestSync(server.client);
  try {
    const { pruned } = await sync.sync(which === 'after' ? after : before);
    expect(pruned.waiting).toEqual([]);
  } finally {
    await sync.close();
  }
}

function start(which: Commit): ChildProcess {
  return spawn(process.execPath, [PROGRAM, proxy.kubeconfig, which], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

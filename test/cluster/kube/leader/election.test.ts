/** Leader election on a real API server, between real processes that are suspended and killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLeaseElection, type LeaseElection } from '../../../../src/kube/leader/election.ts';
import { LEASES, readLeaseRecord } from '../../../../src/kube/leader/record.ts';
import { type LeaseOptions } from '../../../../src/kube/leader/settings.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { LONG, randomFrom, SEED } from '../../../support/sweep-size.ts';

const WRITTEN = { namespace: 'default', name: 'written-by-the-leader' };
const LEASE = { namespace: 'default', name: 'contended' };
// Short enough for a test, long enough for a busy machine.
const SECONDS = '6/4/0.5';
const ROUNDS = LONG ? 20 : 2;
const never = new AbortController().signal;

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => {
  await server?.stop();
});
beforeEach(async () => {
  await server.wipe();
});

function candidate(identity: string, times: Partial<LeaseOptions> = {}): LeaseElection {
  return createLeaseElection({
    client: server.client,
    name: LEASE,
    identity,
    clock: createSystemClock(),
    random: () => 0.5,
    log: memoryLog(),
    leaseSeconds: 6,
    renewDeadlineSeconds: 4,
    retrySeconds: 0.5,
    ...times,
  });
}

describe('a Lease of a real API server', () => {
  it('is created, renewed, released and acquired again', async () => {
    const first = await candidate('first').campaign(never);
    const lease = await server.client.get(LEASES, LEASE);
    expect(readLeaseRecord(lease)).toEqual({ holder: 'first', durationMs: 6000, epoch: 1 });
    expect(textAt(lease, 'spec', 'renewTime')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    await nextRenewal();
    await first.release();
    expect(readLeaseRecord(await server.client.get(LEASES, LEASE)).holder).toBeUndefined();
    const second = await candidate('second').campaign(never);
    expect(second.epoch).toBe(2);
    await second.release();
  });

  it('is acquired by one of five concurrent candidates', async () => {
    const stop = new AbortController();
    const campaigns = ['a', 'b', 'c', 'd', 'e'].map((name) => candidate(name).campaign(stop.signal));
    const winner = await Promise.race(campaigns);
    // By then the others have read it, too: all have the same interval.
    await nextRenewal();
    await nextRenewal();
    stop.abort();
    const ended = await Promise.allSettled(campaigns);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await winner.release();
  });
});

describe('a process with a blocked event loop', () => {
  it('keeps its lease for some seconds, and loses it when blocked for too long', async () => {
    const term = await candidate('busy', {
      leaseSeconds: 15,
      renewDeadlineSeconds: 10,
      retrySeconds: 2,
    }).campaign(never);
    await nextRenewal();
    busyFor(4000);
    expect(term.held()).toBe(true);
    await nextRenewal();
    expect(term.lost.aborted).toBe(false);
    busyFor(10_500);
    expect(term.held()).toBe(false);
    expect(() => term.fence()).toThrow('not renewed in time');
    await term.release();
  });
});

async function nextRenewal(): Promise<void> {
  const before = await renewTime();
  await expect.poll(renewTime).not.toBe(before);
}

async function renewTime(): Promise<string | undefined> {
  return textAt(await server.client.get(LEASES, LEASE), 'spec', 'renewTime');
}

/** Blocks the event loop. */
function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

interface Report {
  readonly what: 'acquired' | 'lost' | 'error';
  readonly identity: string;
  readonly epoch: number;
}

interface Child {
  readonly process: ChildProcess;
  readonly reports: Report[];
}

function start(identity: string): Child {
  const program = fileURLToPath(new URL('./candidate.ts', import.meta.url));
  const child = spawn(process.execPath, [program, identity, server.kubeconfig, SECONDS], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const reports: Report[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => reports.push(JSON.parse(line) as Report));
  onTestFinished(async () => {
    const exited = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await exited;
  });
  return { process: child, reports };
}

/** Waits for the next report, which must be this. */
async function next({ reports }: Child, what: Report['what']): Promise<Report> {
  const before = reports.length;
  await expect.poll(() => reports.length).toBeGreaterThan(before);
  const line = reports[before];
  expect(line?.what).toBe(what);
  return line ?? { what, identity: '', epoch: 0 };
}

/** All writes, in the order in which the server accepted them. */
async function watchWrites(): Promise<{ readonly writes: { epoch: number; by: string }[]; stop(): void }> {
  const first = await server.client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: WRITTEN,
    data: { epoch: '0' },
  });
  const stop = new AbortController();
  const writes: { epoch: number; by: string }[] = [];
  const watching = (async () => {
    let resourceVersion = first.metadata.resourceVersion ?? '';
    while (!stop.signal.aborted) {
      const options = { resourceVersion, namespace: 'default', timeoutSeconds: 600, signal: stop.signal };
      for await (const { object } of server.client.watch(CONFIG_MAPS, options)) {
        resourceVersion = object.metadata.resourceVersion ?? '';
        if (object.metadata.name !== WRITTEN.name) continue;
        writes.push({
          epoch: Number(textAt(object, 'data', 'epoch')),
          by: textAt(object, 'data', 'by') ?? '',
        });
      }
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    writes,
    stop: () => {
      stop.abort();
      void watching;
    },
  };
}

async function holderOf(): Promise<string | undefined> {
  return readLeaseRecord(await server.client.get(LEASES, LEASE)).holder;
}

describe('two real processes', () => {
  it('write nothing after a suspension that outlasted the lease', async () => {
    const watch = await watchWrites();
    onTestFinished(() => watch.stop());
    const clock = createSystemClock();
    const random = randomFrom(SEED);
    const both = [start('first'), start('second')];
    await expect.poll(() => both.flatMap(({ reports }) => reports).length).toBeGreaterThan(0);

    for (let round = 0; round < ROUNDS; round += 1) {
      const holder = await holderOf();
      const [leader, other] = both[0]?.reports.at(-1)?.identity === holder ? both : both.toReversed();
      if (!leader || !other) throw new Error('two were started');
      // At a random moment between two renewals, possibly during a write.
      await clock.sleep(random() * 1000);
      leader.process.kill('SIGSTOP');
      const { epoch } = await next(other, 'acquired');
      await expect.poll(() => watch.writes.at(-1)?.epoch).toBe(epoch);
      leader.process.kill('SIGCONT');
      await next(leader, 'lost');
      await nextRenewal();
    }
    const epochs = watch.writes.map(({ epoch }) => epoch);
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    expect(new Set(watch.writes.map(({ epoch, by }) => `${epoch} ${by}`)).size).toBe(new Set(epochs).size);
    expect(new Set(epochs).size).toBeGreaterThan(ROUNDS);
  });

  it('hand over when the holder is killed, but not before its lease expired', async () => {
    const watch = await watchWrites();
    onTestFinished(() => watch.stop());
    const first = start('first');
    await expect.poll(() => first.reports.length).toBe(1);
    const second = start('second');
    await expect.poll(() => watch.writes.length).toBeGreaterThan(0);
    const killedMs = performance.now();
    first.process.kill('SIGKILL');
    await expect.poll(() => second.reports.length).toBe(1);
    // Its last renewal was sent at most half a second before.
    expect(performance.now() - killedMs).toBeGreaterThan(5000);
    expect(second.reports[0]).toMatchObject({ what: 'acquired', epoch: 2 });
  });
});

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { StandInKubelet } from '../../../src/local/kubelet/kubelet.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const FACTS = {
  name: 'n1',
  kubeletVersion: 'v1.36.3',
  bootId: 'b',
  machineId: 'm',
  kernel: 'k',
  arch: 'amd64',
  cpus: 1,
  memoryBytes: 1024,
  pods: 1,
  address: '127.0.0.1',
} as const;

let clock: VirtualClock;
let calls: string[];
let failing: ReadonlySet<string>;
let kubelet: StandInKubelet;

beforeEach(() => {
  clock = virtualClock();
  calls = [];
  failing = new Set();
  kubelet = new StandInKubelet({
    client: fakeClient(),
    facts: FACTS,
    heartbeatMs: 10_000,
    clock,
    log: memoryLog(),
    random: () => 0.5,
  });
  const stop = new AbortController();
  const running = kubelet.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
});

async function write(verb: string, { kind }: Resource): Promise<KubeObject> {
  calls.push(`${verb} ${kind}`);
  if (failing.has(`${verb} ${kind}`)) throw new KubeError('NotFound', `${verb} ${kind}`);
  return { apiVersion: 'v1', kind, metadata: { name: 'n1', uid: 'uid-1' } };
}

/** Answers every write, but for those in `failing`. No pods. */
function fakeClient(): Client {
  return {
    server: 'https://server',
    create: (resource: Resource) => write('create', resource),
    apply: (resource: Resource) => write('apply', resource),
    async *pages() {
      yield { items: [], resourceVersion: '1' };
    },
    // oxlint-disable-next-line require-yield -- a watch without events
    async *watch(_: Resource, { signal }: { signal: AbortSignal }) {
      await clock.sleep(3_600_000, signal).catch(() => undefined);
    },
  } as unknown as Client;
}

async function advance(seconds: number): Promise<readonly string[]> {
  calls.length = 0;
  for (let passed = 0; passed < seconds; passed += 1) await clock.advance(1000);
  return calls;
}

describe('the stand-in kubelet', () => {
  it('registers its Node, reports it, and then only renews its Lease', async () => {
    await clock.advance(0);
    expect(calls).toEqual(['create Node', 'apply Node', 'apply Lease']);
    expect(kubelet.unhealthyReason()).toBeUndefined();
    expect(await advance(60)).toEqual(Array.from({ length: 6 }, () => 'apply Lease'));
    expect(await advance(300)).toContain('apply Node');
  });

  it('reports the node again after a time in which it could not, and is unhealthy meanwhile', async () => {
    await clock.advance(0);
    failing = new Set(['apply Lease']);
    await advance(50);
    expect(kubelet.unhealthyReason()).toMatch(/^no heartbeat for \d+ s$/);
    failing = new Set();
    expect((await advance(10)).slice(0, 2)).toEqual(['apply Node', 'apply Lease']);
    expect(kubelet.unhealthyReason()).toBeUndefined();
  });

  it('registers another Node after its own was deleted', async () => {
    await clock.advance(0);
    failing = new Set(['apply Node']);
    await advance(310);
    failing = new Set();
    expect(await advance(10)).toEqual(expect.arrayContaining(['create Node', 'apply Node', 'apply Lease']));
  });
});

import { describe, expect, it } from 'vitest';
import { MANAGED_BY } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { formatMicroTime } from '../../../src/kube/leader/record.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { MachineHealth } from '../../../src/sync/health/machine-health.ts';
import { createMachineReader } from '../../../src/sync/health/machine-reader.ts';
import { ledgerSpec, policy } from '../../defender/builders.ts';
import { condition } from '../../support/builders.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const NEVER = new AbortController().signal;

interface Given {
  readonly lists?: Readonly<Record<string, readonly object[] | KubeError>>;
  readonly lease?: KubeObject | KubeError;
}

const LEDGER = {
  metadata: { name: 'default' },
  spec: ledgerSpec({}),
  status: { conditions: [condition('Ready', 'True')], machines: { total: 6, ready: 6, unhealthy: 0 } },
};
const WELL = { DefenderLedger: [LEDGER], DefenderPolicy: [policy()], Machine: [] };

function orThrow<T>(found: T | KubeError): T {
  if (found instanceof KubeError) throw found;
  return found;
}

function clientOf({ lists = WELL, lease = leaseAt(new Date(0), '1') }: Given): Client {
  return {
    get: async () => orThrow(lease),
    list: async ({ kind }: Resource) => ({ items: orThrow(lists[kind] ?? []), resourceVersion: '1' }),
  } as never;
}

function leaseAt(
  renewed: Date,
  resourceVersion: string,
  holderIdentity: string | undefined = 'host-1',
): KubeObject {
  const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime: formatMicroTime(renewed) };
  const metadata = { name: 'kubenode-controllers', namespace: MANAGED_BY, uid: 'u', resourceVersion };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

function reasons({ status, incidents }: MachineHealth): readonly string[] {
  return [status, ...incidents.map(({ reason }) => reason)];
}

describe('createMachineReader', () => {
  it('takes controllers for silent once their Lease was not renewed for its duration, by our own clock', async () => {
    const clock = virtualClock();
    const reader = createMachineReader(clock);
    const [first, renewed] = [leaseAt(clock.now(), '1'), leaseAt(clock.now(), '2')];
    const read = async (lease: KubeObject) => reasons(await reader.read(clientOf({ lease }), NEVER));
    expect(await read(first)).toEqual(['True']);
    await clock.advance(20_000);
    expect(await read(renewed)).toEqual(['True']);
    await clock.advance(20_000);
    expect(await read(renewed)).toEqual(['Unknown', 'NoControllers']);
    expect(await read(leaseAt(clock.now(), '3'))).toEqual(['True']);
  });

  it.each([
    ['was not renewed for long when it is first read', leaseAt(new Date(0), '1')],
    ['was released', leaseAt(new Date(0), '1', '')],
    ['was never held', new KubeError('NotFound', 'no Lease', { status: 404 })],
  ])('takes controllers for silent at once if the Lease %s', async (_, lease) => {
    const reader = createMachineReader(virtualClock());
    expect(reasons(await reader.read(clientOf({ lease }), NEVER))).toEqual(['Unknown', 'NoControllers']);
  });

  it('tells of machines that no Defender has counted', async () => {
    const clock = virtualClock();
    const lists = { ...WELL, DefenderLedger: [], Machine: [{ metadata: { name: 'm-1' } }] };
    const client = clientOf({ lists, lease: leaseAt(clock.now(), '1') });
    expect(await createMachineReader(clock).read(client, NEVER)).toMatchObject({
      status: 'Unknown',
      reason: 'NotCounted',
    });
  });

  it('expects no controllers where no machines are, or kubenode is not installed', async () => {
    const missing = new KubeError('NotFound', 'no such kind', { status: 404 });
    for (const lists of [{ ...WELL, DefenderLedger: [] }, { DefenderLedger: missing }]) {
      const reader = createMachineReader(virtualClock());
      expect(await reader.read(clientOf({ lists, lease: missing }), NEVER)).toMatchObject({
        status: 'True',
        reason: 'NoMachines',
      });
    }
  });

  it('does not take what it may not read for healthy', async () => {
    const lists = { DefenderLedger: new KubeError('Forbidden', 'may not list', { status: 403 }) };
    const health = await createMachineReader(virtualClock()).read(clientOf({ lists }), NEVER);
    expect(health).toEqual({ status: 'Unknown', reason: 'NotRead', message: 'may not list', incidents: [] });
  });
});

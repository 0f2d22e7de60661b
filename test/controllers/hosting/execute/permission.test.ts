import { describe, expect, it } from 'vitest';
import { CLUSTERS, DEFENDER_POLICIES } from '../../../../src/api/generated/resources.ts';
import type { GrantAsk } from '../../../../src/api/grants.ts';
import { FLEET_DEFAULT } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { MEMBERS } from '../../../../src/controllers/hosting/drivers/driver.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { NOW } from '../../../support/builders.ts';
import { applied, conditionText, found, type HostingBed, hostingBed } from '../../../support/hosting/bed.ts';

const DEFAULT: KubeObject = {
  apiVersion: API_VERSION,
  kind: DEFENDER_POLICIES.kind,
  metadata: { name: FLEET_DEFAULT },
  spec: { killSwitch: { engaged: false, scope: 'All' } },
};

async function createdBed(...objects: readonly KubeObject[]): Promise<HostingBed> {
  const bed = hostingBed([applied(), ...objects]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  return bed;
}

const ASK: GrantAsk = {
  holder: { kind: 'Cluster', name: 'ci' },
  machine: 'cluster:ci',
  action: 'UpdateControlPlane',
  risk: 'Node',
  factsAt: NOW,
  expectedSeconds: 300,
};
const DESTROYED = [...MEMBERS.toReversed().map((member) => `stop ci ${member}`), 'remove ci'];
const STOPPED =
  'KillSwitch: incident; kubenode defender resume, or remove spec.killSwitch from the policy in git';
const SETTLED = 'g-1 UpdateControlPlane cluster:ci: Succeeded';

interface DeletedBed {
  readonly bed: HostingBed;
  /** The number of requests to the Defender. */
  readonly count: () => number;
}

/** Deletes a Cluster while its process hangs at its n-th request to the Defender, before or after it was answered, and is killed. */
async function deletedBed(n: number, when: 'before' | 'after'): Promise<DeletedBed> {
  const bed = hostingBed([applied(), DEFAULT]);
  const { ask, renew, settle } = bed.grants;
  let requests = 0;
  const hang = async <T>(request: () => Promise<T>): Promise<T> => {
    requests += 1;
    if (requests !== n) return await request();
    if (when === 'after') await request();
    return await new Promise<never>(() => undefined);
  };
  Object.assign(bed.grants, {
    ask: (asks: Parameters<typeof ask>[0]) => hang(() => ask(asks)),
    renew: (renewals: Parameters<typeof renew>[0]) => hang(() => renew(renewals)),
    settle: (settlements: Parameters<typeof settle>[0]) => hang(() => settle(settlements)),
  });
  const first = await bed.start();
  await bed.advance(5000);
  bed.delete(CLUSTERS, 'ci');
  await bed.advance(5000);
  await first.kill();
  await bed.start();
  await bed.advance(12_000);
  return { bed, count: () => requests };
}

function withoutFinalizers({ metadata, ...object }: KubeObject): KubeObject {
  return { ...object, metadata: { ...metadata, finalizers: [] } };
}

function stops({ hosting }: HostingBed): number {
  return hosting().log.filter((each) => each.startsWith('stop')).length;
}

describe('the destruction of a control plane', () => {
  it('HOS-03 has a grant of the Defender, which is given back before the Cluster goes', async () => {
    const bed = await createdBed(DEFAULT);
    expect(bed.grants.open.size).toBe(0);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
    expect(bed.grants.settled).toEqual(['g-1 UpdateControlPlane cluster:ci: Succeeded']);
  });

  it('waits while the Defender denies it, and names the policy', async () => {
    const bed = await createdBed(DEFAULT);
    const policy = 'quiet-nights';
    bed.grants.deny = () => ({ granted: false, reason: 'Freeze', message: 'sale', policy, also: [] });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([stops(bed), bed.hosting().planes.get('ci')?.isDestroying]).toEqual([0, false]);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      reason: 'GrantDenied',
      message:
        'Freeze: sale; no action required: it continues when the freeze ends; or end the freeze in git',
      blocker: { kind: 'DefenderPolicy', name: policy },
    });
    bed.grants.deny = () => undefined;
    await bed.advance(15_000);
    expect(found(bed)).toBeUndefined();
  });

  it('names the command that approves it while an approval is missing', async () => {
    const bed = await createdBed(DEFAULT);
    const message = 'waits for the approval of sre';
    bed.grants.deny = () => ({ granted: false, reason: 'ApprovalPending', message, also: [] });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(5000);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      message: `ApprovalPending: ${message}; kubenode defender approve cluster:ci --action UpdateControlPlane --holder Cluster/ci --reason TEXT`,
      blocker: { kind: 'DefenderLedger', name: 'default' },
    });
  });

  it('is held in the middle when the Defender takes its permission back', async () => {
    const bed = await createdBed(DEFAULT);
    const inFlight = bed.grants.renew;
    let renewals = 0;
    bed.grants.deny = () => undefined;
    Object.assign(bed.grants, {
      renew: (...args: Parameters<typeof inFlight>) => {
        renewals += 1;
        if (renewals === 3) bed.grants.deny = () => 'incident';
        return inFlight(...args);
      },
    });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([stops(bed), found(bed)?.status?.hosted?.waiting?.message]).toEqual([1, STOPPED]);
    bed.grants.deny = () => undefined;
    await bed.advance(15_000);
    expect([found(bed), bed.grants.settled.length]).toEqual([undefined, 1]);
  });

  it('leaves a grant alone that a person has for the control plane, and waits for it', async () => {
    const bed = await createdBed(DEFAULT);
    await bed.grants.ask([{ ...ASK, holder: { kind: 'Other', name: 'ann' } }]);
    await bed.advance(30_000);
    expect([bed.grants.settled, conditionText(bed, 'ControlPlaneReady')]).toEqual([[], 'True Ready']);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([stops(bed), found(bed)?.status?.hosted?.waiting?.message]).toEqual([
      0,
      'NodeBusy: UpdateControlPlane is in work; kubenode defender status lists the acts in work',
    ]);
  });

  it('HOS-03 gives its grant back when a person removes the finalizer in the middle', async () => {
    const bed = await createdBed(DEFAULT);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(1000);
    expect(bed.grants.open.size).toBe(1);
    bed.api.objects.merge(servedKind(CLUSTERS), { name: 'ci' }, withoutFinalizers, { manager: 'person' });
    await bed.advance(12_000);
    expect(found(bed)).toBeUndefined();
    expect(bed.grants.settled).toEqual(['g-1 UpdateControlPlane cluster:ci: Ambiguous']);
  });

  it('asks again when its grant is not in the ledger any more, and waits while the Defender does not answer', async () => {
    const bed = await createdBed(DEFAULT);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(1000);
    const recovering = { reason: 'LedgerRecovering', message: 'the ledger was lost' } as const;
    bed.grants.deny = () => ({ granted: false, ...recovering, also: [] });
    await bed.grants.settle([{ id: 'g-1', fence: 1, outcome: 'Ambiguous' }]);
    await bed.advance(30_000);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      message:
        'LedgerRecovering: the ledger was lost; no action required: the ledger is rebuilt within minutes',
      blocker: { kind: 'DefenderLedger', name: 'default' },
    });
    const before = stops(bed);
    bed.grants.deny = () => undefined;
    await bed.advance(15_000);
    expect(before).toBeLessThan(MEMBERS.length);
    expect(bed.hosting().log.slice(-DESTROYED.length)).toEqual(DESTROYED);
    expect(bed.grants.settled.slice(1)).toEqual(['g-2 UpdateControlPlane cluster:ci: Succeeded']);
  });

  it('gives back a grant of a Cluster that does not exist, as after a restore of the ledger', async () => {
    const bed = await createdBed(DEFAULT);
    await bed.grants.ask([{ ...ASK, holder: { kind: 'Cluster', name: 'old' }, machine: 'cluster:old' }]);
    await bed.advance(12_000);
    expect(bed.grants.settled).toEqual(['g-1 UpdateControlPlane cluster:old: Ambiguous']);
  });

  it('HOS-04 has one grant and the same end when hosting is killed before or after any request to the Defender', async () => {
    let requests = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= requests; n += 1) {
      for (const when of ['before', 'after'] as const) {
        const { bed, count } = await deletedBed(n, when);
        expect([n, when, found(bed), bed.hosting().planes.size]).toEqual([n, when, undefined, 0]);
        expect([n, when, ...bed.hosting().log.slice(-DESTROYED.length)]).toEqual([n, when, ...DESTROYED]);
        expect([n, when, ...bed.grants.settled]).toEqual([n, when, SETTLED]);
        if (count() < n) requests = count();
      }
    }
    // An ask and a renewal for the begin, each of five stops, and the removal; then the grant is given back.
    expect(requests).toBe(15);
  });

  it('has no grant on a hub without the policy fleet-default', async () => {
    const bed = await createdBed();
    bed.grants.deny = () => 'every ask is denied';
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.grants.settled]).toEqual([undefined, []]);
  });
});

import { describe, expect, it } from 'vitest';
import { type BootstrapTokenRecord, formatTokenRecord } from '../../../src/api/secrets/bootstrap-token.ts';
import { createBootstrapTokenController } from '../../../src/controllers/bootstraptoken/controller.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type FakeContextOptions, fakeContext } from '../../support/controller/fake-context.ts';
import { NOW } from '../../support/virtual-clock.ts';

const DELETE = 'delete Secret bootstrap-token-abc123 secret-1';
const at = (seconds: number): string => new Date(NOW.getTime() + seconds * 1000).toISOString();

function machine(record: Partial<BootstrapTokenRecord> = {}): KubeObject {
  const all = {
    id: 'abc123',
    secretUid: 'secret-1',
    expiresAt: at(600),
    epoch: 1,
    replacesAgent: true,
    ...record,
  };
  const annotations = { 'kubenode.dev/bootstrap-token': formatTokenRecord(all) };
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'n17', annotations } };
}

const used: KubeObject = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r1', creationTimestamp: at(-60) },
  spec: { request: '', signerName: '', username: 'system:bootstrap:abc123' },
  status: {
    certificate: 'abc',
    conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: at(-20) }],
  },
};
const lease: KubeObject = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n17', namespace: 'kubenode-agents' },
  spec: { renewTime: at(-10) },
};

async function reconcile(objects: FakeContextOptions['objects'], fails?: FakeContextOptions['fails']) {
  const { context, writes } = fakeContext({ objects, ...(fails ? { fails } : {}) });
  const outcome = await createBootstrapTokenController()
    .reconcile('n17', context)
    .then(
      (result) => result,
      (error: unknown) => error,
    );
  return { outcome, writes };
}

describe('the bootstrap token controller', () => {
  it('deletes a used token by its UID, then records that nothing is left', async () => {
    const objects = { Machine: [machine()], CertificateSigningRequest: [used], Lease: [lease] };
    const { writes } = await reconcile(objects);
    const left = formatTokenRecord({ id: 'abc123', expiresAt: at(600), epoch: 1, replacesAgent: false });
    expect(writes).toEqual([DELETE, `patch n17 ${left}`]);
  });

  it('lets the next token replace the agent when this one was never used', async () => {
    const { writes } = await reconcile({ Machine: [machine({ expiresAt: at(0) })] });
    const left = formatTokenRecord({ id: 'abc123', expiresAt: at(0), epoch: 1, replacesAgent: true });
    expect(writes).toEqual([DELETE, `patch n17 ${left}`]);
  });

  it('MAC-30 reads no request with the token of another machine', async () => {
    let reads = 0;
    const others = Array.from({ length: 100 }, (_, index) => ({
      ...used,
      metadata: { ...used.metadata, name: `other-${index}` },
      spec: { ...(used['spec'] as object), username: `system:bootstrap:other${index}` },
      get status() {
        reads += 1;
        return { conditions: [{ type: 'Denied', status: 'True' }] };
      },
    }));
    const objects = { Machine: [machine()], CertificateSigningRequest: [...others, used], Lease: [lease] };
    const { writes } = await reconcile(objects);
    expect([writes[0], reads]).toEqual([DELETE, 0]);
  });

  it('looks again soon while a host joins', async () => {
    const { outcome, writes } = await reconcile({ Machine: [machine()] });
    expect([outcome, writes]).toEqual([{ requeueAt: new Date(NOW.getTime() + 2000) }, []]);
  });

  it('keeps another Secret that got the same name', async () => {
    const conflict = new KubeError('Conflict', 'another uid');
    const fails = (write: string): Error | undefined => (write === DELETE ? conflict : undefined);
    const { writes } = await reconcile({ Machine: [machine({ expiresAt: at(0) })] }, fails);
    expect(writes).toHaveLength(2);
  });

  it('keeps the record when the token could not be deleted', async () => {
    const away = new KubeError('Unreachable', 'away');
    const { outcome, writes } = await reconcile({ Machine: [machine({ expiresAt: at(0) })] }, () => away);
    expect([outcome, writes]).toEqual([away, [DELETE]]);
  });

  it('has nothing to do for a Machine without a token', async () => {
    const { secretUid: _, ...rest } = {
      secretUid: 'x',
      id: 'abc123',
      expiresAt: at(-1),
      epoch: 0,
      replacesAgent: false,
    };
    const deleted = machine();
    const annotations = { 'kubenode.dev/bootstrap-token': formatTokenRecord(rest) };
    const objects = { Machine: [{ ...deleted, metadata: { ...deleted.metadata, annotations } }] };
    expect(await reconcile(objects)).toEqual({ outcome: {}, writes: [] });
    expect(await reconcile({})).toEqual({ outcome: {}, writes: [] });
  });
});

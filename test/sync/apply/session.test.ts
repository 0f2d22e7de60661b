import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  type ClusterSession,
  IdentityMismatch,
  openClusterSession,
} from '../../../src/sync/apply/session.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { createFakeCluster } from './fake-cluster.ts';
import { configMap, HELD } from './fixtures.ts';

const NEVER = new AbortController().signal;

/** Which cluster answers at the address; a test changes it. */
interface Address {
  uid: string;
  unreachable?: boolean;
  lease?: string;
}

function sessionAt(address: Address, pinned?: string): Promise<ClusterSession> {
  const cluster = createFakeCluster();
  return openClusterSession(
    {
      cluster: 'test',
      connect: async (fence): Promise<Client> => ({
        ...cluster.process({ fence }).client,
        get: async <T>() => {
          if (address.unreachable) throw new KubeError('Unreachable', 'no answer');
          const namespace: KubeObject = {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: 'kube-system', uid: address.uid },
          };
          return namespace as T;
        },
        raw: async () => ({ gitVersion: 'v1.36.3' }),
      }),
      pinnedUID: () => pinned,
      lease: { ...HELD, notHeldReason: () => address.lease },
      scope: '',
      clock: virtualClock(),
      log: memoryLog(),
      random: () => 0.5,
      onChange: () => undefined,
    },
    NEVER,
  );
}

const write = ({ client }: ClusterSession): Promise<unknown> => client.create(CONFIG_MAPS, configMap('a'));

describe('openClusterSession', () => {
  it('S6 opens with the pinned cluster and rejects any other', async () => {
    await expect(write(await sessionAt({ uid: 'one' }, 'one'))).resolves.toBeDefined();
    await expect(sessionAt({ uid: 'two' }, 'one')).rejects.toThrow(IdentityMismatch);
  });

  it('S6 writes nothing once another cluster answers', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionAt(address);
    address.uid = 'two';
    await expect(session.verify(NEVER)).rejects.toThrow(
      'answers as cluster two, and this Cluster is pinned to one',
    );
    await expect(write(session)).rejects.toThrow('the identity of the cluster is not verified');
  });

  it('S6 does not take another cluster for a first contact after an outage', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionAt(address);
    address.unreachable = true;
    await expect(session.verify(NEVER)).rejects.toMatchObject({ code: 'Unreachable' });
    await expect(write(session)).rejects.toThrow('the identity of the cluster is not verified');
    address.unreachable = false;
    address.uid = 'two';
    await expect(session.verify(NEVER)).rejects.toThrow(IdentityMismatch);
    address.uid = 'one';
    await session.verify(NEVER);
    await expect(write(session)).resolves.toBeDefined();
  });

  it('S6 verifies the identity before the first write of a reconcile that began without', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionAt(address);
    session.verifyBeforeWrite();
    await expect(write(session)).rejects.toThrow('the identity of the cluster is not verified');
    const store = await session.store();
    await store.claim();
    await expect(write(session)).resolves.toBeDefined();
    session.verifyBeforeWrite();
    address.uid = 'two';
    await expect(store.writeApplied({ commit: 'a', digest: 'b' })).rejects.toThrow(IdentityMismatch);
    await expect(session.ensureVerified()).rejects.toThrow(IdentityMismatch);
    await expect(write(session)).rejects.toThrow('the identity of the cluster is not verified');
  });

  it('SAF-14 checks the Lease as each write leaves', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionAt(address);
    address.lease = 'lease cluster-test is held by another';
    await expect(write(session)).rejects.toThrow('lease cluster-test is held by another');
  });
});

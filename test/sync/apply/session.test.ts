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
import { memoryCluster } from './memory-cluster.ts';
import { configMap } from './world.ts';

const NEVER = new AbortController().signal;

/** Who answers under the address; a test changes it. */
interface Address {
  uid: string;
  silent?: boolean;
  lease?: string;
}

function sessionOn(address: Address, pinned?: string): Promise<ClusterSession> {
  const { client } = memoryCluster().process();
  const answering: Client = {
    ...client,
    get: async <T>() => {
      if (address.silent) throw new KubeError('Unreachable', 'no answer');
      const namespace: KubeObject = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'kube-system', uid: address.uid },
      };
      return namespace as T;
    },
    raw: async () => ({ gitVersion: 'v1.36.3' }),
  };
  return openClusterSession(
    {
      connect: async () => answering,
      pinnedUID: () => pinned,
      writeBlockedReason: () => address.lease,
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

describe('a session', () => {
  it('S6 opens with the cluster that is pinned, and with no other', async () => {
    await expect(write(await sessionOn({ uid: 'one' }, 'one'))).resolves.toBeDefined();
    await expect(sessionOn({ uid: 'two' }, 'one')).rejects.toThrow(IdentityMismatch);
  });

  it('S6 writes nothing once another cluster answers', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionOn(address);
    address.uid = 'two';
    await expect(session.verify(NEVER)).rejects.toThrow(
      'answers as cluster two, and this Cluster is pinned to one',
    );
    await expect(write(session)).rejects.toMatchObject({ code: 'Aborted' });
  });

  it('S6 takes nobody for a first contact after a silence', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionOn(address);
    address.silent = true;
    await expect(session.verify(NEVER)).rejects.toMatchObject({ code: 'Unreachable' });
    await expect(write(session)).rejects.toMatchObject({ code: 'Aborted' });
    address.silent = false;
    address.uid = 'two';
    await expect(session.verify(NEVER)).rejects.toThrow(IdentityMismatch);
    address.uid = 'one';
    await session.verify(NEVER);
    await expect(write(session)).resolves.toBeDefined();
  });

  it('asks right before each write whether it may', async () => {
    const address: Address = { uid: 'one' };
    const session = await sessionOn(address);
    address.lease = 'lease cluster-test is held by another';
    await expect(write(session)).rejects.toThrow('lease cluster-test is held by another');
  });
});

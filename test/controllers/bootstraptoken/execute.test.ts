import { describe, expect, it } from 'vitest';
import {
  type BootstrapTokenRecord,
  formatTokenRecord,
  tokenRecordOf,
} from '../../../src/api/secrets/bootstrap-token.ts';
import { createBootstrapToken } from '../../../src/controllers/bootstraptoken/execute.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { NOW } from '../../support/virtual-clock.ts';

interface Made {
  readonly token: string;
  readonly secret: KubeObject | undefined;
  readonly record: BootstrapTokenRecord | undefined;
}

/** Each conflict comes with a raised epoch. */
async function make(
  epoch: number | undefined,
  before?: Partial<BootstrapTokenRecord>,
  conflicts = 0,
): Promise<Made> {
  const old = { id: 'older1', expiresAt: '', epoch: 0, replacesAgent: false, ...before };
  const annotations = before ? { 'kubenode.dev/bootstrap-token': formatTokenRecord(old) } : {};
  let secret: KubeObject | undefined;
  let patched: KubeObject | undefined;
  let changes = 0;
  const client: Partial<Client> = {
    get: async <T>() =>
      ({
        metadata: { name: 'n17', uid: 'uid-17', resourceVersion: `${5 + changes}`, annotations },
        spec: { agentEpoch: changes === 0 ? epoch : (epoch ?? 0) + changes },
      }) as T,
    create: async <T>(_resource: unknown, object: KubeObject) => {
      secret = object;
      return { ...object, metadata: { ...object.metadata, uid: 'secret-1' } } as T;
    },
    patch: async <T>(_resource: unknown, _name: unknown, { body }: { body: unknown }) => {
      // The record is worth something only when the Secret is there.
      expect(secret).toBeDefined();
      if (changes < conflicts) {
        changes += 1;
        throw new KubeError('Conflict', 'the object has been modified', { status: 409 });
      }
      patched = body as KubeObject;
      return undefined as T;
    },
  };
  let next = 0;
  const { token } = await createBootstrapToken({
    client: client as Client,
    machine: 'n17',
    now: NOW,
    randomInt: (below) => {
      next += 1;
      return next % below;
    },
  });
  expect(patched?.metadata).toMatchObject({ uid: 'uid-17', resourceVersion: `${5 + conflicts}` });
  return { token, secret, record: patched && tokenRecordOf(patched) };
}

describe('createBootstrapToken', () => {
  it('makes a token for the UID of one Machine, and records it without its secret', async () => {
    const { token, secret, record } = await make(undefined);
    expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    const [id = '', secretText = ''] = token.split('.');
    expect(secret).toMatchObject({
      type: 'bootstrap.kubernetes.io/token',
      metadata: {
        name: `bootstrap-token-${id}`,
        namespace: 'kube-system',
        labels: { 'kubenode.dev/machine': 'n17' },
      },
      stringData: {
        'token-id': id,
        'token-secret': secretText,
        'auth-extra-groups': 'system:bootstrappers:kubenode,system:bootstrappers:kubenode:uid-17',
        'usage-bootstrap-authentication': 'true',
        expiration: new Date(NOW.getTime() + 900_000).toISOString().replace('.000Z', 'Z'),
      },
    });
    expect(record).toMatchObject({ id, secretUid: 'secret-1', epoch: 0, replacesAgent: false });
    expect(JSON.stringify(record)).not.toContain(secretText);
  });

  it.each<[string, number, Partial<BootstrapTokenRecord> | undefined, boolean]>([
    ['a first token', 0, undefined, false],
    ['a second token', 0, { epoch: 0 }, false],
    ['the first token after the epoch was raised', 1, { epoch: 0 }, true],
    ['a first token of a Machine that was raised before it', 1, undefined, true],
    ['another token after one that was not used', 1, { epoch: 1, replacesAgent: true }, true],
    ['another token after one that was used', 1, { epoch: 1, replacesAgent: false }, false],
    ['a token after the epoch was raised twice', 3, { epoch: 1, replacesAgent: false }, true],
  ])('says of %s whether it replaces an agent', async (_, epoch, before, expected) => {
    expect((await make(epoch, before)).record).toMatchObject({ epoch, replacesAgent: expected });
  });

  it('records the token for the Machine as it is now, when others write it at the same time', async () => {
    const { record } = await make(0, { epoch: 0 }, 4);
    expect(record).toMatchObject({ epoch: 4, replacesAgent: true });
  });

  it('fails when the Machine changes again and again', async () => {
    await expect(make(0, undefined, 5)).rejects.toThrow('the object has been modified');
  });
});

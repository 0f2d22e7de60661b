import { describe, expect, it } from 'vitest';
import { SecretError } from '../../../../../src/api/secrets/read.ts';
import {
  readImportSecret,
  type SecretPurpose,
} from '../../../../../src/controllers/machine/import/execute/import-secret.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import type { ImportSecret, ImportTarget } from '../../../../../src/providers/ssh/import/contract.ts';
import { NEVER } from '../../../../providers/contract/harness.ts';
import { importedMachine } from './import-bed.ts';

const KEYS = { 'ssh-privatekey': 'KEY', 'ssh-passphrase': 'phrase', 'sudo-password': 'hunter2' };

function target(changes: Partial<ImportTarget['spec']> = {}): Omit<ImportTarget, 'secret'> {
  const spec = importedMachine('m', changes).spec.import as ImportTarget['spec'];
  return { machine: 'm', machineUid: 'u', spec };
}

function clientOf(use: string | undefined, data: Readonly<Record<string, string>> = KEYS): { get: never } {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const annotations = use === undefined ? {} : { 'kubenode.dev/secret-use': use };
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'rack7-ssh', namespace: 'kubenode-system', annotations },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
  return { get: (async () => secret) as never };
}

async function reading(
  from: ReturnType<typeof target>,
  client: { readonly get: never },
  purpose: SecretPurpose = 'Import',
): Promise<ImportSecret> {
  return await readImportSecret(from, { client, purpose }, NEVER);
}

describe('the Secret of an import', () => {
  it('has the key, and the passphrase of the key', async () => {
    const secret = await reading(target(), clientOf('ssh'));
    expect(secret).toEqual({ privateKey: 'KEY', passphrase: 'phrase' });
  });

  it.each([
    [{ user: 'admin' }, 'ssh; 10.0.0.1'],
    [{ user: 'admin', address: 'N1.example.com', port: 2022 }, 'ssh; n2.example.com, n1.example.com:2022'],
    [{ user: 'admin', address: 'fd00::1' }, 'ssh; [fd00::1]'],
  ])('MAC-12 gives the password of sudo to a host that it names: %j', async (spec, use) => {
    const { sudoPassword } = await reading(target(spec), clientOf(use));
    expect(sudoPassword).toBe('hunter2');
  });

  it.each([
    [{ user: 'admin' }, 'ssh'],
    [{ user: 'admin', address: '10.6.6.6' }, 'ssh; 10.0.0.1'],
    [{ user: 'admin', port: 2022 }, 'ssh; 10.0.0.1'],
  ])('MAC-12 gives the password of sudo to no other host: %j with %s', async (spec, use) => {
    const found = reading(target(spec), clientOf(use));
    await expect(found).rejects.toThrow(/does not permit Machine m .*To permit it: kubectl/);
    await expect(found).rejects.not.toThrow('hunter2');
  });

  const REGISTRIES = '{"auths": {"r.example.com": {"auth": "b25l"}}}';
  const WITH_REGISTRIES = { 'ssh-privatekey': 'KEY', 'registries.json': REGISTRIES };

  it('MAC-12 gives the credentials of registries to a host that it names', async () => {
    const secret = await reading(target(), clientOf('ssh; 10.0.0.1', WITH_REGISTRIES));
    expect(secret.registries).toBe(REGISTRIES);
  });

  it.each(['ssh', 'ssh; 10.6.6.6'])(
    'MAC-12 gives the credentials of registries to no other host: %s',
    async (use) => {
      const found = reading(target(), clientOf(use, WITH_REGISTRIES));
      await expect(found).rejects.toThrow(/does not permit Machine m/);
    },
  );

  it.each(['ssh', 'ssh; 10.6.6.6', 'ssh; 10.0.0.1'])(
    'MAC-12 is not asked for credentials of registries where a host is only reached: %s',
    async (use) => {
      const secret = await reading(target(), clientOf(use, WITH_REGISTRIES), 'Connect');
      expect(secret).toEqual({ privateKey: 'KEY' });
    },
  );

  it.each(['hunter2', '{"credsStore": "hunter2"}', '{"auths": {"r.example.com": {"auth": "hunter2!"}}}'])(
    'MAC-12 is named when its credentials of registries are not in the format of Docker: %s',
    async (text) => {
      const data = { ...WITH_REGISTRIES, 'registries.json': text };
      const found = reading(target(), clientOf('ssh; 10.0.0.1', data));
      await expect(found).rejects.toThrow(
        'Secret kubenode-system/rack7-ssh: expected {"auths": {"REGISTRY": {"auth": "BASE64"}}} in the key registries.json. Correct it, or remove the key',
      );
      await expect(found).rejects.toBeInstanceOf(SecretError);
    },
  );

  it('is not needed for the password of sudo by root, nor where it has none', async () => {
    const { 'sudo-password': _, ...data } = KEYS;
    await expect(reading(target({ user: 'admin' }), clientOf('ssh', data))).resolves.toMatchObject({
      privateKey: 'KEY',
    });
    expect(await reading(target(), clientOf('ssh'))).not.toHaveProperty('sudoPassword');
  });

  it.each([[undefined], ['kubeconfig']])('is refused with the use %j', async (use) => {
    await expect(reading(target(), clientOf(use))).rejects.toThrow('Secret kubenode-system/rack7-ssh');
  });

  it('is named when it does not exist', async () => {
    const get = (async () => {
      throw new KubeError('NotFound', 'secrets "rack7-ssh" not found');
    }) as never;
    await expect(reading(target(), { get })).rejects.toThrow(
      'Secret kubenode-system/rack7-ssh, which Machine m references, does not exist',
    );
  });
});

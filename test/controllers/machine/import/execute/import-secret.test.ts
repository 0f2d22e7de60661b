import { describe, expect, it } from 'vitest';
import { readImportSecret } from '../../../../../src/controllers/machine/import/execute/import-secret.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import type { ImportTarget } from '../../../../../src/providers/ssh/import/contract.ts';
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

describe('the Secret of an import', () => {
  it('has the key, and the passphrase of the key', async () => {
    const secret = await readImportSecret(target(), clientOf('ssh'), NEVER);
    expect(secret).toEqual({ privateKey: 'KEY', passphrase: 'phrase' });
  });

  it.each([
    [{ user: 'admin' }, 'ssh; 10.0.0.1'],
    [{ user: 'admin', address: 'N1.example.com', port: 2022 }, 'ssh; n2.example.com, n1.example.com:2022'],
    [{ user: 'admin', address: 'fd00::1' }, 'ssh; [fd00::1]'],
  ])('MAC-12 gives the password of sudo to a host that it names: %j', async (spec, use) => {
    const { sudoPassword } = await readImportSecret(target(spec), clientOf(use), NEVER);
    expect(sudoPassword).toBe('hunter2');
  });

  it.each([
    [{ user: 'admin' }, 'ssh'],
    [{ user: 'admin', address: '10.6.6.6' }, 'ssh; 10.0.0.1'],
    [{ user: 'admin', port: 2022 }, 'ssh; 10.0.0.1'],
  ])('MAC-12 gives the password of sudo to no other host: %j with %s', async (spec, use) => {
    const reading = readImportSecret(target(spec), clientOf(use), NEVER);
    await expect(reading).rejects.toThrow(/does not permit Machine m .*To permit it: kubectl/);
    await expect(reading).rejects.not.toThrow('hunter2');
  });

  const WITH_REGISTRIES = { 'ssh-privatekey': 'KEY', 'registries.json': 'it' };

  it('MAC-12 gives the credentials of registries to a host that it names', async () => {
    const secret = await readImportSecret(target(), clientOf('ssh; 10.0.0.1', WITH_REGISTRIES), NEVER);
    expect(secret.registries).toBe('it');
  });

  it.each(['ssh', 'ssh; 10.6.6.6'])(
    'MAC-12 gives the credentials of registries to no other host: %s',
    async (use) => {
      const reading = readImportSecret(target(), clientOf(use, WITH_REGISTRIES), NEVER);
      await expect(reading).rejects.toThrow(/does not permit Machine m/);
    },
  );

  it('is not needed for the password of sudo by root, nor where it has none', async () => {
    const { 'sudo-password': _, ...data } = KEYS;
    await expect(
      readImportSecret(target({ user: 'admin' }), clientOf('ssh', data), NEVER),
    ).resolves.toMatchObject({
      privateKey: 'KEY',
    });
    expect(await readImportSecret(target(), clientOf('ssh'), NEVER)).not.toHaveProperty('sudoPassword');
  });

  it.each([[undefined], ['kubeconfig']])('is refused with the use %j', async (use) => {
    await expect(readImportSecret(target(), clientOf(use), NEVER)).rejects.toThrow(
      'Secret kubenode-system/rack7-ssh',
    );
  });

  it('is named when it does not exist', async () => {
    const get = (async () => {
      throw new KubeError('NotFound', 'secrets "rack7-ssh" not found');
    }) as never;
    await expect(readImportSecret(target(), { get }, NEVER)).rejects.toThrow(
      'Secret kubenode-system/rack7-ssh, which Machine m references, does not exist',
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { DecryptionKeys } from '../../../../src/sync/decrypt-objects.ts';
import { decryptionRefusal } from '../../../../src/sync/hub/acceptance/decryption.ts';
import type { Rendered } from '../../../../src/sync/rendered.ts';
import { encryptedObject, firstKeys } from '../../../kube/sops/encrypted-files.ts';

const FILE = 'fleet/db.sops.yaml:1';

function rendered(objects: readonly KubeObject[], targets = ['prod-1']): Pick<Rendered, 'targets'> {
  const unit = {
    unit: 'shop',
    objects: objects.map((object) => ({ object, source: { file: FILE } })),
    digest: '',
  };
  return { targets: targets.map((target) => ({ target, units: [unit], digest: '' })) };
}

const KEYS: DecryptionKeys = { version: '1', read: firstKeys };
const PLAIN: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('decryptionRefusal', () => {
  it('S29 accepts objects that can be decrypted and are as they were encrypted', async () => {
    const objects = [PLAIN, encryptedObject('secret.yaml'), encryptedObject('nested.yaml')];
    expect(await decryptionRefusal(rendered(objects), KEYS)).toBeUndefined();
  });

  it('S29 refuses a tampered object with its file, its clusters and the reason, and no value', async () => {
    const object = encryptedObject('secret.yaml', (text) => text.replace('payments', 'attacker'));
    const refused = await decryptionRefusal(rendered([PLAIN, object], ['prod-1', 'prod-2']), KEYS);
    expect(refused?.message).toMatch(
      /^Secret shop\/db of prod-1, prod-2: its checksum differs \(sops.mac\): .*`sops edit`.* \[fleet\/db.sops.yaml:1\]$/,
    );
    expect(refused?.message).not.toContain('last letter');
  });

  it('S29 names the keys that a file is for, and those of sync', async () => {
    const refused = await decryptionRefusal(rendered([encryptedObject('post-quantum.yaml')]), KEYS);
    expect(refused?.message).toMatch(/it is encrypted for age1pq1.*, and sync has the keys of age1548/);
  });

  it('reads the keys once, and decrypts the same file of many clusters once', async () => {
    let wrapped = 0;
    let reads = 0;
    const keys: DecryptionKeys = {
      version: '1',
      async read() {
        reads += 1;
        const keysOfFile = await firstKeys();
        return {
          recipients: keysOfFile.recipients,
          unwrap(armored) {
            wrapped += 1;
            return keysOfFile.unwrap(armored);
          },
        };
      },
    };
    const names = Array.from({ length: 50 }, (_, index) => `prod-${index}`);
    const fleet = rendered([encryptedObject('secret.yaml'), encryptedObject('nested.yaml')], names);
    const copies = { targets: fleet.targets.map((target) => structuredClone(target)) };
    expect(await decryptionRefusal(copies, keys)).toBeUndefined();
    expect([reads, wrapped]).toEqual([1, 2]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  completeKeys,
  digestsOf,
  KEY_FILES,
  type KeyRequest,
  lostKeysOf,
  pairOf,
  reportKeys,
  servedFile,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import {
  keyFilesOf,
  memberFiles,
  secretObject,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const request: KeyRequest = {
  cluster: 'ci',
  settings: planeRecord().settings,
  apiServerNames: ['10.0.0.3'],
  etcdNames: ['10.0.0.2'],
  now: NOW,
};
const files = completeKeys({}, request);
const later: KeyRequest = { ...request, now: new Date(+NOW + 300 * 86_400_000) };

function dueOf(found = files, asked = request): readonly string[] {
  return reportKeys(found, asked).flatMap(({ name, due }) => (due === undefined ? [] : [name]));
}

describe('the keys of a control plane of pods', () => {
  it('HOS-20 are complete at once, and made once', () => {
    expect(dueOf()).toEqual([]);
    expect(completeKeys(files, request)).toBe(files);
    expect(Object.keys(digestsOf(files))).toHaveLength(4);
    expect(new Set(Object.values(digestsOf(files))).size).toBe(4);
  });

  it('HOS-21 renews certificates whose time has come, and no key that is made once', () => {
    expect(dueOf(files, later)).toEqual(expect.arrayContaining(['etcd', 'apiserver', 'sync', 'admin']));
    const renewed = completeKeys(files, later);
    expect(dueOf(renewed, later)).toEqual([]);
    expect(digestsOf(renewed)).toEqual(digestsOf(files));
    expect(pairOf(renewed, later, 'sync')).not.toEqual(pairOf(files, later, 'sync'));
  });

  it('HOS-21 issues again what is made for another address, and only that', () => {
    const moved = { ...request, apiServerNames: ['10.0.0.9'] };
    expect(dueOf(files, moved)).toEqual(['apiserver']);
    const issued = completeKeys(files, moved);
    const changed = Object.keys(issued).filter((name) => issued[name] !== files[name]);
    expect(changed).toEqual(['cluster.apiserver.pem']);
  });

  it.each(Object.entries(KEY_FILES))('HOS-20 finds that %s is lost or replaced', (name, file) => {
    const { [file]: _, ...without } = files;
    const digests = digestsOf(files);
    expect(lostKeysOf(files, digests)).toEqual([]);
    expect(lostKeysOf(without, digests)).toEqual([`${file} is missing or damaged`]);
    const other = completeKeys({}, request);
    expect(lostKeysOf({ ...files, [file]: other[file] ?? '' }, digests)).toEqual([
      `${file} is not the key that it was made with`,
    ]);
    expect(lostKeysOf(without, {})).toEqual([]);
    expect(name).not.toBe('');
  });

  it('HOS-20 gives each member its own keys, and the key of the CA only to the one that signs with it', () => {
    const all = memberFiles(files, 'https://10.0.0.3:6443');
    const authorities = Object.keys(all).filter((name) => all[name]?.['ca.pem'] !== undefined);
    expect(authorities).toEqual(['kube-controller-manager']);
    const tokens = Object.keys(all).filter((name) => all[name]?.['sa.key'] !== undefined);
    expect(tokens).toEqual(['kube-apiserver', 'kube-controller-manager']);
    expect(Object.keys(all['kube-scheduler'] ?? {}).toSorted()).toEqual([
      'ca.crt',
      'kubeconfig',
      'scheduler.pem',
      'serving.pem',
    ]);
    for (const [name, found] of Object.entries(all)) {
      expect([name, Object.keys(found).filter((file) => /admin|sync/.test(file))]).toEqual([name, []]);
      for (const file of Object.keys(found).filter((each) => each.endsWith('.crt'))) {
        expect(found[file]).not.toContain('PRIVATE KEY');
      }
    }
  });

  it('names the certificate that each server should serve', () => {
    expect(servedFile(files, request, 'etcd')).toEqual(pairOf(files, request, 'etcd'));
    expect(servedFile(files, request, 'kube-scheduler')).toBeDefined();
    expect(servedFile(files, request, 'kubenode-controllers')).toBeUndefined();
  });

  it('is read from a Secret as it was written', () => {
    expect(keyFilesOf(secretObject('ci', { name: 'x', files }))).toEqual(files);
  });
});

/** The audit record on a real API server: who may write it, and that it only grows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  NAMESPACE_AUDIT,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_MACHINE,
  PRINCIPAL_SYNC,
  POLICY_AUDIT_RECORD as RECORD,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type AccessDecision, type Attempt, finalDecision } from '../attempts.ts';
import { type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

const NAME = 'record-sync-000001';
const LINES = 'one\ntwo\n';

let sample: SampleCluster;
let sync: Client;
beforeAll(async () => {
  sample = await startSampleCluster();
  sync = await sample.account(PRINCIPAL_SYNC);
});
beforeEach(() => sample.server.wipe());
afterAll(() => sample?.stop());

function part(data: Readonly<Record<string, string>>, name = NAME): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE_AUDIT }, data };
}

function creation(object: KubeObject): Attempt {
  return (client) => client.create(CONFIG_MAPS, object, { dryRun: true });
}

function change(before: KubeObject, data: Readonly<Record<string, string>>): Attempt {
  return (client) => client.replace(CONFIG_MAPS, { ...before, data }, { dryRun: true });
}

function removal({ metadata }: KubeObject): Attempt {
  const { name, uid = '' } = metadata;
  return (client) => client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE_AUDIT }, { uid, dryRun: true });
}

describe('S30 the audit record only grows', () => {
  it.each<[string, Readonly<Record<string, string>>, AccessDecision]>([
    ['with another line', { lines: `${LINES}three\n` }, 'allowed'],
    ['as it was', { lines: LINES }, 'allowed'],
    ['without a line', { lines: 'two\n' }, RECORD],
    ['with a changed line', { lines: 'One\ntwo\nthree\n' }, RECORD],
    ['with a line before the first', { lines: `zero\n${LINES}` }, RECORD],
    ['empty', { lines: '' }, RECORD],
    ['without its key', { newest: '2' }, RECORD],
  ])('S30 may be written by sync %s: %#', async (_, data, expected) => {
    const before = await sync.create(CONFIG_MAPS, part({ lines: LINES }));
    expect(await finalDecision(sync, change(before, data), expected)).toBe(expected);
  });

  it('S30 lets sync name another newest part, and delete the oldest one', async () => {
    const head = await sync.create(CONFIG_MAPS, part({ newest: '1' }, 'record-sync'));
    expect(await finalDecision(sync, change(head, { newest: '2' }), 'allowed')).toBe('allowed');
    const old = await sync.create(CONFIG_MAPS, part({ lines: LINES }));
    expect(await finalDecision(sync, removal(old), 'allowed')).toBe('allowed');
  });

  it('S30 may be written by no other account, not even by administrators', async () => {
    const before = await sync.create(CONFIG_MAPS, part({ lines: LINES }));
    const { admin } = sample;
    const added = { lines: `${LINES}three\n` };
    for (const attempt of [
      change(before, added),
      removal(before),
      creation(part({}, 'record-sync-000002')),
    ]) {
      expect(await finalDecision(admin, attempt, RECORD)).toBe(RECORD);
    }
    const defender = await sample.account(PRINCIPAL_DEFENDER);
    const own = creation(part({ lines: LINES }, 'record-defender-000001'));
    expect(await finalDecision(defender, own, 'allowed')).toBe('allowed');
    const machine = await sample.account(PRINCIPAL_MACHINE);
    expect(await finalDecision(machine, own, 'no permission')).toBe('no permission');
  });

  it('S30 leaves other ConfigMaps of the namespace alone, such as the certificates that Kubernetes adds', async () => {
    const other = creation(part({ 'ca.crt': 'x' }, 'kube-root-ca.crt'));
    expect(await finalDecision(sample.admin, other, 'allowed')).toBe('allowed');
  });
});

import { describe, expect, it } from 'vitest';
import { withWritesAs } from '../../../src/kube/auth/write-as.ts';
import { APPLY, createClientBed, NODE, NODES } from '../../support/kube/client-bed.ts';

describe('withWritesAs', () => {
  it('sends each kind of write as the user, with its other options, and reads as the process', async () => {
    const { client, sent } = createClientBed({ body: NODE });
    const impersonate = { user: 'system:serviceaccount:shop:deployer' };
    const other = withWritesAs(client, impersonate);
    await other.apply(NODES, NODE, { ...APPLY, force: true });
    await other.create(NODES, NODE, { dryRun: true });
    await other.replace(NODES, NODE);
    await other.patch(NODES, { name: 'a' }, { type: 'json', body: [] });
    await other.delete(NODES, { name: 'a' }, { uid: 'u' });
    await other.get(NODES, { name: 'a' });
    expect(sent.map((request) => request.impersonate?.user)).toEqual([
      ...Array.from({ length: 5 }, () => impersonate.user),
      undefined,
    ]);
    expect([sent[0]?.query?.['force'], sent[1]?.query?.['dryRun']]).toEqual(['true', 'All']);
    expect(sent[4]?.body).toContain('"uid":"u"');
  });
});

import { describe, expect, it, vi } from 'vitest';
import { APPLY, createClientBed, NODE, NODES } from '../../support/kube/client-bed.ts';

describe('beforeSend', () => {
  it('reaches the transport with each kind of write', async () => {
    const beforeSend = vi.fn<() => void>();
    const { client, sent } = createClientBed({ body: NODE });
    await client.apply(NODES, NODE, { ...APPLY, beforeSend });
    await client.create(NODES, NODE, { beforeSend });
    await client.replace(NODES, NODE, { beforeSend });
    await client.patch(NODES, { name: 'a' }, { type: 'json', body: [] }, { beforeSend });
    await client.delete(NODES, { name: 'a' }, { uid: 'u', beforeSend });
    expect(sent.map((request) => request.beforeSend === beforeSend)).toEqual([true, true, true, true, true]);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { READ_FAULTS, sweep } from '../../support/fault-proxy/sweep.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { slice } from '../../support/sweep-size.ts';
import {
  commitNo,
  configMap,
  ownedConfigMaps,
  startTargetCluster,
  startTestSync,
  targetOf,
} from './target-cluster.ts';

let server: ApiServer;
let proxy: FaultProxy;
/** In the cluster, and desired under every fault: there is nothing to delete. */
const units = {
  web: Array.from({ length: 12 }, (_, index) => configMap(`w${index}`)),
  other: [configMap('x')],
};
const target = targetOf(commitNo(1), units);

beforeAll(async () => {
  server = await startTargetCluster();
  const sync = await startTestSync(server.client);
  await sync.sync(target);
  await sync.close();
  proxy = await faultProxy(server);
});
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

describe('S3 never takes unknown for absent: an error in any read deletes nothing', () => {
  it('deletes nothing under any fault of any read', { timeout: 12 * 3_600_000 }, async () => {
    await syncThroughProxy();
    const points = sweep(proxy.log, READ_FAULTS);
    expect(points.length).toBeGreaterThan(60);
    const all = await ownedConfigMaps(server.client);
    const wrong: string[] = [];
    for (const point of slice(points, 60)) {
      proxy.reset();
      proxy.on(point.rule());
      await syncThroughProxy();
      wrong.push(...deletes().map((path) => `${point.title}: deleted ${path}`));
    }
    expect(wrong).toEqual([]);
    expect(await ownedConfigMaps(server.client)).toEqual(all);
  });

  it('deletes no object that was removed from git while its kind cannot be listed', async () => {
    proxy.on({
      verb: 'list',
      resource: 'configmaps',
      query: { labelSelector: 'kubenode.dev/hub' },
      fault: READ_FAULTS[0]?.make(NO_EXCHANGE) ?? fail(),
    });
    const without = targetOf(commitNo(2), { web: units.web.slice(1), other: units.other });
    await syncThroughProxy(without);
    expect(deletes()).toEqual([]);
  });
});

// Faults that answer with a status do not use the exchange.
const NO_EXCHANGE = {} as never;

function fail(): never {
  throw new Error('expected at least one fault');
}

function deletes(): string[] {
  return proxy.log.filter(({ verb }) => verb === 'delete').map(({ path }) => path);
}

/** May fail under a fault. The proxy log shows what it did. */
async function syncThroughProxy(desired = target): Promise<void> {
  const client = await connect({ kubeconfig: proxy.kubeconfig });
  try {
    const sync = await startTestSync(client);
    try {
      await sync.sync(desired);
    } finally {
      await sync.close();
    }
  } catch (error) {
    if (!isKubeError(error)) throw error;
  } finally {
    await client.close();
  }
}

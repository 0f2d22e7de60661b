import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { READ_FAULTS, sweep } from '../../support/fault-proxy/sweep.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { slice } from '../../support/sweep-size.ts';
import { commitNo, configMap, freshSync, marked, startTarget, targetOf } from './bed.ts';

let server: ApiServer;
let proxy: FaultProxy;
/** What is in the cluster, and what the passes under fault want: they have nothing to delete. */
const units = {
  web: Array.from({ length: 12 }, (_, index) => configMap(`w${index}`)),
  other: [configMap('x')],
};
const target = targetOf(commitNo(1), units);

beforeAll(async () => {
  server = await startTarget();
  const bed = await freshSync(server.client);
  await bed.pass(target);
  await bed.close();
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
  it('deletes nothing, whatever goes wrong with any read', { timeout: 3_600_000 }, async () => {
    await passThroughProxy();
    const points = sweep(proxy.log, READ_FAULTS);
    expect(points.length).toBeGreaterThan(60);
    const all = await marked(server.client);
    const wrong: string[] = [];
    for (const point of slice(points, 60)) {
      proxy.reset();
      proxy.on(point.rule());
      await passThroughProxy();
      wrong.push(...deletes().map((path) => `${point.title}: deleted ${path}`));
    }
    expect(wrong).toEqual([]);
    expect(await marked(server.client)).toEqual(all);
  });

  it('deletes nothing of a unit that left git while its kind cannot be listed', async () => {
    proxy.on({
      verb: 'list',
      resource: 'configmaps',
      query: { labelSelector: 'kubenode.dev/hub' },
      fault: READ_FAULTS[0]?.make(NO_EXCHANGE) ?? fail(),
    });
    const without = targetOf(commitNo(2), { web: units.web.slice(1), other: units.other });
    await passThroughProxy(without);
    expect(deletes()).toEqual([]);
  });
});

// The status faults look at no exchange.
const NO_EXCHANGE = {} as never;

function fail(): never {
  throw new Error('there are no faults');
}

function deletes(): string[] {
  return proxy.log.filter(({ verb }) => verb === 'delete').map(({ path }) => path);
}

/** A pass may fail under a fault; what it may not do is seen by the proxy. */
async function passThroughProxy(wanted = target): Promise<void> {
  const client = await connect({ kubeconfig: proxy.kubeconfig });
  try {
    const bed = await freshSync(client);
    try {
      await bed.pass(wanted);
    } finally {
      await bed.close();
    }
  } catch (error) {
    if (!isKubeError(error)) throw error;
  } finally {
    await client.close();
  }
}

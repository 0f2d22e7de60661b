/** A cluster whose API server refuses writes because of its load, behind a proxy that asks for an hour. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RETRY_AFTER_SECONDS } from '../../../src/kube/client/retry-after.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { WRITES } from '../../support/fault-proxy/call.ts';
import { answer } from '../../support/fault-proxy/faults.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const clock = createSystemClock();

let fleet: TestFleet;
let proxy: FaultProxy;
beforeAll(async () => {
  fleet = await startTestFleet();
  proxy = await faultProxy(fleet.clusters.test);
});
beforeEach(async () => {
  await fleet.reset();
  proxy.reset();
  const kubeconfig = readFileSync(proxy.kubeconfigFor(createPrincipal('kubenode-sync'))).toString('base64');
  const secret = { name: 'test-kubeconfig', namespace: 'kubenode-system' };
  await fleet.hub.client.patch(SECRETS, secret, { type: 'merge', body: { data: { kubeconfig } } });
});
afterAll(async () => {
  await proxy?.close();
  await fleet?.stop();
});

describe('a server that refuses writes for an hour', () => {
  it('S16 is asked again within a minute, and its cluster shows when', async () => {
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(fleet.commit('1', 'first'));
    const rule = proxy.on({ verb: [...WRITES], fault: answer(429, { retryAfterSeconds: 3600 }) });
    fleet.commit('2', 'second');
    const next = async (): Promise<string | undefined> => {
      const { message = '' } = await fleet.state('test');
      return /; the next attempt is at (?<at>\S+Z)/.exec(message)?.groups?.['at'];
    };
    await expect.poll(next).toBeDefined();
    expect(rule.fired).toBeGreaterThan(0);
    const waitMs = Date.parse((await next()) ?? '') - clock.now().getTime();
    expect(waitMs).toBeLessThanOrEqual(1.2 * MAX_RETRY_AFTER_SECONDS * 1000);
    expect(await fleet.versions()).toEqual(['1', '1']);
  });
});

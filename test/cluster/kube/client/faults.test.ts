/** The result of each fault for a single call: never a false NotFound, never an incomplete list. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { answer, brokenDiscovery, emptyBody } from '../../../support/fault-proxy/faults.ts';
import { writesIn } from '../../../support/fault-proxy/log.ts';
import { type FaultProxy, faultProxy } from '../../../support/fault-proxy.ts';
import { EVERY_FAULT } from './every-fault.ts';

const HERE = { namespace: 'default' };
const ME = { fieldManager: 'me' };
const COUNT = 7;

let server: ApiServer;
let proxy: FaultProxy;
/** Gives up soon, for faults that never answer. */
let client: Client;
/** For calls that the server answers, however busy it is. */
let patient: Client;

beforeAll(async () => {
  server = await startApiServer();
  proxy = await faultProxy(server);
  client = await connect({ kubeconfig: proxy.kubeconfig, transport: { timeoutMs: 1500 } });
  patient = await connect({ kubeconfig: proxy.kubeconfig });
  for (let index = 0; index < COUNT; index += 1) {
    await server.client.apply(CONFIG_MAPS, map(`m-${index}`, '1'), ME);
  }
});
afterEach(() => {
  proxy.reset();
});
afterAll(async () => {
  await client.close();
  await patient.close();
  await proxy.close();
  await server.stop();
});

describe('reads', () => {
  it.each(EVERY_FAULT)(
    'get: %s gives the object or an error, and NotFound only from the server',
    async (name, fault) => {
      proxy.on({ verb: 'get', resource: 'configmaps', nth: 1, fault: fault() });
      const outcome = await outcomeOf(client.get(CONFIG_MAPS, { name: 'm-1', ...HERE }));
      expect(outcome === 'm-1' || isKubeError(outcome)).toBe(true);
      expect(isKubeError(outcome, 'NotFound')).toBe(name === '404');
      expect(await outcomeOf(patient.get(CONFIG_MAPS, { name: 'm-1', ...HERE }))).toBe('m-1');
    },
  );

  it.each(EVERY_FAULT)('pages: %s within a list gives the complete list or an error', async (_, fault) => {
    proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: fault() });
    const outcome = await namesOf(client).then(
      (names) => names.length,
      (error: unknown) => isKubeError(error),
    );
    expect([COUNT, true]).toContain(outcome);
  });

  it.each<[string, Parameters<FaultProxy['on']>[0]]>([
    ['a stale group', { path: /^\/apis/, fault: brokenDiscovery('apps') }],
    ['an error', { path: '/apis', fault: answer(503) }],
    ['an empty body', { path: '/api', fault: emptyBody() }],
  ])('kinds: %s is rejected', async (_, rule) => {
    patient.forgetResources();
    proxy.on(rule);
    await expect(patient.resources()).rejects.toSatisfy((error) =>
      isKubeError(error, 'ServerError', 'BadAnswer'),
    );
    proxy.reset();
    expect((await patient.resources()).length).toBeGreaterThan(30);
  });
});

describe('writes', () => {
  it.each(EVERY_FAULT)('apply: after %s, repeating the apply gives the same result', async (_, fault) => {
    const desired = map('again', proxy.url);
    proxy.on({ verb: 'apply', resource: 'configmaps', nth: 1, fault: fault() });
    const first = await outcomeOf(client.apply(CONFIG_MAPS, desired, ME));
    expect(first === 'again' || isKubeError(first)).toBe(true);
    expect((await patient.apply(CONFIG_MAPS, desired, ME))['data']).toEqual(desired['data']);
  });

  it('a dry run reaches the server and changes nothing', async () => {
    await patient.apply(CONFIG_MAPS, map('dry', '1'), { ...ME, dryRun: true });
    expect(writesIn(proxy.log)).toEqual([]);
    expect(
      isKubeError(await outcomeOf(server.client.get(CONFIG_MAPS, { name: 'dry', ...HERE })), 'NotFound'),
    ).toBe(true);
  });
});

function map(name: string, value: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...HERE, labels: { of: name } },
    data: { value },
  };
}

/** The object's name, or the error. */
async function outcomeOf(call: Promise<KubeObject>): Promise<unknown> {
  return call.then(
    ({ metadata }) => metadata.name,
    (error: unknown) => error,
  );
}

async function namesOf(from: Client): Promise<string[]> {
  const names: string[] = [];
  for await (const { items } of from.pages(CONFIG_MAPS, { limit: 2, ...HERE, labelSelector: 'of!=again' })) {
    names.push(...items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('m-')));
  }
  return names;
}

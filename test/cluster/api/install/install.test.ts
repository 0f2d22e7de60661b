/** Installation into an empty API server: complete and in force when it returns, or refused with a reason. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DefenderLedger } from '../../../../src/api/generated/types.ts';
import { isNewLedger } from '../../../../src/api/grants.ts';
import { InstallRefused, install, installation } from '../../../../src/api/install/install.ts';
import { KINDS } from '../../../../src/api/kinds/registry.ts';
import {
  POLICY_GIT_ONLY,
  POLICY_GRANT_REQUIRED,
  PRINCIPAL_DEFENDER,
  ROLE_VIEW,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { answer as answering, drop } from '../../../support/fault-proxy/faults.ts';
import { writesIn } from '../../../support/fault-proxy/log.ts';
import type { Fault } from '../../../support/fault-proxy/proxied-request.ts';
import { type FaultProxy, faultProxy } from '../../../support/fault-proxy.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { create, finalDecision } from '../attempts.ts';
import { CRD, counts } from '../installed-server.ts';
import { resources } from '../resources.ts';
import { example, GRANTS, job } from '../sample-cluster.ts';

const clock = createSystemClock();
const total = installation().length;
/** A few moments of an installation, or many. */
const cuts = LONG ? Array.from({ length: 50 }, (_, index) => 1 + index * 4) : [30, 120];

let server: ApiServer;
let proxy: FaultProxy;
let client: Client;
beforeAll(async () => {
  server = await startApiServer();
  proxy = await faultProxy(server);
  client = await connect({ kubeconfig: proxy.kubeconfig });
});
beforeEach(async () => {
  await server.wipe();
  proxy.reset();
  client.forgetResources();
});
afterAll(async () => {
  await client?.close();
  await proxy?.close();
  await server?.stop();
});

describe('install', () => {
  it('creates all objects, and returns when kinds are served and policies are in force', async () => {
    const progress: string[] = [];
    const results = await install(client, {
      clock,
      progress: ({ outcome }, done, all) => progress.push(`${outcome} ${done}/${all}`),
    });
    expect(counts(results)).toEqual({ created: total });
    expect(progress.at(-1)).toBe(`created ${total}/${total}`);
    expect((await client.list(CRD)).items).toHaveLength(KINDS.length);
    const machine = client.create(resources.Machine, example('Machine takes a free host of the ssh pool'));
    await expect(machine).resolves.toBeDefined();
    const rule = client.create(resources.NodeRemedier, example('NodeRemedier cleans full disks'));
    await expect(rule).rejects.toThrow(POLICY_GIT_ONLY);
  });

  it('creates a ledger that is usable at once: its first write issues a grant, and the job of that grant is accepted', async () => {
    await install(client, { clock });
    const name = { name: 'default' };
    const fresh = await client.get<DefenderLedger>(resources.DefenderLedger, name);
    expect(isNewLedger(fresh.spec)).toBe(true);
    expect(fresh.spec.recovering).toBe(false);
    const { id, fence } = GRANTS.n17;
    const { spec } = example('DefenderLedger holds a grant') as DefenderLedger;
    const grants = { n17: { ...spec.grants['n17'], id, fence } };
    const defender = await connect({
      kubeconfig: proxy.kubeconfigFor({ user: serviceAccountUser(PRINCIPAL_DEFENDER) }),
    });
    const taken = { ...fresh, spec: { seq: 1, epoch: 1, grants } };
    await defender.replace(resources.DefenderLedger, taken);
    await defender.close();
    expect(await finalDecision(client, create(job('n17')), 'allowed')).toBe('allowed');
    expect(await finalDecision(client, create(job('n18')), POLICY_GRANT_REQUIRED)).toBe(
      POLICY_GRANT_REQUIRED,
    );
  });

  it('writes nothing in a dry run, and reports that all objects would be created', async () => {
    expect(counts(await install(client, { clock, dryRun: true }))).toEqual({ created: total });
    expect((await client.list(CRD)).items).toEqual([]);
    const namespace = client.get(resources.Namespace, { name: 'kubenode-system' });
    await expect(namespace).rejects.toMatchObject({ code: 'NotFound' });
  });

  it.each(cuts)('is complete when it runs again after request %i was cut off', async (nth) => {
    const rule = proxy.on({ path: /./, nth, fault: drop(nth % 4 === 0 ? 'before' : 'after') });
    await install(client, { clock }).catch((error: unknown) => {
      if (!isKubeError(error, 'Unreachable')) throw error;
    });
    expect(rule.fired).toBe(1);
    expect((await install(client, { clock })).filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(counts(await install(client, { clock, dryRun: true }))).toEqual({ unchanged: total });
  });

  it('continues when one object fails, and names the object in the error', async () => {
    proxy.on({ resource: 'clusterroles', name: ROLE_VIEW, fault: answering(403) });
    const results = await install(client, { clock });
    expect(counts(results)).toEqual({ created: total - 1, failed: 1 });
    const failed = results.find(({ outcome }) => outcome === 'failed');
    expect(failed?.error?.message).toContain(`ClusterRole ${ROLE_VIEW}`);
  });
});

describe('install writes nothing', () => {
  it('to a server that is too old', async () => {
    const body = Buffer.from(JSON.stringify({ gitVersion: 'v1.30.2' }));
    const headers = { 'content-type': 'application/json' };
    const act: Fault['act'] = async (passage) => {
      await Promise.resolve(passage.reply({ status: 200, headers, body }));
    };
    proxy.on({ path: '/version', fault: { name: 'old server', act } });
    await expect(install(client, { clock })).rejects.toThrow(
      'runs Kubernetes v1.30.2, but kubenode needs 1.31 or newer',
    );
    expect(writesIn(proxy.log)).toEqual([]);
  });

  it('over a CRD with an unknown version', async () => {
    const crd = structuredClone(
      installation().find(({ metadata }) => metadata.name === 'machines.kubenode.dev'),
    );
    const { spec } = crd as unknown as { spec: { versions: { name: string; storage: boolean }[] } };
    const [version] = spec.versions;
    if (!crd || !version) throw new Error('expected a CRD with a version');
    spec.versions = [
      { ...version, storage: false },
      { ...version, name: 'v1' },
    ];
    await client.create(CRD, crd);
    proxy.reset();
    const refused = install(client, { clock });
    await expect(refused).rejects.toBeInstanceOf(InstallRefused);
    await expect(refused).rejects.toThrow('CRD machines.kubenode.dev has version v1');
    expect(writesIn(proxy.log)).toEqual([]);
  });

  it('for a user without permissions', async () => {
    const unprivileged = await connect({ kubeconfig: proxy.kubeconfigFor({ user: 'nobody' }) });
    await expect(install(unprivileged, { clock })).rejects.toMatchObject({ code: 'Forbidden' });
    await unprivileged.close();
    expect(writesIn(proxy.log)).toEqual([]);
  });
});

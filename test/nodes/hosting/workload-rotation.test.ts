/** Driver `workload` with pods on a real node: the authorities of a control plane are rotated by `kubenode hosting` in its hub, under a client. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, DEFENDER_LEDGERS, DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import type { Cluster, DefenderLedger } from '../../../src/api/generated/types.ts';
import {
  kubeconfigSecret,
  LEDGER,
  MANAGER_SYNC,
  NAMESPACE,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { readWorkloadImages } from '../../../src/cli/hosting/images.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createWorkloadDriver } from '../../../src/controllers/hosting/drivers/workload/driver.ts';
import { KEYS_SECRET, planeNamespace } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { ACCOUNTS } from '../../cluster/controllers/identity-controllers.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { POLICY } from '../../support/hosting/objects.ts';
import { hostingArgs, type PodHub, startPodHub } from '../../support/hosting/pods/hub.ts';
import { noKubeProxyReason } from '../../support/hosting/pods/kube-proxy.ts';
import { createPlane, podsOf } from '../../support/hosting/pods/planes.ts';
import { withClient } from '../../support/kube/with-client.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const reason = whyNoNodes() ?? (await noKubeProxyReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'ci';
const MEMBERS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubenode-controllers',
];
/** A phase replaces five pods, and the node of this test also is its hub. */
const LIMIT_MS = 900_000;
const LIMIT = 2_400_000;
const clock = createSystemClock();

// Each test begins where the one before it ended. It takes minutes: `npm run test:long` runs it.
describe.skipIf(reason || !LONG)(
  `the rotation of the authorities of pods on a real node${reason ? ` (${reason})` : ''}`,
  { shuffle: false, timeout: LIMIT },
  () => {
    let hub: PodHub;
    /** The kubeconfig that a person took before the rotation. */
    let former: string;

    beforeAll(async () => {
      hub = await startPodHub({
        folder: tempFolder('pod-hub'),
        startServer: startApiServer,
        kubenodeArchive: (name) => imitateProductImage(tempFolder('image'), name, ''),
      });
      const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
      if ((await runCommandLine(io, hostingArgs(hub))) !== 0) throw new Error(io.stderr);
      // Without the policy there is no Defender to ask.
      await declarePolicy();
      await createPlane(hub, NAME);
      former = await adminKubeconfig();
      const kept = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kept', namespace: 'default' },
        data: { is: 'kept' },
      };
      await withClient(former, (client) => client.create(CONFIG_MAPS, kept));
    }, LIMIT);
    afterAll(() => hub?.stop());

    /** As sync does with what is in git. */
    async function declarePolicy(): Promise<void> {
      const sync = { user: serviceAccountUser(PRINCIPAL_SYNC), groups: ACCOUNTS };
      const kubeconfig = readFileSync(await hub.server.kubeconfigFor(sync), 'utf8');
      const limit = { name: 'one', per: 'Cluster', risks: ['Node'], max: 1 };
      const counting = { lingerSeconds: 0, smallPool: { below: 1, max: 1 } };
      const spec = { scope: { nodeSelector: { all: true } }, concurrency: [limit], counting };
      const options = { fieldManager: MANAGER_SYNC };
      await withClient(kubeconfig, (client) => client.apply(DEFENDER_POLICIES, { ...POLICY, spec }, options));
    }

    async function adminKubeconfig(): Promise<string> {
      const { client } = hub.server;
      const images = (): ReturnType<typeof readWorkloadImages> => readWorkloadImages(hub.imagesFile);
      const { metadata } = await client.get(CLUSTERS, { name: NAME });
      const driver = createWorkloadDriver({ client, clock, images });
      const access = await driver.access({ name: NAME, uid: metadata.uid ?? '' });
      if (!access) throw new Error('there is no kubeconfig');
      return access.admin;
    }

    /** The kubeconfig that hosting hands to sync, as it is now. */
    async function syncKubeconfig(): Promise<string> {
      const name = { name: kubeconfigSecret(NAME), namespace: NAMESPACE };
      const secret = await hub.server.client.get(SECRETS, name);
      return Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString();
    }

    async function status(): Promise<NonNullable<NonNullable<Cluster['status']>['hosted']>> {
      return (await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME })).status?.hosted as never;
    }

    async function ask(target: 'Prepare' | 'Complete', expected: string): Promise<void> {
      const caRotation = { id: '2026', target };
      const body = { spec: { hosted: { pki: { caRotation } } } };
      await hub.server.client.patch(CLUSTERS, { name: NAME }, { type: 'merge', body });
      const isReached = async (): Promise<true | undefined> =>
        (await status()).caRotation?.step === expected || undefined;
      await eventually(isReached, `the rotation is not ${expected}`, LIMIT_MS).catch(
        async (error: unknown) => {
          throw new Error(`${String(error)}\n${JSON.stringify(await status(), undefined, 1)}`, {
            cause: error,
          });
        },
      );
    }

    async function uids(): Promise<readonly (string | undefined)[]> {
      const pods = await Promise.all(MEMBERS.map((member) => podsOf(hub, NAME, member)));
      return pods.flat().map(({ metadata }) => metadata.uid);
    }

    /** Events are counted where they repeat. */
    async function restarts(): Promise<readonly string[]> {
      const { items } = await hub.server.client.list(EVENTS, { namespace: 'default' });
      return items.flatMap((event) =>
        textAt(event, 'reason') === 'HostingMemberRestarted'
          ? [(textAt(event, 'note') ?? '').split(':')[0] ?? '']
          : [],
      );
    }

    it('HOS-22 is prepared: each pod is replaced, and both the former kubeconfig and the one of now are served', async () => {
      const before = await uids();
      const load = startLoad(() => former);
      const follow = followPods(hub);
      await ask('Prepare', 'Prepared');
      report('prepared', await load.stop());
      expect(await follow.stop()).toEqual({ replaced: 2 * MEMBERS.length, withoutGrant: [] });
      const after = await uids();
      expect([after.length, after.filter((uid) => before.includes(uid))]).toEqual([MEMBERS.length, []]);
      const now = [former, await adminKubeconfig(), await syncKubeconfig()];
      expect(await Promise.all(now.map(answer))).toEqual(['answers', 'answers', 'answers']);
      expect(new Set(await restarts())).toEqual(new Set(MEMBERS));
    });

    it('HOS-22 is completed: what the former authority issued is refused, and the data are kept', async () => {
      const before = await uids();
      const mixed = mixedKubeconfig(former, await adminKubeconfig());
      expect(await answer(mixed)).toBe('answers');
      const load = startLoad(syncKubeconfig);
      const follow = followPods(hub);
      await ask('Complete', 'Completed');
      report('completed', await load.stop());
      expect(await follow.stop()).toEqual({ replaced: MEMBERS.length, withoutGrant: [] });
      expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
      // The certificate of the former authority, with trust in the new one.
      expect(await answer(mixedKubeconfig(former, await adminKubeconfig()))).toBe('Unauthorized');
      expect(await answer(former)).not.toBe('answers');
      expect(await answer(await syncKubeconfig())).toBe('answers');
      const kept = { name: 'kept', namespace: 'default' };
      const found = await withClient(await adminKubeconfig(), (client) => client.get(CONFIG_MAPS, kept));
      expect(textAt(found, 'data', 'is')).toBe('kept');
      const secret = await hub.server.client.get(SECRETS, {
        name: KEYS_SECRET,
        namespace: planeNamespace(NAME),
      });
      expect(Object.keys(secret['data'] as object).filter((name) => /\.(old|new|crt)\b/.test(name))).toEqual(
        [],
      );
    });
  },
);

/** Resolves to `answers`, or to why a client with that kubeconfig gets no answer, on a connection of its own. */
async function answer(kubeconfig: string): Promise<string> {
  try {
    await withClient(kubeconfig, (client) => client.get(NAMESPACES, { name: 'default' }));
    return 'answers';
  } catch (error) {
    return isKubeError(error) ? error.code : String(error);
  }
}

/** The certificate of one kubeconfig, with the authorities that the other one trusts. */
function mixedKubeconfig(client: string, trust: string): string {
  const authorities = /certificate-authority-data: \S+/;
  return client.replace(authorities, authorities.exec(trust)?.[0] ?? '');
}

interface FollowedPods {
  readonly stop: () => Promise<{ readonly replaced: number; readonly withoutGrant: readonly string[] }>;
}

/** Finds pods that begin while the Defender of the hub has permitted nothing. A grant is given back when the pod answers, which takes longer than two reads. */
function followPods(hub: PodHub): FollowedPods {
  const stopped = new AbortController();
  const found = new Map<string, boolean>();
  const running = follow();
  return {
    stop: async () => {
      stopped.abort();
      await running;
      const withoutGrant = [...found].flatMap(([name, wasPermitted]) => (wasPermitted ? [] : [name]));
      return { replaced: found.size, withoutGrant };
    },
  };

  async function follow(): Promise<void> {
    const known = new Set(await podNames());
    let before = await isPermitted();
    while (!stopped.signal.aborted) {
      await clock.sleep(250);
      const permitted = await isPermitted();
      for (const name of await podNames()) {
        if (!known.has(name)) found.set(name, before || permitted);
        known.add(name);
      }
      before = permitted;
    }
  }

  async function isPermitted(): Promise<boolean> {
    const ledger = await hub.server.client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    return Object.keys(ledger.spec.grants).length > 0;
  }

  /** With its UID: the pod of a StatefulSet keeps its name. */
  async function podNames(): Promise<readonly string[]> {
    const pods = await Promise.all(MEMBERS.map((member) => podsOf(hub, NAME, member)));
    return pods.flat().map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  }
}

interface Load {
  readonly stop: () => Promise<{ readonly answers: number; readonly outageSeconds: number }>;
}

/** Asks again and again, each time on a new connection, with the kubeconfig of that moment. */
function startLoad(kubeconfig: () => string | Promise<string>): Load {
  const stopped = new AbortController();
  let [answers, outageMs, lastMs] = [0, 0, clock.monotonicMs()];
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      if ((await answer(await kubeconfig())) === 'answers') {
        answers += 1;
        outageMs = Math.max(outageMs, clock.monotonicMs() - lastMs);
        lastMs = clock.monotonicMs();
      }
      await clock.sleep(100);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped.abort();
      await running;
      return { answers, outageSeconds: Math.max(outageMs, clock.monotonicMs() - lastMs) / 1000 };
    },
  };
}

function report(what: string, { answers, outageSeconds }: Awaited<ReturnType<Load['stop']>>): void {
  process.stderr.write(
    `control plane as pods: rotation ${what}: ${answers} answers, at most ${outageSeconds.toFixed(1)} s without one\n`,
  );
}

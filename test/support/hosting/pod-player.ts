/**
 * Plays the kubelet for the pods of hosted control planes: a pod gets a node and an address, serves the certificate of its Secret over TLS, is
 * ready when it does, and ends when it is deleted. An etcd keeps whether it has data by the UID of its volume. No program is started: that a
 * real kubelet runs the real programs is tested in test/nodes/hosting.
 */

import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { basename } from 'node:path';
import { LABEL_PART } from '../../../src/api/names.ts';
import { SNAPSHOT } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { keyFilesOf } from '../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { PODS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const TICK_MS = 100;
/** What etcd v3.6 ends with where it has had data, finds none, and knows no other member. */
export const WITHOUT_DATA =
  '{"level":"fatal","msg":"discovery failed","error":"cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs"}';

interface PlayedPod {
  readonly address: string;
  readonly server: Server | undefined;
}

export interface PodPlayer {
  readonly isPlayed: (namespace: string, name: string) => boolean;
  /** Empties the volume behind this claim, as somebody does on its disk. */
  readonly wipe: (claimUid: string) => void;
  /** Ends the pods that take a snapshot with this error. Undefined: with success. */
  readonly breakSnapshots: (message: string | undefined) => void;
  readonly stop: () => Promise<void>;
}

export function playPods(client: Client): PodPlayer {
  const pods = new Map<string, PlayedPod>();
  const withData = new Set<string>();
  const abort = new AbortController();
  let next = 0;
  let snapshotFault: string | undefined;
  const running = run();
  return {
    isPlayed: (namespace, name) => [...pods.keys()].some((key) => key.startsWith(`${namespace}/${name}/`)),
    wipe: (uid) => void withData.delete(uid),
    breakSnapshots: (message) => {
      snapshotFault = message;
    },
    stop: async () => {
      abort.abort();
      await running;
      for (const { server } of pods.values()) server?.closeAllConnections();
      for (const { server } of pods.values()) server?.close();
    },
  };

  async function run(): Promise<void> {
    while (!abort.signal.aborted) {
      // A server that is restarted, or an object that is deleted meanwhile: the next round looks again.
      await round().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }

  async function round(): Promise<void> {
    const { items } = await client.list(PODS, { labelSelector: LABEL_PART });
    const keys = new Set(items.map(keyOf));
    for (const [key, { server }] of pods) {
      if (keys.has(key)) continue;
      server?.closeAllConnections();
      server?.close();
      pods.delete(key);
    }
    await Promise.all(items.map((pod) => playPod(pod).catch(() => undefined)));
  }

  async function playPod(pod: KubeObject): Promise<void> {
    if (pod.metadata.deletionTimestamp !== undefined) return await end(pod);
    if (textAt(pod, 'spec', 'nodeName') === undefined) return await bind(pod);
    if (pod.metadata.labels?.[LABEL_PART] === SNAPSHOT) await endSnapshot(pod);
    else await playMember(pod);
  }

  async function playMember(pod: KubeObject): Promise<void> {
    const claim = await claimOf(pod);
    if (claim === 'missing') return;
    if (claim !== undefined && isSealed(pod) && !withData.has(claim)) return await crash(pod);
    if (claim !== undefined) withData.add(claim);
    await keepServing(pod);
  }

  async function endSnapshot(pod: KubeObject): Promise<void> {
    if (['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '')) return;
    const [exitCode, phase] = snapshotFault === undefined ? [0, 'Succeeded'] : [1, 'Failed'];
    const terminated = { exitCode, reason: 'Ended', message: snapshotFault ?? '' };
    const status = { ...containerStatus(false), state: { terminated } };
    await report(pod, { phase, conditions: [], containerStatuses: [status] });
  }

  async function keepServing(pod: KubeObject): Promise<void> {
    const played = pods.get(keyOf(pod)) ?? (await serve(pod));
    pods.set(keyOf(pod), played);
    played.server?.setSecureContext(await contextOf(pod));
    if (!isReady(pod)) await report(pod, readyStatus(played.address));
  }

  async function end(pod: KubeObject): Promise<void> {
    const played = pods.get(keyOf(pod));
    played?.server?.closeAllConnections();
    played?.server?.close();
    pods.delete(keyOf(pod));
    const { name, namespace = '', uid = '' } = pod.metadata;
    await client.delete(PODS, { name, namespace }, { uid, gracePeriodSeconds: 0 });
  }

  async function bind(pod: KubeObject): Promise<void> {
    const { name, namespace = '' } = pod.metadata;
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace },
      target: { apiVersion: 'v1', kind: 'Node', name: 'played' },
    };
    await client.create(PODS, binding, { subresource: 'binding' });
  }

  /** Resolves to the UID of the volume of a pod that has one. */
  async function claimOf(pod: KubeObject): Promise<string | undefined> {
    const names = listAt(pod, 'spec', 'volumes').flatMap(
      (volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? [],
    );
    const [name] = names;
    if (name === undefined) return undefined;
    const { namespace = '' } = pod.metadata;
    const claim = await unlessMissing(client.get(VOLUME_CLAIMS, { name, namespace }));
    const isThere = claim !== undefined && claim.metadata.deletionTimestamp === undefined;
    return isThere ? (claim.metadata.uid ?? '') : 'missing';
  }

  async function serve(pod: KubeObject): Promise<PlayedPod> {
    next += 1;
    // Each pod has an address of its own, as in a hub: the ports are the same in all of them.
    const address = `127.${(process.pid % 200) + 20}.${Math.floor(next / 250)}.${(next % 250) + 1}`;
    if (servingFile(pod) === undefined) return { address, server: undefined };
    const server = createServer(await contextOf(pod), (_, response) => response.end('ok'));
    const port = valueAt(listAt(pod, 'spec', 'containers')[0], 'ports', 0, 'containerPort');
    server.listen(Number(port), address);
    await once(server, 'listening');
    return { address, server };
  }

  async function contextOf(pod: KubeObject): Promise<object> {
    const { namespace = '' } = pod.metadata;
    const secret = listAt(pod, 'spec', 'volumes').flatMap(
      (volume) => textAt(volume, 'secret', 'secretName') ?? [],
    );
    const files = keyFilesOf(await client.get(SECRETS, { name: secret[0] ?? '', namespace }));
    const pair = files[servingFile(pod) ?? ''] ?? '';
    return { cert: pair, key: pair, ca: files['ca.crt'], requestCert: true, rejectUnauthorized: isEtcd(pod) };
  }

  async function crash(pod: KubeObject): Promise<void> {
    const ended = { exitCode: 1, reason: 'Error', message: WITHOUT_DATA };
    const status = {
      ...containerStatus(false),
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
      lastState: { terminated: ended },
    };
    await report(pod, {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [status],
    });
  }

  async function report(pod: KubeObject, status: object): Promise<void> {
    const { name, namespace = '' } = pod.metadata;
    const [container] = listAt(pod, 'spec', 'containers');
    const containerStatuses = (status as { containerStatuses: readonly object[] }).containerStatuses;
    const named = containerStatuses.map((each) => ({
      ...each,
      name: textAt(container, 'name'),
      image: textAt(container, 'image'),
    }));
    const body = { status: { ...status, containerStatuses: named } };
    await client.patch(PODS, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}/${metadata.uid ?? ''}`;
}

function argsOf(pod: KubeObject): readonly string[] {
  const args = valueAt(listAt(pod, 'spec', 'containers')[0], 'args');
  return Array.isArray(args) ? args.map(String) : [];
}

function isEtcd(pod: KubeObject): boolean {
  return pod.metadata.labels?.[LABEL_PART]?.startsWith('etcd') === true;
}

/** One that joins others has no data yet, and names them. */
function isSealed(pod: KubeObject): boolean {
  const args = argsOf(pod);
  const joins = args.some((arg) => arg.startsWith('--initial-cluster=') && arg.includes(','));
  return args.includes('--initial-cluster-state=existing') && !joins;
}

/** Returns the key of the Secret with the certificate that the program serves. */
function servingFile(pod: KubeObject): string | undefined {
  const flag = argsOf(pod).find((arg) => /^--(tls-)?cert-file=/.test(arg));
  return flag === undefined ? undefined : basename(flag.slice(flag.indexOf('=') + 1));
}

function isReady(pod: KubeObject): boolean {
  return listAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

function containerStatus(ready: boolean): object {
  return { imageID: 'played', ready, started: ready, restartCount: 0, lastState: {} };
}

function readyStatus(address: string): object {
  return {
    phase: 'Running',
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
    })),
    containerStatuses: [{ ...containerStatus(true), state: { running: {} } }],
  };
}

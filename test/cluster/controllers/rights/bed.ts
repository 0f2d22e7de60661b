/** `kubenode controllers` behind a proxy, from whose accounts single rights are taken away, and what makes its views use each of theirs. */
import type { ChildProcess } from 'node:child_process';
import { onTestFailed, onTestFinished } from 'vitest';
import { ANNOTATION_CONFIRM_DELETE, PRINCIPAL_SYNC, serviceAccountUser } from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { type PollOptions, pollUntil } from '../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { callback } from '../../../support/fault-proxy/faults.ts';
import type { When } from '../../../support/fault-proxy/proxied-request.ts';
import { type OpenWatches, openWatches } from '../../../support/fault-proxy/watch-faults.ts';
import { faultProxy } from '../../../support/fault-proxy.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../../defender/objects.ts';
import { endLease, killed, startLoggedControllers } from '../../defender/processes.ts';
import { CONTROLLERS, POLICY } from '../machine-cluster.ts';
import { missedRights, type Right, rightInForce, textOf, withoutRight } from '../rights.ts';

/** A kind that the process watches, and an object of it that nothing needs. */
export interface WatchedKind {
  readonly resource: Resource;
  /** Of the view, if it has only one. */
  readonly namespace?: string;
  /** Only sync may write it. */
  readonly isOfGit?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spare?: object;
  /** The only name that an object of the kind may have. */
  readonly onlyName?: string;
}

/** A ClusterRole that is bound in a namespace. */
export interface BoundRole {
  readonly role: string;
  readonly namespace: string;
}

export interface RightsBed {
  readonly installed: InstalledServer;
  readonly admin: Client;
  start(): void;
  /** Another process in place of the one that runs, which leads at once. */
  restart(): Promise<void>;
  /** It leads once the Lease of the one that was killed has ended. */
  restartBehindLease(): Promise<void>;
  /** Refusals that the process logged since a right was taken. */
  missed(): readonly string[];
  logged(): string;
  /** Before a test that wants to see no refusal. Tests run in any order. */
  forgetLog(): void;
  /** Returns what gives them back; they are given back at the end of the test, too. */
  takeAway(
    account: string,
    rights: Right | readonly Right[],
    bound?: BoundRole,
  ): Promise<() => Promise<void>>;
  /** Makes the views of the process get, then list, then watch: a view that lists again and again waits longer each time. */
  read(...rights: readonly Right[]): Promise<void>;
  /** Takes these away while the views use each of them. Resolves, when as many are missed, to those that are. Gives them back. */
  missedWithout(account: string, rights: readonly Right[]): Promise<readonly string[]>;
  /** Runs this before the view lists. */
  listAgain(right: Right, run: () => unknown): Promise<void>;
  stop(): Promise<void>;
}

/** What views do. */
export const READS = ['get', 'list', 'watch'];
const clock = createSystemClock();
/** Nodes of a test are young. */
export const YOUNG = { ...POLICY, blockers: { minNodeAgeSeconds: 0 } };

export async function startRightsBed(
  kinds: readonly WatchedKind[],
  ...flags: readonly string[]
): Promise<RightsBed> {
  const installed = await startInstalledServer();
  const admin = installed.server.client;
  await applyFleetDefault(installed, YOUNG);
  const proxy = await faultProxy(installed.server);
  const watches = new Map<string, OpenWatches>();
  for (const { resource, namespace = '' } of kinds) {
    const open = openWatches();
    watches.set(`${resource.plural} ${namespace}`, open);
    proxy.on({ verb: 'watch', resource: resource.plural, namespace, fault: open.fault });
  }
  const kubeconfig = proxy.kubeconfigFor(CONTROLLERS);
  let running: ChildProcess | undefined;
  let logged = '';
  let spares = 0;
  return {
    installed,
    admin,
    start,
    restart: async () => {
      if (running) await killed(running);
      await endLease(admin);
      start();
    },
    restartBehindLease: async () => {
      if (running) await killed(running);
      start();
    },
    missed: () => missedRights(logged),
    logged: () => logged,
    forgetLog: () => {
      logged = '';
    },
    takeAway,
    read,
    missedWithout: async (account, rights) => {
      const giveBack = await takeAway(account, rights);
      const unused = (): readonly Right[] =>
        rights.filter((right) => !missedRights(logged).includes(`${account}: ${textOf(right)}`));
      // Another view of the same kind may take the list that was meant for this one, which is then between a list and a watch.
      const areMissed = async (): Promise<true | undefined> => {
        await read(...unused());
        return (await pollUntil(() => unused().length === 0, inSeconds(10))) || undefined;
      };
      await eventually(areMissed, `${account} did not miss all of its rights`);
      const found = missedRights(logged);
      await giveBack();
      return found;
    },
    listAgain: (right, run) => listAgain(right, 'before', run),
    stop: async () => {
      if (running) await killed(running);
      await proxy.close();
      await installed.stop();
    },
  };

  function start(): void {
    running = startLoggedControllers(kubeconfig, (text) => (logged += text), ...flags);
  }

  async function takeAway(
    account: string,
    taken: Right | readonly Right[],
    bound?: BoundRole,
  ): Promise<() => Promise<void>> {
    const rights = [taken].flat();
    const client = await installed.as(serviceAccountUser(account), ACCOUNTS);
    const giveBack = await withoutRight(admin, bound?.role ?? account, ...rights);
    onTestFinished(giveBack);
    onTestFailed(() => void process.stderr.write(logged));
    const inForce = async (expected: boolean): Promise<void> => {
      const asked = rights.map((right) => ({
        ...right,
        ...optional('namespace', right.namespace ?? bound?.namespace),
      }));
      await Promise.all(asked.map((right) => rightInForce(client, right, expected)));
    };
    await inForce(false);
    logged = '';
    return async () => {
      await giveBack();
      await inForce(true);
    };
  }

  async function read(...rights: readonly Right[]): Promise<void> {
    for (const verb of READS) {
      // oxlint-disable-next-line no-await-in-loop -- all views at once, and for each one verb after the other
      await Promise.all(rights.filter((right) => right.verb === verb).map((right) => readOne(right)));
    }
  }

  async function readOne(right: Right): Promise<void> {
    const { verb, resource } = right;
    if (verb === 'get') return await loseSpare(right);
    if (verb === 'list') return await listAgain(right, 'before');
    return watches.get(`${resource} ${namespaceOf(right)}`)?.end();
  }

  /** A right to all namespaces may be used in one alone. */
  function namespaceOf({ namespace, resource }: Right): string {
    return namespace ?? kinds.find((kind) => kind.resource.plural === resource)?.namespace ?? '';
  }

  /** Its watch ends as that of a client that fell too far behind, so that it lists again. */
  async function listAgain(right: Right, when: When, run: () => unknown = () => undefined): Promise<void> {
    const { resource } = right;
    const namespace = namespaceOf(right);
    const listed = Promise.withResolvers<void>();
    const fault = callback(async () => {
      await run();
      listed.resolve();
    }, when);
    const rule = proxy.on({ verb: 'list', resource, namespace, nth: 1, fault });
    // One that was not used would take the list of the next test.
    onTestFinished(() => rule.remove());
    watches.get(`${resource} ${namespace}`)?.end(410);
    await listed.promise;
  }

  /** An object that is missing in the next list is read by its name. */
  async function loseSpare(right: Right): Promise<void> {
    const found = kinds.find(({ resource }) => resource.plural === right.resource);
    if (!found?.spare) throw new Error(`there is no spare of ${right.resource}`);
    const { resource, isOfGit = false } = found;
    spares += 1;
    const object = spareOf(found, found.onlyName ?? `spare-${spares}`);
    const { name, namespace } = object.metadata;
    const target = { name, ...optional('namespace', namespace) };
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const writer = isOfGit ? sync : admin;
    await writer.create(resource, object);
    await listAgain(right, 'after');
    await listAgain(right, 'before', () => removeAtOnce(writer, resource, target));
  }
}

function inSeconds(seconds: number): PollOptions {
  return { clock, everyMs: 100, deadlineMs: clock.monotonicMs() + 1000 * seconds };
}

function spareOf(
  { resource, namespace = 'default', labels = {}, spare }: WatchedKind,
  name: string,
): KubeObject {
  const { group, version, kind, namespaced } = resource;
  const metadata = { name, labels, ...(namespaced ? { namespace } : {}) };
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata, ...spare };
}

/** With the confirmation that the policy asks for, and without waiting for anybody's finalizer. */
export async function removeAtOnce(
  writer: Client,
  resource: Resource,
  target: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  const { uid = '' } = (await writer.get(resource, target)).metadata;
  const annotations = { [ANNOTATION_CONFIRM_DELETE]: uid };
  await writer.patch(resource, target, { type: 'merge', body: { metadata: { annotations } } });
  await writer.delete(resource, target, { uid, gracePeriodSeconds: 0 });
  await writer
    .patch(resource, target, { type: 'merge', body: { metadata: { finalizers: null } } })
    .catch((error: unknown) => {
      if (!isKubeError(error, 'NotFound')) throw error;
    });
}

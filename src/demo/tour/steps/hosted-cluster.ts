/** A commit adds a cluster: its control plane, its machines, a version and a repair. Its revert takes all of that away again. */
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { EXIT } from '../../../cli/errors.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { CONTROL_PLANE_VERSION } from '../../../local/binaries/versions.ts';
import { hubHoldOf } from '../../../sync/apply/prune/hold-hint.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { provenEverywhere, readClusters, readJobs, readMachines, readPipeline } from '../fleet-state.ts';
import { notProvenReason, notReadyReason, otherVersionReason } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';
import { declareHostedCluster } from '../versions.ts';
import { hangAndHeal, leastRepaired } from './kernel-hang.ts';
import { commitNextVersion } from './rollout.ts';

const FILE = 'fleet/clusters.ts';
const MACHINES = 2;

export const hostedClusterStep: TourStep = {
  name: 'hosted-cluster',
  title: 'A commit adds a whole cluster, and its revert takes it away',
  explanation: [
    'The hub makes a control plane with our controllers, and sync brings it machines, versions and rules like any cluster.',
    'It heals also while the hub is down. When git removes it, its machines are released first.',
  ],
  async run(tour) {
    // Each run has a name of its own: what an interrupted tour left behind does not matter.
    const name = `ci-${await tour.repository.commits()}`;
    const added = await addCluster(tour, name);
    const { version, head } = await commitNextVersion(tour);
    await expectVersion(tour, { name, version, head });
    await healWithoutHub(tour, name);
    await tour.verify(provenEverywhere(tour, head));
    await takeAway(tour, name, added);
  },
};

/** Resolves to the commit. */
async function addCluster(tour: Tour, name: string): Promise<string> {
  const { repository } = tour;
  const declared = { name, version: CONTROL_PLANE_VERSION, machines: MACHINES };
  await repository.edit(FILE, (text) => declareHostedCluster(text, declared));
  tour.say(`${FILE}: cluster ${name}, hosted by the hub, with ${MACHINES} machines`);
  tour.say(`$ git commit -am "Add cluster ${name}"`);
  const commit = await repository.commit(`Add cluster ${name}`);
  await tour.verify({
    what: `the control plane of ${name} is ready, with our controllers`,
    withinSeconds: 240,
    lookAt: 'kubenode cluster list',
    reason: async () => notHostedReason(await readClusters(tour), name),
  });
  await tour.show(['cluster', 'list', '--context', 'hub']);
  await tour.verify({
    what: `${MACHINES} machines of ${name} are Ready`,
    withinSeconds: 240,
    lookAt: 'kubenode status',
    reason: async () => notAllReadyReason(await readMachines(tour, name), MACHINES),
  });
  return commit;
}

interface ExpectedVersion {
  readonly name: string;
  readonly version: string;
  readonly head: string;
}

/** A reboot in the middle of a rollout would count as a failure of the version, so it ends first. */
async function expectVersion(tour: Tour, { name, version, head }: ExpectedVersion): Promise<void> {
  await tour.verify({
    what: `every machine of ${name} runs web ${version}`,
    withinSeconds: 240,
    lookAt: 'kubenode status',
    reason: async () => otherVersionReason(await readMachines(tour, name), version),
  });
  await tour.verify({
    what: `${name} is Proven at ${shortCommit(head)}`,
    withinSeconds: 240,
    lookAt: 'kubenode status',
    reason: async () => notProvenReason(await readClusters(tour), head, [name]),
  });
}

/** The hub does not answer meanwhile: neither sync nor hosting can do anything. */
async function healWithoutHub(tour: Tour, name: string): Promise<void> {
  tour.say('$ kill -STOP ...    # the API server of the hub');
  await tour.suspendServer('hub');
  try {
    await hangAndHeal(tour, name, leastRepaired(await readMachines(tour, name), await readJobs(tour, name)));
  } finally {
    tour.say('$ kill -CONT ...    # the API server of the hub');
    await tour.resumeServer('hub');
  }
}

async function takeAway(tour: Tour, name: string, added: string): Promise<void> {
  const { repository } = tour;
  tour.say(`$ git revert --no-edit ${added.slice(0, 12)}`);
  const reverted = await repository.revert(added);
  await tour.verify({
    what: 'sync holds the deletion of a cluster until a commit acknowledges it',
    withinSeconds: 120,
    lookAt: 'kubenode status',
    reason: async () => notHeldReason(await readPipeline(tour)),
  });
  const acknowledge = ['release', 'acknowledge', 'hub', '--context', 'hub', '--commit'];
  await tour.show([
    ...acknowledge,
    '--repo',
    repository.folder,
    '--reason',
    `${name} is not needed any more`,
  ]);
  await tour.verify({
    what: `${name} is deleted: machines first, then its control plane`,
    withinSeconds: 300,
    lookAt: 'kubenode cluster list',
    reason: async () => notDeletedReason(await readClusters(tour), name),
  });
  await tour.verify({
    what: `no process and no file of ${name} is left`,
    withinSeconds: 0,
    lookAt: `ps -ef | grep ${name}`,
    reason: async () => (await tour.hostedLeftovers(name)).join(', ') || undefined,
  });
  await tour.verify(provenEverywhere(tour, await repository.head()));
  await tour.show(['release', 'list', '--context', 'hub'], [EXIT.ok]);
  tour.say(`${reverted.slice(0, 12)} took away what ${added.slice(0, 12)} added`);
}

export function notHostedReason(clusters: readonly Cluster[], name: string): string | undefined {
  const found = clusters.find(({ metadata }) => metadata.name === name);
  if (!found) return `sync has not created Cluster ${name} yet`;
  const ready = conditionOf(found.status?.conditions, 'ControlPlaneReady');
  if (!ready) return `hosting has not observed ${name} yet`;
  return ready.status === 'True' ? undefined : `${ready.reason}: ${ready.message}`;
}

export function notAllReadyReason(
  machines: Parameters<typeof otherVersionReason>[0],
  count: number,
): string | undefined {
  if (machines.length !== count) return `${machines.length} machines, expected ${count}`;
  return machines.map(notReadyReason).find(Boolean);
}

export function notHeldReason(pipeline: Pipeline | undefined): string | undefined {
  if (pipeline && hubHoldOf(pipeline)) return undefined;
  return `not held: ${conditionOf(pipeline?.status?.conditions, 'Held')?.message ?? ''}`;
}

export function notDeletedReason(clusters: readonly Cluster[], name: string): string | undefined {
  const found = clusters.find(({ metadata }) => metadata.name === name);
  if (!found) return undefined;
  const { reason, message = '' } = found.status?.hosted?.waiting ?? {};
  return reason === undefined ? `${name} is being deleted` : `${reason}: ${message}`;
}

/** Makes all machines of a zone silent: nothing is done in it, while the other zone is healed and a single dead machine is replaced. */
import type { Cluster, Machine } from '../../../api/generated/types.ts';
import { readinessOf } from '../../../api/machine/node-state.ts';
import { CliError, EXIT } from '../../../cli/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { clusterHealth, incidentSentence } from '../../../views/status/cluster-health.ts';
import { readClusterNode, readClusters, readJobs, readMachines } from '../fleet-state.ts';
import { notReadyReason, remedyWaitReason } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';
import { cutOff, DEAD_MACHINE_RULE, expectReplaced } from './dead-machine.ts';
import { hangAndHeal, leastRepaired } from './kernel-hang.ts';

const CLUSTER = 'prod';
const ZONE = 'west';
/** Kubernetes gives a kubelet 50 seconds, and looks every 5. */
const UNKNOWN_SECONDS = 120;
const BACK_SECONDS = 120;

export const darkZoneStep: TourStep = {
  name: 'dark-zone',
  title: 'A dark zone is left alone, and a dead machine is replaced',
  explanation: [
    'A zone of prod stands still, as without power, and one machine of pre for good. The same rule would replace them all:',
    'the Defender denies that for the zone, which comes back by itself. In pre another machine is Ready before one goes.',
  ],
  async run(tour) {
    const machines = await readMachines(tour, CLUSTER);
    const { dark = [], lit = [] } = Object.groupBy(machines, ({ spec }) =>
      spec.zone === ZONE ? 'dark' : 'lit',
    );
    const names = dark.map(({ metadata }) => metadata.name);
    if (names.length === 0) {
      throw new CliError(`cluster ${CLUSTER} has no machine in zone ${ZONE}`, {
        hint: 'use a new repository: kubenode start --demo FOLDER',
      });
    }
    const dead = await cutOff(tour);
    const before = await jobsOf(tour, names);
    try {
      tour.say(`$ kill -STOP ...    # all processes of ${names.join(', ')} in ${CLUSTER}`);
      await onEach(dark, (uid) => tour.suspend(CLUSTER, uid));
      await expectDenied(tour, names);
      await expectReplaced(tour, dead);
      await expectShown(tour);
      await hangAndHeal(tour, CLUSTER, leastRepaired(lit, await readJobs(tour, CLUSTER)));
      await tour.show(['why', 'node', names[0] ?? '', '--context', CLUSTER]);
    } finally {
      tour.say(`$ kill -CONT ...    # the same processes`);
      await onEach(dark, (uid) => tour.resume(CLUSTER, uid));
    }
    await expectBack(tour, names);
    await tour.verify({
      what: `nothing was done to a machine of zone ${ZONE}`,
      withinSeconds: 0,
      lookAt: `kubenode remedy list --context ${CLUSTER}`,
      reason: async () => newJobsReason(before, await jobsOf(tour, names)),
    });
  },
};

async function onEach(machines: readonly Machine[], act: (uid: string) => Promise<void>): Promise<void> {
  await Promise.all(machines.map(({ metadata }) => act(metadata.uid ?? '')));
}

async function expectDenied(tour: Tour, names: readonly string[]): Promise<void> {
  await tour.verify({
    what: `every Node of zone ${ZONE} is Unknown`,
    withinSeconds: UNKNOWN_SECONDS,
    lookAt: `kubenode machine list --context ${CLUSTER}`,
    reason: async () => {
      const nodes = await Promise.all(names.map((name) => readClusterNode(tour, CLUSTER, name)));
      return otherReadinessReason(nodes);
    },
  });
  await tour.verify({
    what: `rule ${DEAD_MACHINE_RULE} found each of them, and the Defender denies every act in a zone that is dark`,
    withinSeconds: 60,
    lookAt: `kubenode why node ${names[0]} --context ${CLUSTER}`,
    reason: async () => notDeniedReason(await machinesOf(tour, names)),
  });
}

async function expectShown(tour: Tour): Promise<void> {
  await tour.verify({
    what: `the status of the fleet begins with zone ${ZONE} of ${CLUSTER}, although every cluster is Proven`,
    withinSeconds: 60,
    lookAt: 'kubenode status',
    reason: async () => notShownReason(await readClusters(tour)),
  });
  await tour.show(['status'], [EXIT.unhealthy]);
}

async function expectBack(tour: Tour, names: readonly string[]): Promise<void> {
  await tour.verify({
    what: `the machines of zone ${ZONE} are Ready again, and no rule waits for one`,
    withinSeconds: BACK_SECONDS,
    lookAt: `kubenode machine list --context ${CLUSTER}`,
    reason: async () => {
      const machines = await machinesOf(tour, names);
      return machines.map((each) => notReadyReason(each) ?? remedyWaitReason(each)).find(Boolean);
    },
  });
}

async function machinesOf(tour: Tour, names: readonly string[]): Promise<readonly Machine[]> {
  return (await readMachines(tour, CLUSTER)).filter(({ metadata }) => names.includes(metadata.name));
}

async function jobsOf(tour: Tour, machines: readonly string[]): Promise<readonly string[]> {
  const jobs = (await readJobs(tour, CLUSTER)).filter(({ spec }) => machines.includes(spec.machine.name));
  return jobs.map(({ metadata }) => metadata.name);
}

export function otherReadinessReason(nodes: readonly KubeObject[]): string | undefined {
  const others = nodes.filter((node) => readinessOf(node) !== 'Unknown');
  if (others.length === 0) return undefined;
  return others.map((node) => `${node.metadata.name} is ${readinessOf(node)}`).join(', ');
}

/** By the wait that the rule reports of each machine. */
export function notDeniedReason(machines: readonly Machine[]): string | undefined {
  const others = machines.flatMap(({ metadata, status }) => {
    const wait = status?.remedyWaits?.find(({ rule }) => rule === DEAD_MACHINE_RULE);
    return wait?.reason === 'ZoneDark' ? [] : [`${metadata.name}: ${wait?.reason ?? 'no wait'}`];
  });
  return others.length === 0 ? undefined : others.join(', ');
}

/** By what sync reports of the cluster in the hub. */
export function notShownReason(clusters: readonly Cluster[]): string | undefined {
  const cluster = clusters.find(({ metadata }) => metadata.name === CLUSTER);
  const [first] = cluster ? clusterHealth(cluster, '').incidents : [];
  if (first?.reason === 'ZoneDark') return undefined;
  return first ? `${CLUSTER}: ${incidentSentence(first)}` : `nothing endangers ${CLUSTER}`;
}

export function newJobsReason(before: readonly string[], after: readonly string[]): string | undefined {
  const created = after.filter((name) => !before.includes(name));
  return created.length === 0 ? undefined : `jobs were created: ${created.join(', ')}`;
}

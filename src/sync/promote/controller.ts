/**
 * Carries out what plan.ts decides: writes Releases, the status of clusters and of the Pipeline, and tells each cluster's
 * worker what to run.
 *
 * Everything is written down before anybody acts on it: first what is proven, then what a cluster is about to be given, and
 * only then the order to the cluster. Killed at any line, the next pass finds a state that it knows.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Pipeline } from '../../api/generated/types.ts';
import { httpGet } from '../../rollout/check-http.ts';
import { type CheckRunner, checkRunner } from '../../rollout/check-runner.ts';
import { type CheckDesk, checkDesk } from '../../rollout/check-scheduler.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import { clusterStatus, ownStatus } from './cluster/status.ts';
import { type Announcer, announceCluster, announceRelease } from './events.ts';
import { type Observation, observe, type Sources } from './observe.ts';
import { type DueCheck, type PromotionPlan, planPromotion } from './plan.ts';
import { optional } from './snapshot.ts';

export interface PromotionPorts extends Sources, Announcer {
  /** Absent: over HTTP, without a Prometheus. */
  readonly runner?: CheckRunner;
  /** A check has answered: this Pipeline wants a pass. */
  readonly onRun?: (pipeline: string) => void;
}

export interface Promotion {
  readonly name: 'promote';
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** One pass over one Pipeline. Rejects when something could not be written down; the next pass goes on from there. */
  reconcile(pipeline: string): Promise<{ readonly wakeAt?: Date }>;
}

export function promotion(ports: PromotionPorts): Promotion {
  const { hub, clock } = ports;
  const runner = ports.runner ?? checkRunner({ clock, get: httpGet });
  const desks = new Map<string, CheckDesk>();
  return {
    name: 'promote',
    reads: ['Pipeline', 'Cluster', 'Release'],
    writes: ['Release', 'Release.status', 'Cluster.status', 'Pipeline.status'],
    reconcile,
  };

  async function reconcile(name: string): Promise<{ readonly wakeAt?: Date }> {
    const pipeline = await hub.pipeline(name);
    if (!pipeline) return {};
    const desk = deskOf(name);
    const seen = await observe(ports, pipeline, desk);
    const plan = planPromotion(seen.world, seen.head);

    const proofs = await attempt(releaseWrites(ports, plan));
    const { told, written, failures: intents } = await writeClusters(ports, plan, seen, proofs.length === 0);
    for (const cluster of told) tell(cluster);
    const rest = await attempt(restWrites(ports, pipeline, plan));

    for (const cluster of written) forgetCounted(desk, cluster);
    beginChecks(desk, pipeline, plan.due);
    const failures = [...proofs, ...intents, ...rest];
    if (failures.length > 0) {
      throw new AggregateError(
        failures.map(({ error }) => error),
        `promoting ${name}`,
      );
    }
    return optional('wakeAt', plan.wakeAt);
  }

  function tell({ name, target, sync, member }: ClusterPlan): void {
    const observeAt = sync.state === 'Soaking' ? member.progress.until : undefined;
    ports.clusters.setTarget(name, { ...target, ...optional('observeAt', observeAt) });
  }

  function beginChecks(desk: CheckDesk, { spec }: Pipeline, due: readonly DueCheck[]): void {
    for (const { cluster, stage, check: name } of due) {
      const check = spec.stages
        .find((each) => each.name === stage)
        ?.checks.find((each) => each.name === name);
      if (check) desk.begin(check, { cluster, health: ports.clusters.report(cluster)?.health });
    }
  }

  function deskOf(pipeline: string): CheckDesk {
    const desk = desks.get(pipeline) ?? checkDesk(runner, clock, () => ports.onRun?.(pipeline));
    desks.set(pipeline, desk);
    return desk;
  }
}

interface Written {
  /** Those whose target may be said now: all that goes on, and what begins and is written down. */
  readonly told: readonly ClusterPlan[];
  readonly written: readonly ClusterPlan[];
  readonly failures: readonly Failure[];
}

/** What begins rests on proofs, of Releases and of clusters: while those are not written down, it does not begin. */
async function writeClusters(
  ports: PromotionPorts,
  plan: PromotionPlan,
  seen: Observation,
  proofsAreSafe: boolean,
): Promise<Written> {
  const owned = plan.clusters.filter(({ name }) => seen.owned.has(name));
  const going = owned.filter(({ begins }) => !begins);
  const found = await attempt(going.map((cluster) => intentWrite(ports, cluster, seen)));
  const beginning = proofsAreSafe ? mayBegin(owned, found) : [];
  const begun = await attempt(beginning.map((cluster) => intentWrite(ports, cluster, seen)));
  const failures = [...found, ...begun];
  const lost = new Set(failures.map(({ key }) => key));
  const isWritten = ({ name }: ClusterPlan): boolean => !lost.has(name);
  return {
    told: [...going, ...beginning.filter(isWritten)],
    written: [...going, ...beginning].filter(isWritten),
    failures,
  };
}

/** A cluster that begins may have the place of one that was proven: while that is not written down, the place is taken. */
function mayBegin(clusters: readonly ClusterPlan[], failures: readonly Failure[]): readonly ClusterPlan[] {
  const lost = new Set(failures.map(({ key }) => key));
  const unsafe = clusters.filter((each) => isProvenNow(each) && lost.has(each.name));
  const stages = new Set(unsafe.map(({ stage }) => stage));
  return clusters.filter(({ begins, stage }) => begins && !stages.has(stage));
}

function isProvenNow({ member, sync }: ClusterPlan): boolean {
  return member.before.soak !== undefined && sync.soak === undefined;
}

interface Writing {
  readonly key: string;
  readonly write: () => Promise<void>;
}

function releaseWrites(ports: PromotionPorts, { create, releases }: PromotionPlan): readonly Writing[] {
  const changed = releases.filter(
    ({ release, status }) => release === create || !isDeepStrictEqual(release.status, status),
  );
  return changed.map((planned) => ({
    key: planned.release.metadata.name,
    write: async () => {
      if (planned.release === create) await ports.hub.createRelease(create);
      await ports.hub.applyReleaseStatus({ ...planned.release, status: planned.status });
      announceRelease(ports, planned);
    },
  }));
}

function intentWrite(ports: PromotionPorts, plan: ClusterPlan, { head, world }: Observation): Writing {
  const { cluster } = plan.member.view;
  const status = clusterStatus(plan, head.unread, world.now);
  return {
    key: plan.name,
    write: async () => {
      if (isDeepStrictEqual(ownStatus(cluster.status), status)) return;
      await ports.hub.applyClusterStatus({ ...cluster, status });
      announceCluster(ports, plan);
    },
  };
}

function restWrites(
  { hub }: PromotionPorts,
  pipeline: Pipeline,
  { status, drop }: PromotionPlan,
): readonly Writing[] {
  return [
    {
      key: pipeline.metadata.name,
      write: async () => {
        if (isDeepStrictEqual(pipeline.status, status)) return;
        await hub.applyPipelineStatus({ ...pipeline, status });
      },
    },
    ...drop.map((release) => ({ key: release.metadata.name, write: () => hub.deleteRelease(release) })),
  ];
}

function forgetCounted(desk: CheckDesk, { name, sync }: ClusterPlan): void {
  for (const gate of sync.soak?.gates ?? []) {
    if (gate.ranAt !== undefined) desk.counted(name, gate.name, new Date(gate.ranAt));
  }
}

interface Failure {
  readonly key: string;
  readonly error: unknown;
}

/** One failure does not stop the others; all of them are reported. */
async function attempt(writings: readonly Writing[]): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const { key, write } of writings) {
    try {
      await write();
    } catch (error) {
      failures.push({ key, error });
    }
  }
  return failures;
}

/**
 * Exports the trace of each Release that has ended, from the objects of the hub, while this process holds the Lease of its Pipeline. Nothing else
 * of sync waits for the collector.
 */
import type { Cluster, Release } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { Log } from '../../kube/process/log.ts';
import type { TraceExporter } from '../../observability/trace/otlp/exporter.ts';
import { endedChange, releasesOfChange } from '../../observability/trace/sources/change.ts';
import { type EndedTrace, isExportable } from '../../observability/trace/sources/ended.ts';
import type { Clock } from '../../os/clock.ts';

export interface ChangeTracesOptions {
  readonly stores: { readonly clusters: Pick<Store<Cluster>, 'list'>; readonly releases: Store<Release> };
  readonly exporter: TraceExporter;
  /** Whether this process promotes the Pipeline. */
  readonly isHeld: (pipeline: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ChangeTraces {
  close(): Promise<void>;
}

const GATHER_MS = 500;
/** Promotion records the end of a Release before that of its last clusters. */
const SETTLE_MS = 10_000;
/** A Lease that is acquired triggers nothing. */
const IDLE_MS = 60_000;

export function createChangeTraces({
  stores,
  exporter,
  isHeld,
  clock,
  log,
}: ChangeTracesOptions): ChangeTraces {
  const closing = new AbortController();
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });
  const changed = ({ status }: Release): void => {
    if (status?.finishedAt !== undefined) loop.trigger();
  };
  const unsubscribe = stores.releases.subscribe({ added: changed, updated: changed });

  return {
    async close() {
      unsubscribe();
      closing.abort(new Error('sync is stopping'));
      await loop.close();
    },
  };

  async function round(): Promise<number> {
    const recent = stores.releases.list().flatMap(recentRelease);
    const ages = recent.map(({ ageMs }) => ageMs).filter((ageMs) => ageMs < SETTLE_MS);
    const waits = ages.map((ageMs) => SETTLE_MS - Math.max(0, ageMs));
    try {
      const settled = recent.flatMap(({ release, ageMs }) => (ageMs < SETTLE_MS ? [] : tracesOf(release)));
      const retryMs = await exporter.export(settled, closing.signal);
      return Math.min(...waits, retryMs ?? IDLE_MS);
    } catch (error) {
      if (!closing.signal.aborted) log.warn('traces of releases not exported', { error });
      return IDLE_MS;
    }
  }

  /** A Release that changes no cluster has no trace. */
  function recentRelease(release: Release): readonly { readonly release: Release; readonly ageMs: number }[] {
    const { spec, status } = release;
    const endedAt = status?.finishedAt;
    const now = clock.now();
    if (endedAt === undefined || spec.plan.changed === 0 || !isExportable({ endedAt }, now)) return [];
    return isHeld(spec.pipeline) ? [{ release, ageMs: now.getTime() - Date.parse(endedAt) }] : [];
  }

  function tracesOf(release: Release): readonly EndedTrace[] {
    const releases = releasesOfChange(release, stores.releases.list());
    return endedChange(release, { releases, clusters: stores.clusters.list() });
  }
}

/** Decides the columns of the stages: those of one Pipeline together, in the order of promotion, with those that have no clusters. Pure. */
import type { CommitView } from '../../../views/release/commit-view.ts';
import type { StagePlace } from '../fleet.ts';

/** `releases`: the newest first. `clusters`: the stages of the clusters, in their order. */
export function stageColumns(
  releases: readonly Pick<CommitView, 'pipeline' | 'stages'>[],
  clusters: readonly StagePlace[],
): readonly StagePlace[] {
  const pipelines = new Set([...clusters, ...releases].map(({ pipeline }) => pipeline));
  return [...pipelines].flatMap((pipeline) => {
    const orders = [
      ...releases
        .filter((each) => each.pipeline === pipeline)
        .map(({ stages }) => stages.map(({ name }) => name)),
      clusters.filter((each) => each.pipeline === pipeline).map(({ stage }) => stage),
    ];
    return mergeOrders(orders).map((stage) => ({ pipeline, stage }));
  });
}

/** The first order counts most. A name that it does not have follows the one before it in its own order. */
function mergeOrders(orders: readonly (readonly string[])[]): readonly string[] {
  return orders.reduce<readonly string[]>((merged, order) => {
    const result = [...merged];
    let place = 0;
    for (const name of order) {
      const found = result.indexOf(name);
      if (found < 0) result.splice(place, 0, name);
      place = (found < 0 ? place : found) + 1;
    }
    return result;
  }, []);
}

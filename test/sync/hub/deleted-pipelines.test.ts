import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline } from '../../../src/api/generated/types.ts';
import { createDeletedPipelines, type DeletedPipelines } from '../../../src/sync/hub/deleted-pipelines.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { clusterOf } from '../promote/builders.ts';

const FLEET = { metadata: { name: 'fleet' } } as Pipeline;

interface Bed {
  readonly recorder: DeletedPipelines;
  /** The reasons that were written. */
  readonly written: (string | undefined)[];
  readonly log: ReturnType<typeof memoryLog>;
  /** Runs a round. */
  readonly round: () => Promise<void>;
}

interface BedOptions {
  readonly pipelines?: readonly Pipeline[];
  readonly isHeld?: boolean;
  readonly failures?: number;
}

function bed({ pipelines = [], isHeld = true, failures = 0 }: BedOptions): Bed {
  const [clock, log, written] = [virtualClock(), memoryLog(), [] as (string | undefined)[]];
  const assigned = { pipeline: 'fleet', mode: 'Apply' } as const;
  let cluster: Cluster = { ...clusterOf(), status: { conditions: [], assigned } };
  let left = failures;
  const recorder = createDeletedPipelines({
    hub: {
      pipelines: async () => pipelines,
      clusters: async () => [cluster],
      applyClusterStatus: async (changed) => {
        left -= 1;
        if (left >= 0) throw new Error('conflict');
        cluster = changed;
        written.push(changed.status?.waiting?.reason);
      },
    },
    clusters: { isHeld: () => isHeld, fence: () => undefined },
    clock,
    log,
  });
  return { recorder, written, log, round: () => clock.advance(15_000) };
}

describe('clusters of a hub without a Pipeline', () => {
  it.each([
    ['writes what happened once', {}, ['PipelineDeleted']],
    ['writes again what could not be written', { failures: 1 }, ['PipelineDeleted']],
    ['leaves the status to promotion while there is a Pipeline', { pipelines: [FLEET] }, []],
    ['leaves the status to the process that holds the Lease of the cluster', { isHeld: false }, []],
  ])('FST-6 records what happened, and only then: %s', async (_, options, expected) => {
    const { recorder, written, log, round } = bed(options);
    for (let rounds = 0; rounds < 3; rounds += 1) await round();
    await recorder.close();
    expect(written).toEqual(expected);
    expect(log.lines).toHaveLength('failures' in options ? 1 : 0);
  });
});

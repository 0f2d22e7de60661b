/** The controller of jobs crashes at each of its writes, of each kind of ladder; the machine and its agent go on, and another process takes over. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type {
  JobStep,
  Machine,
  RemedyOperationJob,
  RemedyOperationJobSpec,
} from '../../../src/api/generated/types.ts';
import { isCordoned, taintKeys } from '../../../src/api/machine/node-state.ts';
import type { BedCrash } from '../../support/controller/bed.ts';
import { LONG, stride } from '../../support/sweep-size.ts';
import { createJobBed, type JobBed, type SimulatedHost } from './job-bed.ts';
import { HEALTHY, jobStep, REBOOT_PLAN } from './jobs.ts';

interface Ladder {
  readonly plan: readonly JobStep[];
  readonly onVerified?: readonly JobStep[];
  /** What the agent has done at the end, whatever crashed. */
  readonly acts: readonly string[];
  readonly outcome: string;
  /** Of the Node: cordon, taints. */
  readonly node: string;
  readonly settled: string;
  readonly host?: Partial<SimulatedHost>;
  readonly seconds?: number;
}

const DISK = { key: 'kubenode.dev/disk' };
const BACK = 'open, no taints';
const KEPT = 'cordoned, no taints';

const LADDERS: Readonly<Record<string, Ladder>> = {
  reboot: {
    plan: REBOOT_PLAN,
    onVerified: [jobStep('v1', 'Uncordon')],
    acts: ['CollectDiagnostics', 'Reboot'],
    outcome: 'Succeeded',
    node: BACK,
    settled: 'g-7-1 Succeeded',
  },
  'reboot that the agent does not know of': {
    plan: REBOOT_PLAN,
    acts: ['CollectDiagnostics', 'Reboot'],
    outcome: 'Ambiguous',
    node: KEPT,
    settled: 'g-7-1 Ambiguous',
    host: { result: (step) => (step === 'Reboot' ? 'Ambiguous' : 'Succeeded') },
  },
  'reboot that fails and is tried once more': {
    plan: [jobStep('s1', 'Cordon'), jobStep('s2', 'Reboot', { retries: 1, onFailure: 'NextRung' })],
    acts: ['Reboot', 'Reboot'],
    outcome: 'Permanent',
    node: KEPT,
    settled: 'g-7-1 Failed',
    host: { result: () => 'Failed' },
  },
  'restart without an effect': {
    plan: [jobStep('s1', 'RestartService', { with: { service: 'kubelet' } })],
    acts: ['RestartService'],
    outcome: 'Transient',
    node: BACK,
    settled: 'g-7-1 Failed',
  },
  'restart whose answer comes when its release has ended': {
    plan: [jobStep('s1', 'RestartService', { with: { service: 'kubelet' } })],
    acts: ['RestartService'],
    outcome: 'Transient',
    node: BACK,
    settled: 'g-7-1 Failed',
    host: { reportDelayMs: 70_000 },
    seconds: 100,
  },
  taint: {
    plan: [jobStep('s1', 'Taint', { with: DISK }), jobStep('s2', 'Reboot')],
    onVerified: [jobStep('v1', 'Untaint', { with: DISK })],
    acts: ['Reboot'],
    outcome: 'Succeeded',
    node: BACK,
    settled: 'g-7-1 Succeeded',
  },
  person: {
    plan: [jobStep('s1', 'Cordon'), jobStep('s2', 'HandOff')],
    acts: [],
    outcome: 'HandedOff',
    node: KEPT,
    settled: 'g-7-1 Succeeded',
  },
};

const VERIFY = { holdSeconds: 2, timeoutSeconds: 8, target: 'Node', conditions: HEALTHY } as const;
/** Enough for all steps, some retries with back-off, and the verification. */
const SECONDS = 40;
/** A job has more writes than this, so that the sweep has crashed at some. */
const LEAST_WRITES = 6;

async function run(
  ladder: Ladder,
  crash: BedCrash,
): Promise<{ readonly bed: JobBed; readonly crashed: boolean }> {
  const bed = createJobBed();
  Object.assign(bed.host, ladder.host);
  const isLast = ladder.outcome === 'HandedOff';
  const spec: Partial<RemedyOperationJobSpec> = {
    plan: ladder.plan,
    onVerified: ladder.onVerified ?? [],
    ...(isLast ? {} : { verify: VERIFY as unknown as NonNullable<RemedyOperationJobSpec['verify']> }),
  };
  bed.createJob(spec, isLast ? ['verify'] : []);
  const first = await bed.start(crash);
  const { seconds = SECONDS } = ladder;
  await bed.live(seconds);
  if (!first.crashed) return { bed, crashed: false };
  await first.kill();
  await bed.start();
  await bed.live(seconds);
  return { bed, crashed: true };
}

function nodeOf(bed: JobBed): string {
  const node = bed.node();
  return `${isCordoned(node) ? 'cordoned' : 'open'}, ${taintKeys(node).join() || 'no taints'}`;
}

function endOf(bed: JobBed): object {
  const job = bed.job() as RemedyOperationJob;
  return {
    acts: bed.host.acts,
    outcome: job.status?.outcome?.class,
    node: nodeOf(bed),
    // A crash between the settlement and its record settles once more, which changes nothing.
    settled: [...new Set(bed.host.settled)],
    finalizers: job.metadata.finalizers,
    isOpen: hasOpenStep(job),
    repairs: bed.get<Machine>(MACHINES, 'm')?.status?.repairs?.total,
  };
}

function hasOpenStep({ status }: RemedyOperationJob): boolean {
  return (status?.steps ?? []).some(({ state }) => state === 'Intended' || state === 'Running');
}

function expectedEnd({ acts, outcome, node, settled }: Ladder): object {
  return { acts, outcome, node, settled: [settled], finalizers: [], isOpen: false, repairs: 1 };
}

describe('a job whose controller crashes at any of its writes', () => {
  it.each(Object.entries(LADDERS))(
    'R30 R31 ends as without the crash, with no further act: %s',
    async (_, ladder) => {
      const { first, step } = stride(3);
      let writes = 0;
      const counts: number[] = [];
      for (let n = first; ; n += step) {
        for (const when of ['before', 'after'] as const) {
          // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
          const { bed, crashed } = await run(ladder, { n, when });
          expect([`${when} write ${n}`, endOf(bed)]).toEqual([`${when} write ${n}`, expectedEnd(ladder)]);
          if (crashed) writes = n;
          counts.push(bed.host.counted.length);
        }
        if (writes < n) break;
      }
      expect(writes).toBeGreaterThan(LEAST_WRITES);
      // Only a crash between the record of the settlement and its answer hides the job from the metrics.
      expect(counts.filter((count) => count !== 1)).toBeOneOf(LONG ? [[0]] : [[0], []]);
    },
  );
});

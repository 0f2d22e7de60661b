/** `kubenode sync` on a fleet of 5,000 objects: first apply, memory, idle cost, drift, the time from a push to the first write, and a storm of commits. */

import { createSystemClock } from '../src/os/system-clock.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { type Call, isWrite } from './sync/audit.ts';
import { type BareLoop, bareRate } from './sync/bare.ts';
import { type Bed, openBed } from './sync/bed.ts';
import { type FirstApply, firstApply } from './sync/first-apply.ts';
import { correctDrifts, pushChanges } from './sync/small-changes.ts';
import { commitStorm, type Storm } from './sync/storm.ts';
import { quiet } from './sync/wait.ts';

const OBJECTS = 5000;
/** As many requests as sync has in flight. */
const CONCURRENCY = 8;
/** Six contacts with the cluster or seven, and a part of the lifetime of a watch. */
const IDLE_SECONDS = 300;
const DRIFTS = 100;
const PUSHES = 20;
/** Twenty commits within a minute. */
const STORM = { objects: OBJECTS, commits: 20, everyMs: 3000 };

export const bench: Bench = {
  name: 'sync',
  what: 'kubenode sync with 5,000 objects in one cluster, by the audit log of its API server: first apply against a bare keep-alive loop, memory, idle requests, drift, push to first write, a storm of commits',
  run,
};

async function run(): Promise<BenchResult> {
  const bed = await openBed();
  try {
    const before = await bare(bed, 'sync', 'before');
    const first = await firstApply(bed, OBJECTS);
    const after = await bare(bed, 'sync', 'after');
    const admin = await bare(bed, 'admin', 'admin');
    const idle = await idleCalls(bed);
    const driftSeconds = await correctDrifts(bed, OBJECTS, DRIFTS);
    const pushSeconds = await pushChanges(bed, { objects: OBJECTS, times: PUSHES });
    const storm = await commitStorm(bed, STORM);
    const { residentMiB } = await bed.usage();
    return resultOf({
      barePerSecond: (before.perSecond + after.perSecond) / 2,
      bareCpuMsPerObject: (before.cpuMsPerObject + after.cpuMsPerObject) / 2,
      adminPerSecond: admin.perSecond,
      first,
      idle,
      driftSeconds,
      pushSeconds,
      storm,
      residentMiB,
    });
  } finally {
    await bed.close();
  }
}

interface BareRun {
  readonly perSecond: number;
  /** The CPU time of this process, which runs the loop: a busy machine changes it less than the rate. */
  readonly cpuMsPerObject: number;
}

async function bare({ server }: Bed, as: BareLoop['as'], namespace: string): Promise<BareRun> {
  const start = process.cpuUsage();
  const perSecond = await bareRate(server, { as, namespace, objects: OBJECTS, concurrency: CONCURRENCY });
  const { user, system } = process.cpuUsage(start);
  return { perSecond, cpuMsPerObject: (user + system) / 1000 / OBJECTS };
}

async function idleCalls(bed: Bed): Promise<readonly Call[]> {
  const { length: before } = await quiet(bed);
  await createSystemClock().sleep(IDLE_SECONDS * 1000);
  return (await bed.audit.calls()).slice(before);
}

interface Measurements {
  readonly barePerSecond: number;
  readonly bareCpuMsPerObject: number;
  readonly adminPerSecond: number;
  readonly first: FirstApply;
  readonly idle: readonly Call[];
  readonly driftSeconds: readonly number[];
  readonly pushSeconds: readonly number[];
  readonly storm: Storm;
  /** After the storm. */
  readonly residentMiB: number;
}

function resultOf(measurements: Measurements): BenchResult {
  const { barePerSecond, bareCpuMsPerObject, adminPerSecond, first, idle, storm, residentMiB } = measurements;
  const { driftSeconds, pushSeconds } = measurements;
  const requestsPerObjectHour = (idle.length / IDLE_SECONDS / OBJECTS) * 3600;
  const idleWrites = idle.filter(isWrite).length;
  const [driftP99, pushP95] = [percentile(driftSeconds, 0.99), percentile(pushSeconds, 0.95)];
  const ratio = first.objectsPerSecond / barePerSecond;
  return {
    measured: {
      appliesPerSecond: first.objectsPerSecond,
      firstCpuMsPerObject: first.cpuMsPerObject,
      firstPeakMiB: first.peakMiB,
      stormPeakMiB: storm.peakMiB,
      stormSeconds: storm.seconds,
      residentMiB,
      idleWrites,
      idleRequestsPerObjectHour: requestsPerObjectHour,
      driftP50Seconds: percentile(driftSeconds, 0.5),
      driftP99Seconds: driftP99,
      pushP50Seconds: percentile(pushSeconds, 0.5),
      pushP95Seconds: pushP95,
    },
    baseline: {
      appliesPerSecond: barePerSecond,
      cpuMsPerObject: bareCpuMsPerObject,
      plainAppliesByAdminPerSecond: adminPerSecond,
    },
    ratios: { appliesPerSecond: ratio, toPlainAppliesByAdmin: first.objectsPerSecond / adminPerSecond },
    gates: [
      { what: 'objects per second of the first apply, relative to a bare loop', value: ratio, atLeast: 0.9 },
      { what: 'MiB resident at the peak of the first apply', value: first.peakMiB, atMost: 200 },
      { what: 'MiB resident at the peak of the storm of commits', value: storm.peakMiB, atMost: 256 },
      { what: 'writes while in sync', value: idleWrites, atMost: 0 },
      { what: 'requests per object and hour while in sync', value: requestsPerObjectHour, atMost: 0.02 },
      { what: 'seconds from a manual change to the write that corrects it, p99', value: driftP99, atMost: 2 },
      { what: 'seconds from a push to the first write, p95', value: pushP95, atMost: 5 },
    ],
    setting: {
      objects: OBJECTS,
      concurrency: CONCURRENCY,
      idleSeconds: IDLE_SECONDS,
      drifts: DRIFTS,
      pushes: PUSHES,
      stormCommits: STORM.commits,
      stormSeconds: (STORM.commits * STORM.everyMs) / 1000,
      pollSeconds: 1,
    },
  };
}

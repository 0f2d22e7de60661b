/** One repair: lines in the log of a machine, and when a watch shows what comes of them. */
import { appendFile } from 'node:fs/promises';
import type { RemedyOperationJob } from '../../src/api/generated/types.ts';
import { isCordoned } from '../../src/api/machine/node-state.ts';
import { listAt, textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { momentOf, type Observed } from './observe.ts';

export interface RepairTimes {
  /** From the lines until the Node has the condition. */
  readonly conditionMs: number;
  /** Until the first step of a job is done. */
  readonly firstStepMs: number;
  /** Until the facts have shown for long enough that the node is well. */
  readonly verifiedMs: number;
  /** Until the job has succeeded, and the node is in service again. */
  readonly healedMs: number;
}

const TYPE = 'FrequentTaskHung';
/** As many as the detector of the demo takes for a kernel that hangs. */
const LINES = 3;

export async function measureRepair(observed: Observed, node: string, file: string): Promise<RepairTimes> {
  const { nodes, jobs } = observed;
  const before = new Set(jobs.store.list().map(({ metadata }) => metadata.uid));
  const isNew = ({ metadata, spec }: RemedyOperationJob): boolean =>
    spec.machine.name === node && !before.has(metadata.uid);
  const isNode = ({ metadata }: KubeObject): boolean => metadata.name === node;
  const startedMs = performance.now();
  await appendFile(file, hungLine().repeat(LINES));
  const [conditionMs, firstStepMs, verifiedMs, endedMs] = await Promise.all([
    momentOf(nodes, (each) => isNode(each) && statusOf(each) === 'True', `${node}: condition`),
    momentOf(jobs, (each) => isNew(each) && hasDoneStep(each), `${node}: first step`),
    momentOf(
      jobs,
      (each) => isNew(each) && each.status?.timeline?.verifiedAt !== undefined,
      `${node}: verified`,
    ),
    momentOf(jobs, (each) => isNew(each) && hasSucceeded(each), `${node}: healed`),
  ]);
  const openMs = await momentOf(nodes, (each) => isNode(each) && !isCordoned(each), `${node}: in service`);
  await settled(observed, isNew);
  return {
    conditionMs: conditionMs - startedMs,
    firstStepMs: firstStepMs - startedMs,
    verifiedMs: verifiedMs - startedMs,
    // The Node is uncordoned before the outcome is written.
    healedMs: Math.max(endedMs, openMs) - startedMs,
  };
}

export function statusOf(node: KubeObject): string | undefined {
  const found = listAt(node, 'status', 'conditions').find((each) => textAt(each, 'type') === TYPE);
  return textAt(found, 'status');
}

function hungLine(): string {
  return `${createSystemClock().now().toISOString()} task web:1 blocked for more than 120 seconds.\n`;
}

function hasDoneStep({ status }: RemedyOperationJob): boolean {
  return status?.steps?.some(({ state }) => state === 'Succeeded') ?? false;
}

/** Throws if it ended in another way. */
function hasSucceeded({ metadata, status }: RemedyOperationJob): boolean {
  const { class: kind, message } = status?.outcome ?? {};
  if (kind !== undefined && kind !== 'Succeeded') throw new Error(`${metadata.name}: ${kind}: ${message}`);
  return kind === 'Succeeded';
}

async function settled({ jobs }: Observed, isNew: (job: RemedyOperationJob) => boolean): Promise<void> {
  const isSettled = (job: RemedyOperationJob): boolean =>
    isNew(job) && job.status?.timeline?.settledAt !== undefined;
  await momentOf(jobs, isSettled, 'settled');
}
